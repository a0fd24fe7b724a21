/** A ReplicaSet as the API server reports it. The Deployment controller keeps a former template in each, with the record of it. */
import { type JsonObject, member, objectAt, stringAt } from "../data/json.ts";
import { configMapsOf, podTemplateOf, secretsOf, templateSpec } from "../resources/pod_spec.ts";
import { liveObject } from "./live_object.ts";
import { liveCondition } from "./live_condition.ts";
import { recordIn, type RolloutRecord } from "./record.ts";

export interface LiveReplicaSet {
  /** That of the Deployment when it had this template; the highest one if it had it several times. */
  readonly revision: number | undefined;
  /** The Deployment went back to it from another template. */
  readonly isReused: boolean;
  /** Of its label `pod-template-hash`, which its pods have too. */
  readonly templateHash: string | undefined;
  /** That of the Deployment when it had this template; others may write it too. */
  readonly record: RolloutRecord;
  /** Uid of its controller. */
  readonly controller: string | undefined;
  /** As the Deployment had it. */
  readonly template: JsonObject;
  /** Names of the ConfigMaps that its pods mount. */
  readonly configMaps: ReadonlyArray<string>;
  /** Names of the Secrets that the variables of its server come from. */
  readonly secrets: ReadonlyArray<string>;
  /** How many pods it has. */
  readonly replicas: number;
  /** Why the API server refuses its pods. */
  readonly createFailure: string | undefined;
}

export const liveReplicaSet = (object: JsonObject): LiveReplicaSet => {
  const failure = liveCondition(object, "ReplicaFailure");
  return {
    revision: revisionOf(object),
    isReused: stringAt(object, "metadata", "annotations", "deployment.kubernetes.io/revision-history") !== undefined,
    templateHash: stringAt(object, "metadata", "labels", "pod-template-hash"),
    record: recordIn(object),
    controller: liveObject(object).controller?.uid,
    template: podTemplateOf(object),
    configMaps: configMapsOf(templateSpec(object)),
    secrets: secretsOf(templateSpec(object)),
    replicas: Number(member(objectAt(object, "status"), "replicas") ?? 0),
    createFailure: failure?.status === "True" && failure.reason === "FailedCreate"
      ? failure.message ?? "no reason given"
      : undefined,
  };
};

/** Of a Deployment or a ReplicaSet. */
export const revisionOf = (object: JsonObject): number | undefined => {
  const revision = stringAt(object, "metadata", "annotations", "deployment.kubernetes.io/revision");
  return revision === undefined ? undefined : Number(revision);
};
