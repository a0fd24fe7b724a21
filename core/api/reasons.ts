/** Every reason of a condition: of failures (report/failure_table.ts), of writes, and of states that are no failure. */

/** A write that the API server did not accept. */
export type WriteReason =
  | "DeletionRefused"
  | "WriteFailed"
  | "ObjectRefused"
  | "ClaimUpdateFailed"
  | "DeploymentUpdateFailed";

export type FailureReason =
  | WriteReason
  | "BaseConfigRequired"
  | "ConfigGenerationFailed"
  | "ConfigMapKeyMissing"
  | "ConfigMapNotFound"
  | "DeletionPending"
  | "EnvNameCollision"
  | "ExternalProviderFailed"
  | "ImageLabelsAwaited"
  | "ImageLabelsUnread"
  | "ImageNotPublished"
  | "InvalidName"
  | "InvalidSpec"
  | "MissingProviderForResource"
  | "NotAllowed"
  | "NotSupportedByServer"
  | "OlderServer"
  | "OverrideConfigInvalid"
  | "OwnershipConflict"
  | "ReferenceTooLarge"
  | "RegistryConflict"
  | "SecretKeyMissing"
  | "SecretNotFound"
  | "SecretValueUnusable"
  | "ServerFamilyChangeLosesData"
  | "TooManyReferences"
  | "UnknownDistribution"
  | "UnknownModel"
  | "UnknownProvider"
  | "UnknownToolGroup"
  | "UnsupportedConfigVersion"
  | "UpgradeConfigFailure"
  | "VariableNotSet";

/** Why pods are not ready. */
export type PodReason = typeof POD_REASONS[number];
export const POD_REASONS = [
  "CrashLoop",
  "ExternalProviderFailed",
  "ImagePullFailed",
  "PodsRejected",
  "Unschedulable",
] as const;

/** Reasons of states in which somebody may have to act. */
export type StateReason =
  | PodReason
  | "ChangedByAdmission"
  | "ChangedByOthers"
  | "ConfigMissing"
  | "GatewayRefused"
  | "GatewayUnavailable"
  | "MetricsUnavailable"
  | "NotAdopted"
  | "OperatorChanged"
  | "Progressing"
  | "ReplicasUnavailable"
  | "RolledBack"
  | "RolloutInProgress"
  | "ScaledToZero"
  | "Suspended"
  | "Unchanged"
  | "UpgradeFailed"
  | "UpgradeQueued"
  | "Waiting";

/** Reasons of conditions that need no attention. */
export type GoodReason =
  | "AllSecretsFound"
  | "ConfigGenerationSucceeded"
  | "DeploymentUpdateSucceeded"
  | "DistributionDefaultUsed"
  | "ExternalProvidersInstalled"
  | "HealthCheckPassed"
  | "GatewayAccepted"
  | "MetricsSent"
  | "MetricsServed"
  | "MinimumReplicasAvailable"
  | "OverrideConfigUsed"
  | "Ready"
  | "ServiceReady"
  | "StorageReady";

export type Reason = FailureReason | StateReason | GoodReason;
