import { strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../data/json.ts";
import { inV1alpha1Paths, wordsFor } from "./v1alpha1_paths.ts";

for (
  const [now, old] of [
    ["spec.overrideConfig: ConfigMap ignored", "spec.server.userConfig: ConfigMap ignored"],
    ["set spec.overrideConfig.configMapName", "set spec.server.userConfig.configMapName"],
    ["name it in spec.workload.storage.existingClaim.", "name it in spec.workload.storage.existingClaim (v1alpha2)."],
    ["spec.workload.storage.size: too small", "spec.server.storage.size: too small"],
    [
      'set spec.providers.inference[0].settings["a.b"]: x',
      'set spec.providers.inference[0].settings["a.b"] (v1alpha2): x',
    ],
    ["spec.distribution.serverVersion: not supported", undefined],
    ["spec.server.workers is read, spec.template.spec is not ours", undefined],
  ] as const
) {
  Deno.test(`inV1alpha1Paths() says to an author of v1alpha1: ${old ?? now}`, () => {
    strictEqual(inV1alpha1Paths(now), old ?? now);
    strictEqual(inV1alpha1Paths(inV1alpha1Paths(now)), old ?? now);
  });
}

Deno.test("wordsFor() uses the paths of the version in which the spec was written last", () => {
  const entry = (version: string, time: string, more: JsonObject = {}): JsonObject => ({
    manager: "kubectl",
    apiVersion: `llamastack.io/${version}`,
    time,
    fieldsV1: { "f:spec": {} },
    ...more,
  });
  const said = (...managedFields: ReadonlyArray<JsonObject>) =>
    wordsFor({ metadata: { managedFields: [...managedFields] } })("spec.workload.workers");
  strictEqual(said(), "spec.workload.workers");
  strictEqual(said(entry("v1alpha1", "2026-01-01T00:00:00Z")), "spec.server.workers");
  strictEqual(
    said(entry("v1alpha1", "2026-01-01T00:00:00Z"), entry("v1alpha2", "2026-01-02T00:00:00Z")),
    "spec.workload.workers",
  );
  const status = entry("v1alpha2", "2026-01-03T00:00:00Z", { subresource: "status" });
  strictEqual(said(entry("v1alpha1", "2026-01-01T00:00:00Z"), status), "spec.server.workers");
});
