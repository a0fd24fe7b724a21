import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { converged, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const GENERATED: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const WITH_CA: JsonObject = { ...GENERATED, networking: { tls: { caBundle: { configMapName: "ca" } } } };

const withCa = (text: string, spec: JsonObject = WITH_CA): ClusterSnapshot =>
  snapshot(spec, { configMaps: new Map([["default/ca", { data: { "ca-bundle.crt": text }, binaryData: {} }]]) });
const conditionOf = ({ resource }: ClusterSnapshot, type: string) => {
  const found = listAt(resource, "status", "conditions").find((item) => stringAt(item, "type") === type);
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};
const deploymentOf = ({ live }: ClusterSnapshot) => live.get("Deployment/my");

Deno.test("a ConfigMap that running pods mount is made again while their template is held", () => {
  const before = converged(withCa("")).snapshot;
  // Changes the template of every pod, and nothing that the resource says.
  const held = converged({
    ...before,
    operator: { ...OPERATOR, platform: { ...OPERATOR.platform, openshift: true } },
  }).snapshot;
  strictEqual(conditionOf(held, "TemplateHeld"), "True OperatorChanged");
  const mounted = configMapsOf(templateSpec(deploymentOf(held)));
  deepStrictEqual(mounted.length, 2);
  for (const name of mounted) {
    const live = new Map(held.live);
    live.delete(`ConfigMap/${name}`);
    const deleted = {
      ...held,
      live,
      configs: held.configs.filter((map) => stringAt(map, "metadata", "name") !== name),
    };
    const { snapshot: again } = converged(deleted);
    ok(again.live.has(`ConfigMap/${name}`), name);
    strictEqual(JSON.stringify(deploymentOf(again)), JSON.stringify(deploymentOf(held)));
  }
  deepStrictEqual(planOf(held).steps, []);
});

Deno.test("a bundle without certificates is mounted empty with a warning, and refused where it is the only one", () => {
  const { snapshot: ready } = converged(withCa(" \n"));
  deepStrictEqual(ready.live.get("ConfigMap/my-ca-bundle")?.data, { "ca-bundle.crt": "" });
  const warnings = listAt(ready.resource, "status", "configGeneration", "warnings").map(String);
  ok(warnings.some((text) => text.includes("the ConfigMap contains no certificate")), warnings.join());
  const caBundle = { configMapName: "ca", exclusive: true };
  const { snapshot: alone } = converged(withCa("", { ...GENERATED, networking: { tls: { caBundle } } }));
  strictEqual(deploymentOf(alone), undefined);
  ok(conditionOf(alone, "ConfigGenerated").startsWith("False") || conditionOf(alone, "Ready").startsWith("False"));
});
