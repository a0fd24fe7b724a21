/** How far the rollout of a Deployment is, and where its last good template is kept. */
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../json.ts";
import { LAST_GOOD_ANNOTATION, SERVER_ANNOTATION, TEMPLATE_ANNOTATION } from "./record.ts";

export type RolloutState = "complete" | "progressing" | "failed";

/** Ends of the server after which a start counts as failed for good (R29). */
const EXITS_MAX = 3;

/**
 * Complete: every pod runs the template and is available. Failed: the deadline for progress is over, or the server ended
 * three times.
 */
export const rolloutState = (
  deployment: JsonObject,
  pods: ReadonlyArray<JsonObject>,
  replicaSets: ReadonlyArray<JsonObject>,
): RolloutState => {
  const status = objectAt(deployment, "status");
  const count = (name: string) => Number(member(status, name) ?? 0);
  // Counts of an older generation speak of another template.
  if (count("observedGeneration") < Number(member(objectAt(deployment, "metadata"), "generation") ?? 0)) {
    return "progressing";
  }
  const wanted = Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);
  if (
    count("updatedReplicas") >= wanted && count("availableReplicas") >= wanted &&
    count("replicas") === count("updatedReplicas")
  ) return "complete";
  const progress = listAt(status, "conditions").find((one) => stringAt(one, "type") === "Progressing");
  if (stringAt(progress, "reason") === "ProgressDeadlineExceeded") return "failed";
  return podsOfTemplate(deployment, pods, replicaSets).some((pod) => exits(pod) >= EXITS_MAX)
    ? "failed"
    : "progressing";
};

/** Pods of the newest ReplicaSet, which has the revision of the Deployment; all of them where that is not known. */
export const podsOfTemplate = (
  deployment: JsonObject,
  pods: ReadonlyArray<JsonObject>,
  replicaSets: ReadonlyArray<JsonObject>,
): ReadonlyArray<JsonObject> => {
  const newest = replicaSets.find((one) => revisionOf(one) !== undefined && revisionOf(one) === revisionOf(deployment));
  const hash = stringAt(newest, "metadata", "labels", "pod-template-hash");
  return pods.filter((pod) =>
    member(objectAt(pod, "metadata"), "deletionTimestamp") === undefined &&
    (hash === undefined || stringAt(pod, "metadata", "labels", "pod-template-hash") === hash)
  );
};

const revisionOf = (object: JsonObject): string | undefined =>
  stringAt(object, "metadata", "annotations", "deployment.kubernetes.io/revision");

const exits = (pod: JsonObject): number =>
  Math.max(
    0,
    ...listAt(pod, "status", "containerStatuses").filter(isObject)
      .filter((status) => member(status, "ready") !== true)
      .map((status) =>
        Number(member(status, "restartCount") ?? 0) +
        // The last end counts before the container starts again.
        (Object.hasOwn(objectAt(status, "state"), "terminated") ? 1 : 0)
      ),
  );

export interface GoodTemplate {
  readonly template: JsonObject;
  /** As it was recorded when we applied it. */
  readonly digest: string;
  readonly server: string | undefined;
}

/** The Deployment controller keeps each former template in a ReplicaSet, together with our record of it. */
export const lastGoodTemplate = (
  deployment: JsonObject,
  replicaSets: ReadonlyArray<JsonObject>,
): GoodTemplate | undefined => {
  const digest = stringAt(deployment, "metadata", "annotations", LAST_GOOD_ANNOTATION);
  const kept = digest === undefined
    ? undefined
    : replicaSets.find((one) => stringAt(one, "metadata", "annotations", TEMPLATE_ANNOTATION) === digest);
  if (digest === undefined || kept === undefined) return undefined;
  const template = objectAt(kept, "spec", "template");
  const metadata = objectAt(template, "metadata");
  const { "pod-template-hash": _hash, ...labels } = objectAt(metadata, "labels");
  const { creationTimestamp: _time, ...rest } = metadata;
  return {
    template: { ...template, metadata: { ...rest, labels } },
    digest,
    server: stringAt(kept, "metadata", "annotations", SERVER_ANNOTATION),
  };
};
