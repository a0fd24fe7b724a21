import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { converged, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
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

Deno.test("a bundle without certificates is mounted empty with a warning, and refused where it is the only one", () => {
  const { snapshot: ready } = converged(withCa(" \n"));
  const [bundle] = [...ready.live].flatMap(([key, one]) => key.startsWith("ConfigMap/my-ca-bundle-") ? [one] : []);
  deepStrictEqual(bundle?.data, { "ca-bundle.crt": "" });
  const warnings = listAt(ready.resource, "status", "configGeneration", "warnings").map(String);
  ok(warnings.some((text) => text.includes("the ConfigMap contains no certificate")), warnings.join());
  const caBundle = { configMapName: "ca", exclusive: true };
  const { snapshot: alone } = converged(withCa("", { ...GENERATED, networking: { tls: { caBundle } } }));
  strictEqual(deploymentOf(alone), undefined);
  ok(conditionOf(alone, "ConfigGenerated").startsWith("False") || conditionOf(alone, "Ready").startsWith("False"));
});

const withoutMap = (before: ClusterSnapshot, name: string): ClusterSnapshot => {
  const live = new Map(before.live);
  live.delete(`ConfigMap/${name}`);
  return { ...before, live, configs: before.configs.filter((map) => stringAt(map, "metadata", "name") !== name) };
};

/** All slots are taken by others. */
const QUEUED: Partial<ClusterSnapshot> = {
  rollingUpgrades: [0, 1, 2, 3, 4].map((index) => ({
    key: `n${index}/x`,
    queue: "starter",
    pins: "p",
    state: "rolling",
    slotEndsMs: Date.UTC(2026, 0, 1) + 60_000,
  })),
};

/** Under a release of the operator whose `starter` is this server. */
const released = (before: ClusterSnapshot, image: string): ClusterSnapshot => ({
  ...before,
  ...QUEUED,
  operator: {
    ...before.operator,
    version: "0.2.0",
    surroundings: {
      ...before.operator.surroundings,
      overrides: { settings: new Map([["starter", image]]), related: new Map() },
    },
  },
});

for (
  const [waits, reason, changed] of [
    ["held", "TemplateHeld: True OperatorChanged", (before: ClusterSnapshot) => ({
      // Changes the template of every pod, and nothing that the resource says.
      ...before,
      operator: { ...OPERATOR, platform: { ...OPERATOR.platform, openshift: true } },
    })],
    [
      "queued",
      "DeploymentUpdated: False UpgradeQueued",
      (before: ClusterSnapshot) => released(before, "mirror.example.com/ogxai/distribution-starter:1.5.0"),
    ],
  ] as const
) {
  Deno.test(`the config and the bundle that running pods mount are made again while their template is ${waits}`, () => {
    const spec = { ...WITH_CA, distribution: { name: "starter" } };
    const waiting = converged(changed(converged(withCa("", spec)).snapshot)).snapshot;
    const [type = ""] = reason.split(":");
    strictEqual(`${type}: ${conditionOf(waiting, type)}`, reason);
    const mounted = configMapsOf(templateSpec(deploymentOf(waiting)));
    deepStrictEqual(mounted.length, 2);
    for (const name of mounted) {
      const { snapshot: again } = converged(withoutMap(waiting, name));
      deepStrictEqual(again.live.get(`ConfigMap/${name}`), waiting.live.get(`ConfigMap/${name}`));
      strictEqual(JSON.stringify(deploymentOf(again)), JSON.stringify(deploymentOf(waiting)));
    }
    deepStrictEqual(planOf(waiting).steps, []);
  });
}

Deno.test("the config of pods that wait for the upgrade to another server is made again for the server that they run", () => {
  const before = converged(snapshot({ ...GENERATED, distribution: { name: "starter" } })).snapshot;
  const queued = converged(released(before, "mirror.example.com/ogxai/distribution-starter:1.5.0")).snapshot;
  strictEqual(conditionOf(queued, "DeploymentUpdated"), "False UpgradeQueued");
  const name = deploymentIn(queued)?.config ?? "";
  const again = converged(withoutMap(queued, name)).snapshot;
  strictEqual(
    JSON.stringify(again.live.get(`ConfigMap/${name}`)?.data),
    JSON.stringify(before.live.get(`ConfigMap/${name}`)?.data),
  );
  strictEqual(conditionOf(again, "DeploymentUpdated"), "False UpgradeQueued");
  deepStrictEqual(planOf(again).steps, []);
  // A large one is cached in the list alone.
  const live = new Map(queued.live);
  live.delete(`ConfigMap/${name}`);
  deepStrictEqual(planOf({ ...queued, live }).decision.steps, []);
});

Deno.test("a config that pods mount and nobody can make again is reported with advice that works", () => {
  const before = converged(snapshot(GENERATED)).snapshot;
  // Its content is that of another version of the operator.
  const name = "my-config-0a1b2c3d";
  const other = JSON.stringify(deploymentOf(before)).replaceAll(deploymentIn(before)?.config ?? "", name)
    .replace(/("llamastack.io\/template-digest":")[^"]*/, "$1other");
  const held = { ...before, live: new Map([...before.live, ["Deployment/my", JSON.parse(other) as JsonObject]]) };
  const told = converged(held).snapshot;
  strictEqual(conditionOf(told, "TemplateHeld"), "True OperatorChanged");
  deepStrictEqual(["DeploymentUpdated", "Ready", "Stalled"].map((type) => conditionOf(told, type)), [
    "False ConfigMissing",
    "False ConfigMissing",
    "True ConfigMissing",
  ]);
  const message = stringAt(listAt(told.resource, "status", "conditions")[0], "message") ?? "";
  ok(message.includes(name) && message.includes("llamastack.io/rollout: "), message);
  // It can be followed.
  const [, digest = ""] = /rollout: ([0-9a-f]{64})/.exec(message) ?? [];
  const asked = put(told.resource, ["metadata", "annotations", "llamastack.io/rollout"], digest) as JsonObject;
  strictEqual(conditionOf(converged({ ...told, resource: asked }).snapshot, "Ready"), "True Ready");
});
