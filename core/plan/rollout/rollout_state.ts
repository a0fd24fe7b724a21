/** The progress of a Deployment's rollout, and the location of its last good template. */
import { EXITS_MAX } from "../../data/limits.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../../data/json.ts";
import { podTemplateOf } from "../../resources/pod_spec.ts";
import { matchesDesired } from "../difference.ts";
import { LAST_GOOD_ANNOTATION, TEMPLATE_ANNOTATION } from "../../snapshot/record.ts";
import { type LivePod, openContainers } from "../../snapshot/live_pod.ts";
import { type LiveReplicaSet, revisionOf } from "../../snapshot/live_replica_set.ts";

/**
 * - complete: every pod runs the template and is available
 * - disrupted: that was so once, and is not now: a crash, a node that went away, a change of the number of pods. Whatever
 *   happens to a server after its rollout says nothing about the rollout
 * - failed: the progress deadline passed, or the server exited three times, before the rollout ever completed
 */
export type RolloutState = "complete" | "disrupted" | "progressing" | "failed";

export const rolloutState = (
  deployment: JsonObject,
  pods: ReadonlyArray<LivePod>,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): RolloutState => {
  const status = objectAt(deployment, "status");
  const count = (name: string) => Number(member(status, name) ?? 0);
  // Counts of an older generation are those of another template.
  if (count("observedGeneration") < Number(member(objectAt(deployment, "metadata"), "generation") ?? 0)) {
    return "progressing";
  }
  const wanted = Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);
  if (
    count("updatedReplicas") >= wanted && count("availableReplicas") >= wanted &&
    count("replicas") === count("updatedReplicas")
  ) return "complete";
  if (!hasReplicaSet(deployment, replicaSets)) return "progressing";
  if (hasCompleted(deployment, replicaSets)) return "disrupted";
  if (progressReason(deployment) === "ProgressDeadlineExceeded") return "failed";
  return podsOfTemplate(deployment, pods, replicaSets).some((pod) => exits(pod) >= EXITS_MAX)
    ? "failed"
    : "progressing";
};

/** Whether the pods and ReplicaSets are those of the present template. */
export const observedTemplate = (deployment: JsonObject, replicaSets: ReadonlyArray<LiveReplicaSet>): boolean =>
  Number(member(objectAt(deployment, "status"), "observedGeneration") ?? 0) >=
    Number(member(objectAt(deployment, "metadata"), "generation") ?? 0) &&
  hasReplicaSet(deployment, replicaSets);

/**
 * Whether the Deployment controller has made the ReplicaSet of the present template. Under Recreate it does that once all former
 * pods have ended, and says before that it has observed the edit; revision, conditions and pods are still those of the former
 * template (source: `rolloutRecreate` of Kubernetes 1.36). A ReplicaSet has the annotations of its Deployment.
 */
const hasReplicaSet = (deployment: JsonObject, replicaSets: ReadonlyArray<LiveReplicaSet>): boolean => {
  const wanted = stringAt(deployment, "metadata", "annotations", TEMPLATE_ANNOTATION);
  const newest = newestReplicaSet(deployment, replicaSets)?.templateDigest;
  return wanted === undefined || newest === undefined || newest === wanted;
};

/**
 * Whether every pod of the present template was available at some time. The Deployment controller records that as the
 * reason of `Progressing`. When it returns to an existing ReplicaSet, the reason is at first that of the former rollout:
 * under RollingUpdate until that ReplicaSet has a pod, under Recreate forever, as no pod of another one is left when it
 * gets one (source: `syncRolloutStatus` and `getNewReplicaSet` of Kubernetes 1.36). For those it is recorded on the
 * Deployment.
 */
const hasCompleted = (deployment: JsonObject, replicaSets: ReadonlyArray<LiveReplicaSet>): boolean => {
  const recorded = (name: string) => stringAt(deployment, "metadata", "annotations", name);
  const template = recorded(TEMPLATE_ANNOTATION);
  if (template !== undefined && recorded(LAST_GOOD_ANNOTATION) === template) return true;
  const newest = newestReplicaSet(deployment, replicaSets);
  if (newest === undefined || progressReason(deployment) !== "NewReplicaSetAvailable") return false;
  return !newest.isReused ||
    !isRecreated(deployment) && Number(member(objectAt(deployment, "status"), "updatedReplicas") ?? 0) > 0;
};

const isRecreated = (deployment: JsonObject): boolean =>
  stringAt(deployment, "spec", "strategy", "type") === "Recreate";

const progressReason = (deployment: JsonObject): string | undefined =>
  stringAt(
    listAt(deployment, "status", "conditions").find((condition) => stringAt(condition, "type") === "Progressing"),
    "reason",
  );

export interface LastGood {
  readonly digest: string;
  /** Whether it is the template that the Deployment has now; otherwise it was recorded earlier. */
  readonly isLive: boolean;
}

/** The newest template of which every pod was available at some time; `next` is the desired template. */
export const lastGoodOf = (
  deployment: JsonObject | undefined,
  pods: ReadonlyArray<LivePod>,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
  next: { readonly digest: string; readonly template: JsonObject },
): LastGood | undefined => {
  if (deployment === undefined) return undefined;
  const now = stringAt(deployment, "metadata", "annotations", TEMPLATE_ANNOTATION);
  const recorded = stringAt(deployment, "metadata", "annotations", LAST_GOOD_ANNOTATION);
  const before = recorded === undefined ? undefined : { digest: recorded, isLive: false };
  const state = rolloutState(deployment, pods, replicaSets);
  if (now === undefined || state !== "complete" && state !== "disrupted") return before;
  if (now !== next.digest) return { digest: now, isLive: true };
  // Changed by another client, and about to be repaired: not the template that the digest means.
  if (!matchesDesired(next.template, podTemplateOf(deployment))) return before;
  // Kubernetes remembers it in all other cases: recording it would be one more write for each rollout.
  const newest = newestReplicaSet(deployment, replicaSets);
  return newest?.isReused === true && isRecreated(deployment) ? { digest: now, isLive: true } : before;
};

/** How many pods of the present template are available; 0 while its ReplicaSet is not known. */
export const availableOfTemplate = (
  deployment: JsonObject,
  pods: ReadonlyArray<LivePod>,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): number => {
  const status = objectAt(deployment, "status");
  const generation = Number(member(objectAt(deployment, "metadata"), "generation") ?? 0);
  if (Number(member(status, "observedGeneration") ?? 0) < generation) return 0;
  if (newestReplicaSet(deployment, replicaSets) === undefined) return 0;
  return podsOfTemplate(deployment, pods, replicaSets).filter(({ isReady }) => isReady).length;
};

/** Why the API server refuses pods of the present template, of which there is none yet: a quota, a limit range or a policy. */
export const podCreationFailure = (
  deployment: JsonObject,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): string | undefined => {
  if (!hasReplicaSet(deployment, replicaSets)) return undefined;
  const newest = newestReplicaSet(deployment, replicaSets);
  // The condition of the Deployment may still be that of the former ReplicaSet.
  return newest === undefined || newest.replicas > 0 ? undefined : newest.createFailure;
};

/** The ReplicaSet with the revision of the Deployment. */
const newestReplicaSet = (
  deployment: JsonObject,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): LiveReplicaSet | undefined => {
  const now = revisionOf(deployment);
  return now === undefined ? undefined : replicaSets.find(({ revision }) => revision === now);
};

/** Pods of the newest ReplicaSet; all of them where that is not known. */
export const podsOfTemplate = (
  deployment: JsonObject,
  pods: ReadonlyArray<LivePod>,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): ReadonlyArray<LivePod> => {
  const hash = newestReplicaSet(deployment, replicaSets)?.templateHash;
  return pods.filter(({ isGoing, templateHash }) => !isGoing && (hash === undefined || templateHash === hash));
};

const exits = (pod: LivePod): number =>
  Math.max(
    0,
    ...openContainers(pod).filter(({ isReady }) => !isReady)
      // The last end counts before the container starts again.
      .map(({ restartCount, state }) => restartCount + (state._tag === "Terminated" ? 1 : 0)),
  );

export interface GoodTemplate {
  readonly template: JsonObject;
  /** As it was recorded when we applied it. */
  readonly digest: string;
  readonly server: string | undefined;
}

/**
 * The Deployment controller keeps each former template in a ReplicaSet, together with the operator's record of it.
 * Others may write ReplicaSets too, with any annotation and any owner: `isProven` is whether the template is the
 * recorded one.
 */
export const lastGoodTemplate = (
  deployment: JsonObject,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
  isProven: (template: JsonObject, digest: string) => boolean,
): GoodTemplate | undefined => {
  const digest = stringAt(deployment, "metadata", "annotations", LAST_GOOD_ANNOTATION);
  if (digest === undefined) return undefined;
  const uid = stringAt(deployment, "metadata", "uid");
  const kept = uid === undefined
    ? undefined
    : replicaSets.find(({ templateDigest, controller, template }) =>
      templateDigest === digest && controller === uid && isProven(template, digest)
    );
  return kept === undefined ? undefined : { template: kept.template, digest, server: kept.serverVersion };
};
