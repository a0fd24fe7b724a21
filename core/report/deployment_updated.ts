/** Whether the Deployment is what the resource asks for, and why not. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import { isWaiting } from "../plan/wanted_objects.ts";
import { isNotAdopted } from "../plan/ownership.ts";
import { rolloutState } from "../plan/rollout/rollout_state.ts";
import { lostConfig, missingConfig } from "../plan/mounted_configs.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { Decided } from "./decided.ts";
import { rolledBack, upgradeStopped } from "./trouble.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Where no failure of a write says more. */
export const updatedFinding = (
  snapshot: ClusterSnapshot,
  { prepared, rollout }: Decided,
  deployment: LiveDeployment | undefined,
): Finding => {
  const lost = missingConfig(snapshot, deployment);
  if (prepared === undefined || rollout === undefined) {
    return deployment === undefined
      ? conditionUnknown(
        "DeploymentUpdated",
        "Waiting",
        "Nothing is deployed until the errors of the resource are fixed",
      )
      : isNotAdopted(deployment, snapshot.resource)
      ? conditionUnknown("DeploymentUpdated", "NotAdopted", notAdopted(deployment))
      : conditionUnknown(
        "DeploymentUpdated",
        "Unchanged",
        `The running Deployment is unchanged until the errors of the resource are fixed${
          lost === undefined ? "" : `. ${lostConfig(lost)}: fix the errors soon, or restore the ConfigMap`
        }`,
      );
  }
  if (lost !== undefined && isWaiting(rollout)) {
    const way = "digest" in rollout
      ? `an edit of the resource or its annotation llamastack.io/rollout: ${rollout.digest}`
      : "an edit of the resource";
    return conditionFalse(
      "DeploymentUpdated",
      "ConfigMissing",
      `${lostConfig(lost)}. Roll out a template with another config by ${way}; or restore the ConfigMap from a backup`,
    );
  }
  switch (rollout.kind) {
    case "queue":
      return conditionFalse("DeploymentUpdated", "UpgradeQueued", queued(rollout, snapshot));
    case "rollBack":
    case "rolledBack":
      return conditionFalse("DeploymentUpdated", "RolledBack", rolledBack(snapshot, deployment, rollout, prepared));
    case "adopt":
    case "hold":
      return updatedWith(deployment?.config);
    case "apply":
      return rollout.cause === "upgrade" && deployment !== undefined &&
          rolloutState(deployment, snapshot) === "failed"
        ? conditionFalse("DeploymentUpdated", "UpgradeFailed", upgradeStopped(snapshot, deployment, prepared))
        : updatedWith(prepared.blueprint.configFile?.configMapName);
  }
};

/** Of a server that another operator made, and whose resource has errors. */
const notAdopted = ({ name }: LiveDeployment): string =>
  `Deployment ${name} runs under another operator's template. It is unchanged, and is ` +
  "adopted without a restart when the errors of the resource are fixed";

const updatedWith = (config: string | undefined): Finding =>
  conditionTrue(
    "DeploymentUpdated",
    "DeploymentUpdateSucceeded",
    config === undefined ? "Deployment updated" : `Deployment updated with config ${config}`,
  );

/** No counts: the message would change with every upgrade of another resource. */
const queued = (rollout: Extract<Rollout, { readonly kind: "queue" }>, snapshot: ClusterSnapshot): string => {
  const { stoppedAt, waiting: { queue }, digest } = rollout;
  const way = `To upgrade now, edit the resource or set its annotation llamastack.io/rollout to ${digest}`;
  if (stoppedAt === undefined) {
    return `Waiting for an upgrade slot: the operator ships a new image or base config for "${queue}", and at most ` +
      `${snapshot.operator.upgradeParallelism} resources are upgraded concurrently. ${way}`;
  }
  const [namespace] = stoppedAt.split("/");
  const own = namespace === liveObject(snapshot.resource).namespace;
  return `The upgrade of "${queue}" is stopped, because ${
    own ? stoppedAt : "a resource in another namespace"
  } did not become ready. ${way}`;
};
