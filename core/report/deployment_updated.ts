/** Whether the Deployment is what the resource asks for, and why not. */
import { conditionFalse, conditionTrue, conditionUnknown, type Finding } from "../api/conditions.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import { isNotAdopted } from "../plan/ownership.ts";
import { rolloutState } from "../plan/rollout/rollout_state.ts";
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import type { Decided } from "./decided.ts";
import { rolledBack, upgradeStopped } from "./trouble.ts";

/** Where no failure of a write says more. */
export const updatedFinding = (
  snapshot: ClusterSnapshot,
  { prepared, rollout }: Decided,
  deployment: JsonObject | undefined,
): Finding => {
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
          lostConfig(snapshot, deployment)
        }`,
      );
  }
  switch (rollout.kind) {
    case "queue":
      return conditionFalse("DeploymentUpdated", "UpgradeQueued", queued(rollout, snapshot));
    case "undo":
    case "undone":
      return conditionFalse("DeploymentUpdated", "RolledBack", rolledBack(snapshot, deployment, rollout, prepared));
    case "adopt":
    case "hold":
      return updatedWith(configIn(deployment));
    case "apply":
      return rollout.cause === "upgrade" && deployment !== undefined &&
          rolloutState(deployment, snapshot.pods, snapshot.replicaSets) === "failed"
        ? conditionFalse("DeploymentUpdated", "UpgradeFailed", upgradeStopped(snapshot, deployment, prepared))
        : updatedWith(prepared.blueprint.configFile?.configMapName);
  }
};

/** Of a server that another operator made, and whose resource has errors. */
export const notAdopted = (deployment: JsonObject): string =>
  `Deployment ${
    stringAt(deployment, "metadata", "name")
  } runs under another operator's template. It is unchanged, and is ` +
  "adopted without a restart when the errors of the resource are fixed";

/** Nobody can make the config of a former spec again. */
const lostConfig = ({ live }: ClusterSnapshot, deployment: JsonObject): string => {
  const name = configIn(deployment);
  return name === undefined || live.has(liveKey("ConfigMap", name))
    ? ""
    : `. Its ConfigMap ${name} was deleted, so that new pods of it cannot start: fix the errors soon, or restore the ConfigMap`;
};

const updatedWith = (config: string | undefined): Finding =>
  conditionTrue(
    "DeploymentUpdated",
    "DeploymentUpdateSucceeded",
    config === undefined ? "Deployment updated" : `Deployment updated with config ${config}`,
  );

/** The generated ConfigMap that the pods of a Deployment mount. */
export const configIn = (deployment: JsonObject | undefined): string | undefined =>
  configMapsOf(templateSpec(deployment)).find((name) => /-config-[0-9a-f]{8}$/.test(name));

/** No counts: the message would change with every upgrade of another resource. */
const queued = (rollout: Extract<Rollout, { readonly kind: "queue" }>, snapshot: ClusterSnapshot): string => {
  const { obstacle, waiting: { queue }, digest } = rollout;
  const way = `To upgrade now, edit the resource or set its annotation llamastack.io/rollout to ${digest}`;
  if (obstacle?.kind !== "stopped") {
    return `Waiting for an upgrade slot: the operator ships a new image or base config for "${queue}", and at most ` +
      `${obstacle?.max ?? snapshot.operator.upgradeParallelism} resources are upgraded concurrently. ${way}`;
  }
  const [namespace] = obstacle.at.split("/");
  const own = namespace === stringAt(snapshot.resource, "metadata", "namespace");
  return `The upgrade of "${queue}" is stopped, because ${
    own ? obstacle.at : "a resource in another namespace"
  } did not become ready. ${way}`;
};
