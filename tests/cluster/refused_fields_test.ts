/** What the API server rejects of the objects of a resource, told by the field of the resource that it comes from. */
import * as Result from "effect/Result";
import { deepStrictEqual } from "node:assert/strict";
import { decodeResource } from "../../core/api/decode.ts";
import { derive } from "../../core/config/derive.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { refusedFields } from "../../core/report/refused_fields.ts";
import { listed, objectsOf } from "../../core/resources/objects.ts";
import { blueprintOf, configContentOf, NOWHERE } from "../../core/resources/of_resource.ts";
import { UNREAD_PARTS } from "../../core/resources/connection_secrets.ts";
import { keyOf } from "../../core/snapshot/object_key.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest, SURROUNDINGS } from "../given.ts";

const overrides = (own: JsonObject): JsonObject => ({ workload: { overrides: own } });
const affinity = (term: JsonObject): JsonObject =>
  overrides({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
  });
const OVERRIDES = "spec.workload.overrides";

const CASES: ReadonlyArray<readonly [JsonObject, ...ReadonlyArray<string>]> = [
  [overrides({ env: [{ name: "A" }, { name: "B", valueFrom: {} }] }), `${OVERRIDES}.env[1].valueFrom`],
  [overrides({ env: [{ name: "A=B" }] }), `${OVERRIDES}.env[0].name`],
  [overrides({ envFrom: [{ prefix: "a=", secretRef: { name: "s" } }] }), `${OVERRIDES}.envFrom[0].prefix`],
  [
    overrides({ volumes: [{ name: "v", emptyDir: { sizeLimit: "-1" } }] }),
    `${OVERRIDES}.volumes[0].emptyDir.sizeLimit`,
  ],
  [overrides({ volumeMounts: [{ name: "none", mountPath: "/v" }] }), `${OVERRIDES}.volumeMounts[0].name`],
  [
    affinity({ matchExpressions: [{ key: "a b", operator: "Exists" }] }),
    [
      `${OVERRIDES}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution`,
      "nodeSelectorTerms[0].matchExpressions[0].key",
    ].join("."),
  ],
  [overrides({ tolerations: [{ operator: "Equal", value: "b" }] }), `${OVERRIDES}.tolerations[0].operator`],
  [overrides({ nodeSelector: { gpu: "a b" } }), `${OVERRIDES}.nodeSelector`],
  [overrides({ securityContext: { fsGroup: -1 } }), `${OVERRIDES}.securityContext.fsGroup`],
  [overrides({ podLabels: { a: "x y" } }), `${OVERRIDES}.podLabels`],
  [overrides({ podAnnotations: { "a b": "" } }), `${OVERRIDES}.podAnnotations`],
  [overrides({ priorityClassName: "X Y" }), `${OVERRIDES}.priorityClassName`],
  [overrides({ resourceClaims: [{ name: "a" }] }), `${OVERRIDES}.resourceClaims[0]`],
  [
    { workload: { resources: { limits: { "nvidia.com/gpu": "1500m" } } } },
    [
      'spec.workload.resources.limits["nvidia.com/gpu"]',
    ].join(),
  ],
  [{
    workload: { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }] },
  }, "spec.workload.topologySpreadConstraints[0].maxSkew"],
  [
    { workload: { podDisruptionBudget: { maxUnavailable: "150%" } } },
    "spec.workload.podDisruptionBudget.maxUnavailable",
  ],
  [{ workload: { storage: { storageClassName: "Foo Bar" } } }, "spec.workload.storage.storageClassName"],
  [{ networking: { expose: { hostname: "https://llama.example.com/" } } }, "spec.networking.expose.hostname"],
  [{ networking: { expose: { ingressClassName: "X Y" } } }, "spec.networking.expose.ingressClassName"],
  [{ networking: { expose: { annotations: { "bad key": "x" } } } }, "spec.networking.expose.annotations"],
  [{ networking: { serviceAnnotations: { "bad key": "x" } } }, "spec.networking.serviceAnnotations"],
];

/** Written as the operator writes them. */
const told = async (cluster: ControlPlane, resource: JsonObject): Promise<ReadonlyArray<string>> => {
  const decoded = Result.getOrThrow(decodeResource(resource, "strict"));
  const derived = Result.getOrThrow(derive(decoded, SURROUNDINGS));
  const contents = { config: configContentOf(derived), connections: UNREAD_PARTS, caBundlePem: undefined };
  const found: Array<string> = [];
  for (const object of listed(objectsOf(blueprintOf(decoded, derived, NOWHERE), contents))) {
    const answer = await cluster.fetch(`${pathOf(keyOf(object))}?fieldManager=test&force=true&dryRun=All`, {
      method: "PATCH",
      headers: { "content-type": "application/apply-patch+yaml" },
      body: JSON.stringify(object),
    });
    const status = await answer.json() as JsonObject;
    if (answer.ok) continue;
    const fields = listAt(status, "details", "causes").flatMap((cause) => stringAt(cause, "field") ?? []);
    found.push(...refusedFields(object, objectAt(resource, "spec"), fields));
  }
  return found;
};

Deno.test("the field of the resource is named for each field that a real API server rejects", async () => {
  const cluster = await startControlPlane();
  try {
    const found = await Promise.all(CASES.map(([spec]) => told(cluster, manifest(spec))));
    deepStrictEqual(found, CASES.map(([, ...fields]) => fields));
  } finally {
    await cluster.stop();
  }
});
