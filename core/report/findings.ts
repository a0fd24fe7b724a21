/** The conditions after a reconciliation, each with reason and message, in the order of the status. */
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import type { ReconcileFailure } from "../failure/reconcile_failure.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { conditionOf, isStalling, reasonOf } from "../failure/table.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { mountedClaim } from "../resources/claim.ts";
import { serviceName } from "../resources/service.ts";
import {
  conditionFalse,
  conditionTrue,
  type ConditionType,
  conditionUnknown,
  type Finding,
} from "../api/conditions.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import { availableOfTemplate, rolloutState } from "../plan/rollout/rollout_state.ts";
import { podTrouble } from "./pods.ts";
import type { Decided } from "./decided.ts";
import { rolledBack, shownOf, upgradeStopped } from "./trouble.ts";
import { contestedFindings, policyFindings } from "./changed_by_others.ts";

/** Ready comes first: it carries the first failing reason, which `kubectl get -o wide` shows. */
export const findingsOf = (
  snapshot: ClusterSnapshot,
  decided: Decided,
  deployment: JsonObject | undefined,
): ReadonlyArray<Finding> => {
  const config = configFinding(decided);
  const secrets = secretsFinding(decided);
  const updated = updatedFinding(snapshot, decided, deployment);
  const available = availableFinding(snapshot, decided, deployment);
  const rest = objectFindings(snapshot, decided);
  // Ready means all of the wanted pods, Available at least one of them.
  const incomplete = deployment === undefined ? undefined : incompleteFinding(snapshot, decided, deployment);
  // Waiting for an upgrade slot is not a failure: the running Deployment is what its owner requested.
  const failing = [secrets, config, updated, available, ...rest].find(({ status, type, reason }) =>
    status === "False" && type !== "HealthCheck" && reason !== "UpgradeQueued" && reason !== "ScaledToZero"
  );
  const ready = decided.suspended
    ? conditionFalse("Ready", "Suspended", "Reconciliation is suspended by spec.suspend")
    : failing === undefined && available.reason === "ScaledToZero"
    ? conditionTrue("Ready", "ScaledToZero", available.message)
    : failing === undefined && incomplete !== undefined
    ? conditionFalse("Ready", incomplete.reason, incomplete.message)
    : failing === undefined
    ? [secrets, config, updated, available].some(({ status }) => status === "Unknown")
      ? conditionUnknown("Ready", "Progressing", "Setting up the server")
      : conditionTrue("Ready", "Ready", "The server is ready")
    : conditionFalse("Ready", failing.reason, failing.message);
  const stalled = decided.failures.some(isStalling) ||
    ["RolledBack", "DeploymentUpdateFailed"].includes(updated.reason);
  const reconciling = !decided.suspended && !stalled && available.reason !== "ScaledToZero" &&
    (available.status !== "True" || incomplete !== undefined);
  return [
    ready,
    config,
    secrets,
    updated,
    available,
    // Under the name that readers of v1alpha1 wait for.
    { ...available, type: "DeploymentReady" },
    ...rest,
    // kstatus: abnormal-true, gone when over.
    ...(decided.suspended
      ? [conditionFalse("Reconciling", "Suspended", "Reconciliation is suspended by spec.suspend")]
      : []),
    ...(reconciling
      ? [conditionTrue("Reconciling", (incomplete ?? available).reason, (incomplete ?? available).message)]
      : []),
    ...(stalled
      ? [conditionTrue("Stalled", failing?.reason ?? "InvalidSpec", failing?.message ?? "The resource has errors")]
      : []),
    ...rejectedObjectFindings(decided),
    ...contestedFindings(decided),
    ...policyFindings(decided, snapshot),
    ...(decided.rollout?.kind !== "hold" ? [] : [
      conditionTrue(
        "TemplateHeld",
        "OperatorChanged",
        "The current version of the operator would change the pods. The running Deployment is unchanged until the resource " +
          `changes, or its annotation llamastack.io/rollout is set to ${decided.rollout.digest}`,
      ),
    ]),
  ];
};

/** The failures that a condition reports, as that condition; undefined where it has none. */
const failureFinding = (type: ConditionType, failures: ReadonlyArray<ReconcileFailure>): Finding | undefined => {
  const reported = failures.filter((failure) => conditionOf(failure) === type);
  const [first] = reported;
  return first === undefined
    ? undefined
    : conditionFalse(type, reasonOf(first), reported.map(({ message }) => message).join("; "));
};

/** Abnormal-true: an object that the server can do without, and that the API server rejects. */
const rejectedObjectFindings = ({ failures }: Decided): ReadonlyArray<Finding> => {
  const rejected = failureFinding("ObjectRefused", failures);
  return rejected === undefined ? [] : [conditionTrue("ObjectRefused", "ObjectRefused", rejected.message)];
};

const configFinding = ({ prepared, failures }: Decided): Finding => {
  const failed = failureFinding("ConfigGenerated", failures);
  if (failed !== undefined) return failed;
  if (prepared === undefined) {
    return conditionUnknown("ConfigGenerated", "Waiting", "Waiting for referenced Secrets and ConfigMaps");
  }
  const { derived, resource } = prepared;
  switch (derived._tag) {
    case "Generated":
      return conditionTrue(
        "ConfigGenerated",
        "ConfigGenerationSucceeded",
        `Generated config.yaml with ${derived.config.providerCount} providers and ${
          resource.spec.resources?.models?.length ?? 0
        } models`,
      );
    case "Override":
      return conditionTrue(
        "ConfigGenerated",
        "OverrideConfigUsed",
        `Using key ${derived.key} of ConfigMap ${derived.configMapName}`,
      );
    case "DistributionDefault":
      return conditionTrue(
        "ConfigGenerated",
        "DistributionDefaultUsed",
        "Using the config built into the image",
      );
  }
};

const secretsFinding = ({ prepared, failures }: Decided): Finding => {
  const failed = failureFinding("SecretsResolved", failures);
  if (failed !== undefined) return failed;
  if (prepared === undefined) return conditionUnknown("SecretsResolved", "Waiting", "Waiting for a valid resource");
  return conditionTrue("SecretsResolved", "AllSecretsFound", `Resolved ${prepared.secretReferences} secret references`);
};

const updatedFinding = (
  snapshot: ClusterSnapshot,
  { prepared, failures, rollout }: Decided,
  deployment: JsonObject | undefined,
): Finding => {
  const failed = failureFinding("DeploymentUpdated", failures);
  if (failed !== undefined) return failed;
  if (prepared === undefined || rollout === undefined) {
    return deployment === undefined
      ? conditionUnknown(
        "DeploymentUpdated",
        "Waiting",
        "Nothing is deployed until the errors of the resource are fixed",
      )
      : conditionUnknown(
        "DeploymentUpdated",
        "Unchanged",
        "The running Deployment is unchanged until the errors of the resource are fixed",
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
        ? conditionFalse("DeploymentUpdated", "DeploymentUpdateFailed", upgradeStopped(snapshot, deployment, prepared))
        : updatedWith(prepared.blueprint.configFile?.configMapName);
  }
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
      `${obstacle?.max ?? snapshot.operator.upgradeParallelism} resources upgrade concurrently. ${way}`;
  }
  const [namespace] = obstacle.at.split("/");
  const own = namespace === stringAt(snapshot.resource, "metadata", "namespace");
  return `The upgrade of "${queue}" is stopped, because ${
    own ? obstacle.at : "a resource in another namespace"
  } did not become ready. ${way}`;
};

const availableFinding = (
  snapshot: ClusterSnapshot,
  decided: Decided,
  deployment: JsonObject | undefined,
): Finding => {
  if (deployment === undefined) {
    return decided.prepared === undefined
      ? conditionFalse("Available", "ReplicasUnavailable", "Deployment not found")
      : conditionUnknown("Available", "RolloutInProgress", "Creating the Deployment");
  }
  if (wantedOf(deployment) === 0) return conditionFalse("Available", "ScaledToZero", "Scaled to zero replicas");
  // Pods of an older template serve, but not what the resource asks for.
  const incomplete = incompleteFinding(snapshot, decided, deployment);
  return incomplete === undefined || availableOfTemplate(deployment, snapshot.pods, snapshot.replicaSets) > 0
    ? conditionTrue("Available", "MinimumReplicasAvailable", replicaCount(deployment))
    : incomplete;
};

const wantedOf = (deployment: JsonObject): number => Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);

const replicaCount = (deployment: JsonObject): string =>
  `${Number(member(objectAt(deployment, "status"), "availableReplicas") ?? 0)}/${wantedOf(deployment)} replicas ` +
  "available with current config";

/** Why not every wanted pod is available with the current template; undefined where they are. */
const incompleteFinding = (
  snapshot: ClusterSnapshot,
  { prepared }: Decided,
  deployment: JsonObject,
): Finding | undefined => {
  if (wantedOf(deployment) === 0) return undefined;
  if (rolloutState(deployment, snapshot.pods, snapshot.replicaSets) === "complete") return undefined;
  const status = objectAt(deployment, "status");
  const said = replicaCount(deployment);
  const shown = shownOf(snapshot, prepared);
  const rejected = listAt(status, "conditions").find((condition) =>
    stringAt(condition, "type") === "ReplicaFailure" && stringAt(condition, "status") === "True"
  );
  if (rejected !== undefined) {
    const why = shown.text(stringAt(rejected, "message") ?? stringAt(rejected, "reason") ?? "no reason given");
    return conditionFalse("Available", "PodsRejected", `Kubernetes could not create pods: ${why}. ${said}`);
  }
  const trouble = podTrouble(snapshot.pods, shown);
  if (trouble !== undefined) return conditionFalse("Available", trouble.reason, trouble.message);
  return conditionFalse("Available", "RolloutInProgress", said);
};

const objectFindings = (snapshot: ClusterSnapshot, { prepared, failures }: Decided): ReadonlyArray<Finding> => {
  const service = failureFinding("ServiceReady", failures);
  const claim = failureFinding("StorageReady", failures);
  const name = stringAt(snapshot.resource, "metadata", "name") ?? "";
  const live = snapshot.live.get(liveKey("Service", serviceName(name)));
  const claimName = prepared === undefined ? undefined : mountedClaim(prepared.blueprint);
  const bound = claimName === undefined
    ? undefined
    : stringAt(snapshot.live.get(liveKey("PersistentVolumeClaim", claimName)), "status", "phase");
  return [
    ...(service !== undefined
      ? [service]
      : live === undefined
      ? [conditionUnknown("ServiceReady", "Waiting", "Creating the Service")]
      : [conditionTrue("ServiceReady", "ServiceReady", "The Service exists")]),
    ...(claim !== undefined
      ? [claim]
      : claimName === undefined
      ? []
      : bound === "Bound"
      ? [conditionTrue("StorageReady", "StorageReady", `PersistentVolumeClaim ${claimName} is bound`)]
      : [
        conditionUnknown(
          "StorageReady",
          "Waiting",
          `PersistentVolumeClaim ${claimName} ${bound === undefined ? "does not exist yet" : `is ${bound}`}`,
        ),
      ]),
    snapshot.server?.version === undefined
      ? conditionUnknown("HealthCheck", "Waiting", "Waiting for the server to report its version")
      : conditionTrue("HealthCheck", "HealthCheckPassed", `The server reports version ${snapshot.server.version}`),
  ];
};
