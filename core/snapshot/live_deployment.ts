/** The Deployment of a resource as the API server reports it: what decisions and reports read of it. */
import { METRICS_PORT_NAME } from "../config/metrics.ts";
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { claimsOf, configMapsOf, imageOf, podTemplateOf, secretsOf, templateSpec } from "../resources/pod_spec.ts";
import { type ClusterSnapshot, liveKey } from "./cluster_snapshot.ts";
import { liveCondition } from "./live_condition.ts";
import { liveObject } from "./live_object.ts";
import { type LiveReplicaSet, revisionOf } from "./live_replica_set.ts";
import { recordIn, type RolloutRecord } from "./record.ts";
import { type ServerPort, serverPortIn } from "./server_port.ts";

export interface LiveDeployment {
  readonly name: string;
  readonly uid: string | undefined;
  /** Uid of its controller. */
  readonly controller: string | undefined;
  readonly record: RolloutRecord;
  readonly revision: number | undefined;
  readonly isRecreated: boolean;
  readonly progressDeadlineSeconds: number;
  /** How many pods it is to have, has, and has of its present template. */
  readonly wantedReplicas: number;
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
  /** Counts of an older generation are those of another template. */
  readonly isObserved: boolean;
  /** Reason of its condition Progressing. */
  readonly progress: string | undefined;
  /** Why its pods cannot be created. */
  readonly replicaFailure: string | undefined;
  /** Without what the API server adds. */
  readonly template: JsonObject;
  /** What an adoption keeps, as it is. */
  readonly kept: { readonly template: JsonObject; readonly selector: JsonObject };
  readonly podSpec: JsonObject;
  /** Image of the server. */
  readonly image: string | undefined;
  readonly serverPort: ServerPort | undefined;
  /** Where the server has its metrics, if on a port of their own. */
  readonly metricsPort: number | undefined;
  /** Names of the ConfigMaps and volume claims that its pods mount. */
  readonly configMaps: ReadonlyArray<string>;
  readonly claims: ReadonlyArray<string>;
  /** Names of the Secrets that the variables of its server come from. */
  readonly secrets: ReadonlyArray<string>;
  /** The generated one of these ConfigMaps. */
  readonly config: string | undefined;
  /** The copy of a CA bundle among them. */
  readonly caBundle: string | undefined;
}

export const liveDeployment = onceForEach((object: JsonObject): LiveDeployment => {
  const podSpec = templateSpec(object);
  const configMaps = configMapsOf(podSpec);
  const ports = listAt(listAt(podSpec, "containers")[0], "ports");
  const numberOf = (port: Json | undefined) => {
    const number = at(port, "containerPort");
    return typeof number === "number" ? number : undefined;
  };
  const count = (...path: ReadonlyArray<string>) => Number(at(object, ...path) ?? 0);
  const failure = liveCondition(object, "ReplicaFailure");
  const name = stringAt(object, "metadata", "name") ?? "";
  return {
    name,
    uid: stringAt(object, "metadata", "uid"),
    controller: liveObject(object).controller?.uid,
    record: recordIn(object),
    revision: revisionOf(object),
    isRecreated: stringAt(object, "spec", "strategy", "type") === "Recreate",
    progressDeadlineSeconds: count("spec", "progressDeadlineSeconds"),
    wantedReplicas: Number(at(object, "spec", "replicas") ?? 1),
    replicas: count("status", "replicas"),
    updatedReplicas: count("status", "updatedReplicas"),
    availableReplicas: count("status", "availableReplicas"),
    isObserved: count("status", "observedGeneration") >= count("metadata", "generation"),
    progress: liveCondition(object, "Progressing")?.reason,
    replicaFailure: failure?.status === "True" ? failure.message ?? failure.reason ?? "no reason given" : undefined,
    template: podTemplateOf(object),
    kept: { template: objectAt(object, "spec", "template"), selector: objectAt(object, "spec", "selector") },
    podSpec,
    image: imageOf(podSpec),
    serverPort: serverPortIn(objectAt(object, "spec", "template")),
    metricsPort: numberOf(ports.find((port) => stringAt(port, "name") === METRICS_PORT_NAME)),
    configMaps,
    claims: claimsOf(podSpec),
    secrets: secretsOf(podSpec),
    config: configMaps.find((map) => GENERATED.test(map)),
    // Anybody may have a ConfigMap with such an end.
    caBundle: configMaps.find((map) => map.startsWith(`${name}-`) && BUNDLE.test(map.slice(name.length))),
  };
});

const GENERATED = /-config-[0-9a-f]{8}$/;
const BUNDLE = /^-ca-bundle-[0-9a-f]{8}$/;

/** That of the resource; undefined while there is none. */
export const deploymentIn = (
  { resource, live, replicaSets }: Pick<ClusterSnapshot, "resource" | "live" | "replicaSets">,
): LiveDeployment | undefined => {
  const object = live.get(liveKey("Deployment", stringAt(resource, "metadata", "name") ?? ""));
  if (object === undefined) return undefined;
  const found = liveDeployment(object);
  return found.record.template === undefined ? { ...found, record: copiedRecord(found, replicaSets) } : found;
};

/**
 * The record of a Deployment whose annotations were removed. The Deployment controller copies annotations to the ReplicaSet of the
 * present template, and leaves them there when the Deployment loses them. Without the record it would not be known which edit the
 * pods have, and a later one would not be applied.
 */
const copiedRecord = (
  { uid, revision, template, record }: LiveDeployment,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): RolloutRecord => {
  const present = JSON.stringify(template);
  const copy = replicaSets.find((one) =>
    uid !== undefined && one.controller === uid && one.revision === revision && JSON.stringify(one.template) === present
  );
  return copy?.record ?? record;
};
