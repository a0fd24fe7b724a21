import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { takenOver, takeOvers } from "./takeover.ts";

const RESOURCE: JsonObject = { metadata: { name: "my", uid: "u-1" } };
const OWNED = { "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u-1"}': {} } } };

const entry = (manager: string, operation: string, fieldsV1: JsonObject, more: JsonObject = {}): JsonObject => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsType: "FieldsV1",
  fieldsV1,
  ...more,
});
const live = (kind: string, ...managedFields: ReadonlyArray<JsonObject>): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "my", namespace: "n", managedFields: [...managedFields] },
});
const MANIFEST = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "my", namespace: "n" } } as Manifest;

Deno.test("takeOvers() recognizes the former operator by its owner reference, or by the name of the resource", () => {
  const managers = (...entries: ReadonlyArray<JsonObject>) =>
    takeOvers(MANIFEST, live("Deployment", ...entries), RESOURCE).flatMap((step) =>
      step._tag === "TakeOver" ? step.managers : []
    );
  deepStrictEqual(managers(entry("manager", "Update", OWNED), entry("my", "Apply", {})), ["manager", "my"]);
  deepStrictEqual(
    managers(
      entry("kubectl", "Update", { "f:spec": {} }),
      entry("kube-controller-manager", "Update", OWNED, { subresource: "status" }),
      entry("llama-stack-operator", "Apply", OWNED),
      entry("other", "Update", { "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u-2"}': {} } } }),
    ),
    [],
  );
  deepStrictEqual(takeOvers(MANIFEST, undefined, RESOURCE), []);
});

Deno.test("takenOver() merges all entries of the former operator into one, and leaves the others unchanged", () => {
  const kubectl = entry("kubectl", "Update", { "f:spec": { "f:paused": {} } });
  const [first, ours, ...more] = takenOver(
    live(
      "Deployment",
      entry("my", "Apply", { "f:spec": { "f:template": { "f:a": {} } } }),
      kubectl,
      entry("manager", "Update", { ...OWNED, "f:spec": { "f:replicas": {}, "f:template": { "f:b": {} } } }),
    ),
    RESOURCE,
  ) as ReadonlyArray<JsonObject>;
  deepStrictEqual([first, more], [kubectl, []]);
  deepStrictEqual([ours?.manager, ours?.operation], ["llama-stack-operator", "Apply"]);
  // The number of pods is left out: an autoscaler may have it.
  deepStrictEqual(ours?.fieldsV1, { ...OWNED, "f:spec": { "f:template": { "f:a": {}, "f:b": {} } } });
});

Deno.test("takenOver() leaves the spec of claims and Services to the API server, which does not allow removals", () => {
  for (const kind of ["PersistentVolumeClaim", "Service"]) {
    const [ours] = takenOver(live(kind, entry("manager", "Update", { ...OWNED, "f:spec": { "f:x": {} } })), RESOURCE);
    strictEqual(JSON.stringify((ours as JsonObject).fieldsV1), JSON.stringify(OWNED));
  }
});
