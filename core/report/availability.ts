/** Whether the pods of the Deployment serve what the resource asks for. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { availableOfTemplate, rolloutState } from "../plan/rollout/rollout_state.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import { isNotAdopted } from "../plan/ownership.ts";
import type { Decided } from "./decided.ts";
import { podTrouble } from "./pods.ts";
import { disclosureOf } from "./trouble.ts";

export const availableFinding = (
  snapshot: ClusterSnapshot,
  decided: Decided,
  deployment: LiveDeployment | undefined,
): Finding => {
  if (deployment === undefined) {
    return decided.prepared === undefined || isDeploymentTaken(decided)
      ? conditionFalse("Available", "ReplicasUnavailable", "Deployment not found")
      : conditionUnknown("Available", "RolloutInProgress", "Creating the Deployment");
  }
  if (deployment.wantedReplicas === 0) return conditionFalse("Available", "ScaledToZero", "Scaled to zero replicas");
  // Pods of an older template serve, but not what the resource asks for.
  const incomplete = incompleteFinding(snapshot, decided, deployment);
  // The status of the Deployment may be older than that of its pods.
  const available = availableOfTemplate(deployment, snapshot);
  return incomplete === undefined || available > 0
    ? conditionTrue("Available", "MinimumReplicasAvailable", replicaCount(snapshot, deployment, available))
    : incomplete;
};

/** Whether a Deployment of somebody else has the name. */
export const isDeploymentTaken = ({ failures }: Pick<Decided, "failures">): boolean =>
  failures.some((failure) => failure._tag === "OwnershipConflict" && failure.kind === "Deployment");

const replicaCount = ({ resource }: ClusterSnapshot, deployment: LiveDeployment, least = 0): string => {
  const { availableReplicas: count, wantedReplicas } = deployment;
  const what = isNotAdopted(deployment, resource) ? "another operator's template" : "current config";
  return `${Math.max(count, least)}/${wantedReplicas} replicas available with ${what}`;
};

/** Why not every wanted pod is available with the current template; undefined where they are. */
export const incompleteFinding = (
  snapshot: ClusterSnapshot,
  { prepared }: Decided,
  deployment: LiveDeployment,
): Finding | undefined => {
  if (deployment.wantedReplicas === 0) return undefined;
  if (rolloutState(deployment, snapshot) === "complete") return undefined;
  const count = replicaCount(snapshot, deployment);
  const shown = disclosureOf(snapshot, prepared);
  if (deployment.replicaFailure !== undefined) {
    const why = shown.text(deployment.replicaFailure);
    return conditionFalse("Available", "PodsRejected", `Kubernetes could not create pods: ${why}. ${count}`);
  }
  const trouble = podTrouble(snapshot.pods, shown);
  if (trouble !== undefined) return conditionFalse("Available", trouble.reason, trouble.message);
  return conditionFalse("Available", "RolloutInProgress", count);
};
