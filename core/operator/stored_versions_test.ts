import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { onlyStorageVersion, versionsLeft } from "./stored_versions.ts";

const crd = (...storedVersions: ReadonlyArray<string>): JsonObject => ({
  spec: { versions: [{ name: "v1alpha1", storage: false }, { name: "v1alpha2", storage: true }] },
  status: { storedVersions: [...storedVersions] },
});

Deno.test("versionsLeft() names the former versions in which resources may still be stored", () => {
  deepStrictEqual(versionsLeft(crd("v1alpha1", "v1alpha2")), ["v1alpha1"]);
  deepStrictEqual(versionsLeft(crd("v1alpha1")), ["v1alpha1"]);
  deepStrictEqual(versionsLeft(crd("v1alpha2")), []);
});

Deno.test("onlyStorageVersion() leaves the version that is written", () => {
  deepStrictEqual(onlyStorageVersion(crd("v1alpha1", "v1alpha2")), crd("v1alpha2"));
});
