/** Which conditions hold after a pass, each with its reason word and sentence; the order is that of the status. */
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import type { DeletionPending, OwnershipConflict, ReconcileFailure, Unwritten } from "../failure.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../json.ts";
import { verdictOn } from "../verdict.ts";
import { liveKey, type World } from "../plan/world.ts";
import { mountedClaim } from "../resources/claim.ts";
import { serviceName } from "../resources/service.ts";
import { type Finding, truth, unknown, untruth } from "./conditions.ts";
import type { Rollout } from "../plan/rollout.ts";
import { rolloutState } from "../plan/rollout_state.ts";
import { contestedFindings, policyFindings } from "./changed_by_others.ts";
import { podTrouble } from "./pods.ts";
import type { Decided } from "./summarise.ts";
import { rolledBack, shownOf, upgradeStopped } from "./trouble.ts";

/** Ready comes first: it carries the first failing reason, which `kubectl get -o wide` shows. */
export const findingsOf = (
  world: World,
  decided: Decided,
  deployment: JsonObject | undefined,
): ReadonlyArray<Finding> => {
  const config = configFinding(decided);
  const secrets = secretsFinding(decided);
  const updated = updatedFinding(world, decided, deployment);
  const available = availableFinding(world, decided, deployment);
  const rest = objectFindings(world, decided);
  // Waiting for a turn is no failure: what runs is what its owner asked for.
  const failing = [secrets, config, updated, available, ...rest].find(({ status, type, reason }) =>
    status === "False" && type !== "HealthCheck" && reason !== "UpgradeQueued"
  );
  const ready = decided.suspended
    ? untruth("Ready", "Suspended", "Reconciliation is suspended by spec.suspend")
    : failing === undefined
    ? [secrets, config, updated, available].some(({ status }) => status === "Unknown")
      ? unknown("Ready", "Progressing", "The server is being set up")
      : truth("Ready", "Ready", "The server is ready")
    : untruth("Ready", failing.reason, failing.message);
  const stalled = decided.failures.some(isStalling) ||
    ["RolledBack", "DeploymentUpdateFailed"].includes(updated.reason);
  const reconciling = !decided.suspended && !stalled && available.status !== "True" &&
    available.reason !== "ScaledToZero";
  return [
    ready,
    config,
    secrets,
    updated,
    available,
    ...rest,
    // kstatus: abnormal-true, gone when over.
    ...(decided.suspended ? [untruth("Reconciling", "Suspended", "Reconciliation is suspended by spec.suspend")] : []),
    ...(reconciling ? [truth("Reconciling", available.reason, available.message)] : []),
    ...(stalled
      ? [truth("Stalled", failing?.reason ?? "InvalidSpec", failing?.message ?? "The resource has errors")]
      : []),
    ...refusedFindings(decided),
    ...contestedFindings(decided),
    ...policyFindings(decided, world),
    ...(decided.rollout?.kind !== "hold" ? [] : [
      truth(
        "TemplateHeld",
        "OperatorChanged",
        "A new version of the operator would change the pods; what runs stays until the resource changes or " +
          `the annotation llamastack.io/rollout is set to ${decided.rollout.digest}`,
      ),
    ]),
  ];
};

/** Nothing goes on without somebody's help; what is tried again by itself does not stall. */
const isStalling = (failure: ReconcileFailure): boolean => {
  switch (failure._tag) {
    case "DeletionPending":
    case "WriteFailed":
      return false;
    case "ObjectRefused":
      return failure.blocks;
    default:
      return true;
  }
};

/** Abnormal-true: an object that the server can do without, and that the API server refuses. */
const refusedFindings = ({ failures }: Decided): ReadonlyArray<Finding> => {
  const refused = failures.filter((failure) => isUnwritten(failure) && !failure.blocks);
  return refused.length === 0 ? [] : [truth("ObjectRefused", "ObjectRefused", sentences(refused))];
};

const isUnwritten = (failure: ReconcileFailure): failure is Unwritten =>
  failure._tag === "ObjectRefused" || failure._tag === "WriteFailed";

const isConflict = (failure: ReconcileFailure): failure is OwnershipConflict | DeletionPending =>
  failure._tag === "OwnershipConflict" || failure._tag === "DeletionPending";

const REFERENCES = ["SecretNotFound", "SecretKeyMissing", "ConfigMapNotFound", "ConfigMapKeyMissing"];

const sentences = (failures: ReadonlyArray<ReconcileFailure>): string =>
  failures.map(({ message }) => message).join("; ");

const configFinding = ({ prepared, failures, causedByUpgrade }: Decided): Finding => {
  const own = failures.filter((failure) =>
    !REFERENCES.includes(failure._tag) && !isConflict(failure) && !isUnwritten(failure)
  );
  const first = own[0];
  if (first !== undefined) {
    const reason = causedByUpgrade ? "UpgradeConfigFailure" : verdictOn(first).reason;
    return untruth("ConfigGenerated", reason, sentences(own));
  }
  if (prepared === undefined) return unknown("ConfigGenerated", "Waiting", "Waits for the references of the resource");
  const { derived, resource } = prepared;
  switch (derived._tag) {
    case "Generated":
      return truth(
        "ConfigGenerated",
        "ConfigGenerationSucceeded",
        `Generated config.yaml with ${derived.config.providerCount} providers and ${
          resource.spec.resources?.models?.length ?? 0
        } models`,
      );
    case "Override":
      return truth(
        "ConfigGenerated",
        "OverrideConfigUsed",
        `Uses key ${derived.key} of ConfigMap ${derived.configMapName}`,
      );
    case "DistributionDefault":
      return truth("ConfigGenerated", "DistributionDefaultUsed", "The image runs the config that it brings along");
  }
};

const secretsFinding = ({ prepared, failures }: Decided): Finding => {
  const missing = failures.filter(({ _tag }) => REFERENCES.includes(_tag));
  const first = missing[0];
  if (first !== undefined) return untruth("SecretsResolved", verdictOn(first).reason, sentences(missing));
  if (prepared === undefined) return unknown("SecretsResolved", "Waiting", "Waits for a valid resource");
  return truth("SecretsResolved", "AllSecretsFound", `Resolved ${prepared.secretReferences} secret references`);
};

/** Undefined where no object of these kinds, or of the kinds without a condition of their own, is somebody else's. */
const conflictFinding = (
  type: string,
  failures: ReadonlyArray<ReconcileFailure>,
  kinds: ReadonlyArray<string> | undefined,
): Finding | undefined => {
  const found = failures.filter(isConflict).filter(({ kind }) =>
    kinds === undefined ? !["PersistentVolumeClaim", "Service"].includes(kind) : kinds.includes(kind)
  );
  const [first] = found;
  return first === undefined ? undefined : untruth(type, first._tag, sentences(found));
};

const updatedFinding = (
  world: World,
  { prepared, failures, rollout }: Decided,
  deployment: JsonObject | undefined,
): Finding => {
  const conflict = conflictFinding("DeploymentUpdated", failures, undefined);
  if (conflict !== undefined) return conflict;
  const unwritten = failures.filter((failure) => isUnwritten(failure) && failure.blocks);
  const [first] = unwritten;
  if (first !== undefined) return untruth("DeploymentUpdated", verdictOn(first).reason, sentences(unwritten));
  if (prepared === undefined || rollout === undefined) {
    return deployment === undefined
      ? unknown("DeploymentUpdated", "Waiting", "Nothing is deployed before the resource is free of errors")
      : unknown("DeploymentUpdated", "Unchanged", "The Deployment stays as it is until the resource is free of errors");
  }
  switch (rollout.kind) {
    case "queue":
      return untruth("DeploymentUpdated", "UpgradeQueued", queued(rollout, world));
    case "undo":
    case "undone":
      return untruth("DeploymentUpdated", "RolledBack", rolledBack(world, deployment, rollout, prepared));
    case "adopt":
    case "hold":
      return updatedWith(configIn(deployment));
    case "apply":
      return rollout.cause === "upgrade" && deployment !== undefined &&
          rolloutState(deployment, world.pods, world.replicaSets) === "failed"
        ? untruth("DeploymentUpdated", "DeploymentUpdateFailed", upgradeStopped(world, deployment, prepared))
        : updatedWith(prepared.blueprint.configFile?.configMapName);
  }
};

const updatedWith = (config: string | undefined): Finding =>
  truth(
    "DeploymentUpdated",
    "DeploymentUpdateSucceeded",
    config === undefined ? "Deployment updated" : `Deployment updated with config ${config}`,
  );

/** The generated ConfigMap that the pods of a Deployment mount. */
export const configIn = (deployment: JsonObject | undefined): string | undefined =>
  configMapsOf(templateSpec(deployment)).find((name) => /-config-[0-9a-f]{8}$/.test(name));

/** No counts: the sentence would change with every turn of another resource. */
const queued = (rollout: Extract<Rollout, { readonly kind: "queue" }>, world: World): string => {
  const { turn, waiting: { queue }, digest } = rollout;
  const way = `The annotation llamastack.io/rollout set to ${digest}, or an edit, does not wait`;
  if (turn?.kind !== "stopped") {
    return `The operator brings another image or base of "${queue}"; resources take it in turns, ` +
      `${turn?.max ?? world.operator.upgradeParallelism} at a time. ${way}`;
  }
  const [namespace] = turn.at.split("/");
  const own = namespace === stringAt(world.resource, "metadata", "namespace");
  return `The upgrade of "${queue}" stopped, since ${
    own ? turn.at : "a resource in another namespace"
  } did not become ready with it. ${way}`;
};

const availableFinding = (world: World, { prepared }: Decided, deployment: JsonObject | undefined): Finding => {
  if (deployment === undefined) {
    return prepared === undefined
      ? untruth("Available", "ReplicasUnavailable", "There is no Deployment")
      : unknown("Available", "RolloutInProgress", "The Deployment is being made");
  }
  const wanted = Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);
  const status = objectAt(deployment, "status");
  const available = Number(member(status, "availableReplicas") ?? 0);
  const said = `${available}/${wanted} replicas available with current config`;
  if (wanted === 0) return untruth("Available", "ScaledToZero", "0 replicas are asked for");
  // Pods of an older template serve, but not what the resource asks for.
  if (rolloutState(deployment, world.pods, world.replicaSets) === "complete") {
    return truth("Available", "MinimumReplicasAvailable", said);
  }
  const shown = shownOf(world, prepared);
  const rejected = listAt(status, "conditions").find((one) =>
    stringAt(one, "type") === "ReplicaFailure" && stringAt(one, "status") === "True"
  );
  if (rejected !== undefined) {
    const why = shown.text(stringAt(rejected, "message") ?? stringAt(rejected, "reason") ?? "no reason given");
    return untruth("Available", "PodsRejected", `Kubernetes could not create pods: ${why}. ${said}`);
  }
  const trouble = podTrouble(world.pods, shown);
  if (trouble !== undefined) return untruth("Available", trouble.reason, trouble.message);
  return untruth("Available", "RolloutInProgress", said);
};

const objectFindings = (world: World, { prepared, failures }: Decided): ReadonlyArray<Finding> => {
  const service = conflictFinding("ServiceReady", failures, ["Service"]);
  const claim = conflictFinding("StorageReady", failures, ["PersistentVolumeClaim"]);
  const name = stringAt(world.resource, "metadata", "name") ?? "";
  const live = world.live.get(liveKey("Service", serviceName(name)));
  const claimName = prepared === undefined ? undefined : mountedClaim(prepared.blueprint);
  const bound = claimName === undefined
    ? undefined
    : stringAt(world.live.get(liveKey("PersistentVolumeClaim", claimName)), "status", "phase");
  return [
    ...(service !== undefined
      ? [service]
      : live === undefined
      ? [unknown("ServiceReady", "Waiting", "The Service is not there yet")]
      : [truth("ServiceReady", "ServiceReady", "The Service is there")]),
    ...(claim !== undefined
      ? [claim]
      : claimName === undefined
      ? []
      : bound === "Bound"
      ? [truth("StorageReady", "StorageReady", `Claim ${claimName} is bound`)]
      : [unknown("StorageReady", "Waiting", `Claim ${claimName} is ${bound ?? "not there"} yet`)]),
    world.server?.version === undefined
      ? unknown("HealthCheck", "Waiting", "The server has not told its version")
      : truth("HealthCheck", "HealthCheckPassed", `The server answers with version ${world.server.version}`),
  ];
};
