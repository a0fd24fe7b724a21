import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { packagesOf, sbomText } from "./sbom.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("packagesOf() lists what the program contains, with versions and licenses, and nothing of tools or types", async () => {
  const packages = await packagesOf(ROOT);
  const names = packages.map(({ name }) => name);
  for (const name of ["effect", "js-yaml", "@peculiar/x509"]) ok(names.includes(name), name);
  for (const name of ["@kubernetes/client-node", "fast-check", "@cyclonedx/cyclonedx-library"]) {
    ok(!names.includes(name), name);
  }
  deepStrictEqual(packages.filter(({ license }) => license === undefined), []);
});

Deno.test("sbomText() is the same for the same release, and names packages and base images", () => {
  const contents = {
    version: "1.2.3",
    createdAt: "2026-11-21T00:00:00Z",
    packages: [{ name: "@a/b", version: "1.0.0", license: "MIT" }],
    images: [`gcr.io/distroless/cc-debian13:nonroot@sha256:${"a".repeat(64)}`],
  };
  const text = sbomText(contents);
  strictEqual(sbomText(contents), text);
  const bom = JSON.parse(text);
  strictEqual(bom.metadata.component.version, "1.2.3");
  deepStrictEqual(bom.components.map(({ purl }: { purl: string }) => purl).toSorted(), [
    `pkg:generic/deno@${Deno.version.deno}`,
    "pkg:npm/%40a/b@1.0.0",
    `pkg:oci/cc-debian13@sha256%3A${"a".repeat(64)}?repository_url=gcr.io/distroless/cc-debian13`,
  ]);
});
