/** The progress of a Deployment's rollout, and its last good template. */
import { EXITS_MAX } from "../../data/limits.ts";
import type { JsonObject } from "../../data/json.ts";
import { matchesDesired } from "../difference.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import { type LivePod, openContainers } from "../../snapshot/live_pod.ts";
import type { LiveReplicaSet } from "../../snapshot/live_replica_set.ts";

/**
 * - complete: every pod runs the template and is available
 * - disrupted: that was so once, and is not now: a crash, a node that went away, a change of the number of pods. Whatever
 *   happens to a server after its rollout says nothing about the rollout
 * - failed: the progress deadline passed, or the server exited three times, before the rollout ever completed
 */
export type RolloutState = "complete" | "disrupted" | "progressing" | "failed";

/** What Kubernetes made of the Deployment. */
export type Seen = Pick<ClusterSnapshot, "pods" | "replicaSets">;

export const rolloutState = (deployment: LiveDeployment, seen: Seen): RolloutState => {
  if (!countsTemplate(deployment, seen)) return "progressing";
  if (isComplete(deployment, seen)) return "complete";
  if (!hasReplicaSet(deployment, seen)) return "progressing";
  if (hasCompleted(deployment, seen)) return "disrupted";
  if (deployment.progress === "ProgressDeadlineExceeded") return "failed";
  return podsOfTemplate(deployment, seen).some((pod) => exits(pod) >= EXITS_MAX) ? "failed" : "progressing";
};

/** Whether every pod runs the present template, and as many as are wanted are available. */
export const isComplete = (deployment: LiveDeployment, seen: Seen): boolean => {
  const { wantedReplicas, replicas, updatedReplicas, availableReplicas } = deployment;
  return countsTemplate(deployment, seen) && updatedReplicas >= wantedReplicas && availableReplicas >= wantedReplicas &&
    replicas === updatedReplicas;
};

/** Whether the pods and ReplicaSets are those of the present template. */
export const observedTemplate = (deployment: LiveDeployment, seen: Seen): boolean =>
  countsTemplate(deployment, seen) && hasReplicaSet(deployment, seen);

/**
 * Whether the status of the Deployment is about its present template. Every edit begins a generation that the Deployment controller
 * has not observed, also one of an annotation or of the number of pods, as other programs make them all the time: it is no rollout if
 * the template is still that of the only ReplicaSet that has pods.
 */
const countsTemplate = (deployment: LiveDeployment, seen: Seen): boolean => {
  if (deployment.isObserved) return true;
  const newest = newestReplicaSet(deployment, seen);
  return newest !== undefined && deployment.progress === "NewReplicaSetAvailable" &&
    JSON.stringify(newest.template) === JSON.stringify(deployment.template) &&
    seen.replicaSets.every((other) => other === newest || other.replicas === 0);
};

/**
 * Whether the Deployment controller has made the ReplicaSet of the present template. Under Recreate it does that once all former
 * pods have ended, and says before that it has observed the edit; revision, conditions and pods are still those of the former
 * template (source: `rolloutRecreate` of Kubernetes 1.36). A ReplicaSet has the annotations of its Deployment.
 */
const hasReplicaSet = (deployment: LiveDeployment, seen: Seen): boolean => {
  const wanted = deployment.record.template;
  const newest = newestReplicaSet(deployment, seen)?.record.template;
  return wanted === undefined || newest === undefined || newest === wanted;
};

/**
 * Whether every pod of the present template was available at some time. The Deployment controller records that as the
 * reason of `Progressing`. When it returns to an existing ReplicaSet, the reason is at first that of the former rollout:
 * under RollingUpdate until that ReplicaSet has a pod, under Recreate forever, as no pod of another one is left when it
 * gets one (source: `syncRolloutStatus` and `getNewReplicaSet` of Kubernetes 1.36). For those it is recorded on the
 * Deployment.
 */
const hasCompleted = (deployment: LiveDeployment, seen: Seen): boolean => {
  const { record: { template, lastGood }, progress, isRecreated, updatedReplicas } = deployment;
  if (template !== undefined && lastGood === template) return true;
  const newest = newestReplicaSet(deployment, seen);
  if (newest === undefined || progress !== "NewReplicaSetAvailable") return false;
  return !newest.isReused || !isRecreated && updatedReplicas > 0;
};

/**
 * Whether the present template is to be recorded as the last of which every pod was available at some time; `next` is the
 * desired template.
 */
export const becomesLastGood = (
  deployment: LiveDeployment,
  seen: Seen,
  next: { readonly digest: string; readonly template: JsonObject },
): boolean => {
  const { record: { template: now, lastGood }, isRecreated } = deployment;
  const state = rolloutState(deployment, seen);
  if (now === undefined || state !== "complete" && state !== "disrupted") return false;
  if (now !== next.digest) return true;
  // Changed by another client, and about to be repaired: not the template that the digest means.
  if (!matchesDesired(next.template, deployment.template)) return false;
  if (!isRecreated) return false;
  // Kubernetes remembers it until somebody restarts the pods; a restart that fails would be rolled back to an earlier edit.
  const hasEarlier = lastGood !== undefined && lastGood !== now;
  return newestReplicaSet(deployment, seen)?.isReused === true || state === "complete" && hasEarlier;
};

/** How many pods of the present template are available; 0 while its ReplicaSet is not known. */
export const availableOfTemplate = (deployment: LiveDeployment, seen: Seen): number =>
  countsTemplate(deployment, seen) && newestReplicaSet(deployment, seen) !== undefined
    ? podsOfTemplate(deployment, seen).filter(({ isReady }) => isReady).length
    : 0;

/** Why the API server refuses pods of the present template, of which there is none yet: a quota, a limit range or a policy. */
export const podCreationFailure = (deployment: LiveDeployment, seen: Seen): string | undefined => {
  if (!hasReplicaSet(deployment, seen)) return undefined;
  const newest = newestReplicaSet(deployment, seen);
  // The condition of the Deployment may still be that of the former ReplicaSet.
  return newest === undefined || newest.replicas > 0 ? undefined : newest.createFailure;
};

/** The ReplicaSet with the revision of the Deployment. */
const newestReplicaSet = (deployment: LiveDeployment, { replicaSets }: Seen): LiveReplicaSet | undefined =>
  replicaSets.find(({ revision }) => revision !== undefined && revision === deployment.revision);

/** Pods of the newest ReplicaSet; all of them where that is not known. */
export const podsOfTemplate = (deployment: LiveDeployment, seen: Seen): ReadonlyArray<LivePod> => {
  const hash = newestReplicaSet(deployment, seen)?.templateHash;
  return seen.pods.filter(({ isGoing, templateHash }) => !isGoing && (hash === undefined || templateHash === hash));
};

const exits = (pod: LivePod): number =>
  Math.max(
    0,
    ...openContainers(pod).filter(({ isReady }) => !isReady)
      // The last end counts before the container starts again.
      .map(({ restartCount, state }) => restartCount + (state._tag === "Terminated" ? 1 : 0)),
  );
