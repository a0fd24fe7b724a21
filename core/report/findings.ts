/** The conditions after a reconciliation, each with reason and message, in the order of the status. */
import { availableFinding, incompleteFinding } from "./availability.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import { type JsonObject } from "../data/json.ts";
import { amount } from "../data/quantity.ts";
import { conditionOf, isStalling, reasonOf } from "./failure_table.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
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
import { serverName } from "../config/servers/families/families.ts";
import { keptFields } from "../plan/kept_claim.ts";
import type { NewerServer } from "../plan/rollout/newer_server.ts";
import { type Warning, warningLine } from "../failure/warning.ts";
import type { Reason } from "../api/reasons.ts";
import type { Decided } from "./decided.ts";
import { updatedFinding } from "./deployment_updated.ts";
import { externalFindings, type ExternalStates } from "./external_providers.ts";
import { gatewayFindings, withKeptExposure, withNeededVersion } from "./gateway.ts";
import { metricsFindings } from "./metrics.ts";
import { contestedFindings, policyFindings } from "./changed_by_others.ts";
import { liveClaim } from "../snapshot/live_claim.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** The parts that Ready, Reconciling and Stalled summarise. */
interface Parts {
  readonly config: Finding;
  readonly secrets: Finding;
  readonly updated: Finding;
  readonly available: Finding;
  /** Why not all of the wanted pods are available: Ready means all of them, Available at least one. */
  readonly incomplete: Finding | undefined;
  readonly objects: ReadonlyArray<Finding>;
}

/** Ready comes first: it carries the first failing reason, which `kubectl get -o wide` shows. */
export const findingsOf = (
  snapshot: ClusterSnapshot,
  decided: Decided,
  deployment: LiveDeployment | undefined,
  external: ExternalStates,
): ReadonlyArray<Finding> => {
  const parts: Parts = {
    config: configFinding(decided),
    secrets: secretsFinding(decided),
    updated: failureFinding("DeploymentUpdated", decided.failures) ?? updatedFinding(snapshot, decided, deployment),
    available: availableFinding(snapshot, decided, deployment),
    incomplete: deployment === undefined ? undefined : incompleteFinding(snapshot, decided, deployment),
    objects: [...objectFindings(snapshot, decided), ...externalFindings(external)],
  };
  const failing = failingPart(parts);
  const stalled = stalledFindings(decided, parts, failing);
  return [
    readyFinding(decided, parts, failing),
    parts.config,
    parts.secrets,
    parts.updated,
    parts.available,
    // Under the name that readers of v1alpha1 wait for.
    { ...parts.available, type: "DeploymentReady" },
    ...parts.objects,
    ...reconcilingFindings(decided, parts, stalled.length > 0),
    ...stalled,
    ...rejectedObjectFindings(decided),
    ...contestedFindings(decided),
    ...policyFindings(decided, snapshot),
    ...failedOr("MetricsAvailable", decided, metricsFindings(decided)),
    ...failedOr("GatewayAccepted", decided, gatewayFindings(snapshot, decided)).map(withNeededVersion).map(
      withKeptExposure(snapshot, decided),
    ),
    ...heldFindings(decided),
  ];
};

/** Waiting for an upgrade slot is not a failure: the running Deployment is what its owner requested. */
const NOT_FAILING: ReadonlySet<Reason> = new Set(["UpgradeQueued", "ScaledToZero"]);

const failingPart = ({ secrets, config, updated, available, objects }: Parts): Finding | undefined =>
  // Without a provider there are no pods, and not the other way round.
  [
    ...[secrets, config, updated, ...objects.filter(isOfProviders), available],
    ...objects.filter((finding) => !isOfProviders(finding)),
  ].find(({ status, type, reason }) => status === "False" && type !== "HealthCheck" && !NOT_FAILING.has(reason));

const isOfProviders = ({ type }: Finding): boolean => type === "ExternalProvidersReady";

const readyFinding = (
  { suspended }: Decided,
  { config, secrets, updated, available, incomplete }: Parts,
  failing: Finding | undefined,
): Finding => {
  if (suspended) return conditionFalse("Ready", "Suspended", SUSPENDED);
  if (failing !== undefined) return conditionFalse("Ready", failing.reason, failing.message);
  if (available.reason === "ScaledToZero") return conditionTrue("Ready", "ScaledToZero", available.message);
  if (incomplete !== undefined) return conditionFalse("Ready", incomplete.reason, incomplete.message);
  return [config, secrets, updated, available].some(({ status }) => status === "Unknown")
    ? conditionUnknown("Ready", "Progressing", "Setting up the server")
    : conditionTrue("Ready", "Ready", "The server is ready");
};

const SUSPENDED = "Reconciliation is suspended by spec.suspend";

/** As kstatus reads it: present while the operator or Kubernetes is working. */
const reconcilingFindings = (
  { suspended }: Decided,
  { available, incomplete }: Parts,
  isStalled: boolean,
): ReadonlyArray<Finding> => {
  if (suspended) return [conditionFalse("Reconciling", "Suspended", SUSPENDED)];
  const isComplete = available.status === "True" && incomplete === undefined;
  if (isStalled || isComplete || available.reason === "ScaledToZero") return [];
  const { reason, message } = incomplete ?? available;
  return [conditionTrue("Reconciling", reason, message)];
};

/** Rollouts that only an edit, or an administrator, can continue. */
const STALLING: ReadonlySet<Reason> = new Set(["ConfigMissing", "RolledBack", "UpgradeFailed"]);

/** As kstatus reads it: present while somebody has to act. */
const stalledFindings = (
  { failures }: Decided,
  { updated }: Parts,
  failing: Finding | undefined,
): ReadonlyArray<Finding> =>
  !failures.some(isStalling) && !STALLING.has(updated.reason) ? [] : [
    conditionTrue("Stalled", failing?.reason ?? "InvalidSpec", failing?.message ?? "The resource has errors"),
  ];

const older = ({ distribution, running, ours, image }: NewerServer): string =>
  `Distribution "${distribution}" is ${serverName(ours)} here, which is older than the running ${
    serverName(running)
  }; ` +
  `set spec.distribution.image to "${image}" to keep it`;

const heldFindings = ({ rollout }: Decided): ReadonlyArray<Finding> => {
  if (rollout?.kind !== "hold") return [];
  const asked = `its annotation llamastack.io/rollout is set to ${rollout.digest}`;
  const message = rollout.newer === undefined
    ? "The current version of the operator would change the pods. The running Deployment is unchanged until the resource " +
      `changes, or ${asked}`
    // An edit alone would not choose the older server (OlderServer).
    : `${
      older(rollout.newer)
    }. The running Deployment is unchanged, and other edits are refused, unless ${asked}, which ` +
      "changes to the older server";
  return [conditionTrue("TemplateHeld", "OperatorChanged", message)];
};

/** The failures that a condition reports, as that condition; undefined where it has none. */
const failureFinding = (type: ConditionType, failures: ReadonlyArray<ReconcileFailure>): Finding | undefined => {
  const reported = failures.filter((failure) => conditionOf(failure) === type);
  const [first] = reported;
  return first === undefined
    ? undefined
    : conditionFalse(type, reasonOf(first), [...new Set(reported.map(({ message }) => message))].join("; "));
};

/** What is wrong with the objects that the condition is about comes first: others speak of objects that were to be different. */
const failedOr = (
  type: ConditionType,
  { failures }: Decided,
  otherwise: ReadonlyArray<Finding>,
): ReadonlyArray<Finding> => {
  const failed = failureFinding(type, failures);
  return failed === undefined ? otherwise : [failed];
};

/** Abnormal-true: an object that the server can do without, and that the API server rejects. */
const rejectedObjectFindings = ({ failures }: Decided): ReadonlyArray<Finding> => {
  const rejected = failureFinding("ObjectRefused", failures);
  return rejected === undefined ? [] : [conditionTrue("ObjectRefused", rejected.reason, rejected.message)];
};

const configFinding = ({ prepared, failures, warnings }: Decided): Finding => {
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
        withWarnings(
          `Using ${derived.key === undefined ? "" : `key ${derived.key} of `}ConfigMap ${derived.configMapName}`,
          warnings,
        ),
      );
    case "DistributionDefault":
      return conditionTrue(
        "ConfigGenerated",
        "DistributionDefaultUsed",
        withWarnings("Using the config built into the image", warnings),
      );
  }
};

/** `status.configGeneration` lists them as well. */
const withWarnings = (message: string, warnings: ReadonlyArray<Warning>): string =>
  [message, ...warnings.map(warningLine)].join(". ");

const secretsFinding = ({ prepared, failures }: Decided): Finding => {
  const failed = failureFinding("SecretsResolved", failures);
  if (failed !== undefined) return failed;
  if (prepared === undefined) return conditionUnknown("SecretsResolved", "Waiting", "Waiting for a valid resource");
  return conditionTrue("SecretsResolved", "AllSecretsFound", `Resolved ${prepared.secretReferences} secret references`);
};

const objectFindings = (snapshot: ClusterSnapshot, decided: Decided): ReadonlyArray<Finding> => [
  serviceFinding(snapshot, decided),
  ...claimFindings(snapshot, decided),
  snapshot.server?.version === undefined
    ? conditionUnknown("HealthCheck", "Waiting", "Waiting for the server to report its version")
    : conditionTrue(
      "HealthCheck",
      "HealthCheckPassed",
      `The server reports version ${snapshot.server.version}${isAuthenticating(snapshot) ? NOT_LISTED : ""}`,
    ),
];

const isAuthenticating = ({ resource }: ClusterSnapshot): boolean => liveResource(resource).hasAuth;

const NOT_LISTED =
  ". Its providers and models are not listed: with spec.auth it answers only callers that it knows, and the operator " +
  "sends it no credential";

const serviceFinding = ({ resource, live }: ClusterSnapshot, { failures }: Decided): Finding => {
  const failed = failureFinding("ServiceReady", failures);
  if (failed !== undefined) return failed;
  const { name } = liveObject(resource);
  return live.has(liveKey("Service", serviceName(name)))
    ? conditionTrue("ServiceReady", "ServiceReady", "The Service exists")
    : conditionUnknown("ServiceReady", "Waiting", "Creating the Service");
};

/** None for a server without a claim, and for a claim of somebody else: nobody reads it, and pods that wait for it say so. */
const claimFindings = ({ live }: ClusterSnapshot, { prepared, failures }: Decided): ReadonlyArray<Finding> => {
  const failed = failureFinding("StorageReady", failures);
  if (failed !== undefined) return [failed];
  const name = prepared === undefined ? undefined : mountedClaim(prepared.blueprint);
  if (name === undefined) return [];
  const claim = live.get(liveKey("PersistentVolumeClaim", name));
  const storage = prepared?.resource.spec.workload?.storage;
  if (claim === undefined && storage?.existingClaim !== undefined) return [];
  const phase = claim === undefined ? undefined : liveClaim(claim).phase;
  const kept = claim === undefined || storage === undefined ? [] : keptFields(storage, claim).map(warningLine);
  const message = (state: string) => [`PersistentVolumeClaim ${name} ${state}`, ...kept].join(". ");
  if (claim !== undefined && phase === "Bound") {
    return [conditionTrue("StorageReady", "StorageReady", message(`is bound${growth(claim)}`))];
  }
  return [
    conditionUnknown("StorageReady", "Waiting", message(phase === undefined ? "does not exist yet" : `is ${phase}`)),
  ];
};

/** The API server accepts a size before there is a volume of it. */
const growth = (claim: JsonObject): string => {
  const { capacity: has, size: wanted } = liveClaim(claim);
  return has === undefined || wanted === undefined || (amount(has) ?? 0) >= (amount(wanted) ?? 0)
    ? ""
    : `, and grows from ${has} to ${wanted}`;
};
