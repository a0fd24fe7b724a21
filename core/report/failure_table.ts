/**
 * The consequences of each failure: one row for each class. A class without a row does not compile, and neither does an
 * incomplete row. The text of a failure is its `message`.
 *
 * It is over 300 lines because it is one table.
 */
import type { ConditionType } from "../api/conditions.ts";
import type { FailureReason } from "../api/reasons.ts";
import * as events from "../api/events.ts";
import {
  adviceForContent,
  adviceForEdit,
  adviceOnAllowance,
  adviceOnConfigMap,
  adviceOnConfigMapKey,
  adviceOnConflict,
  adviceOnDeletion,
  adviceOnFamilyChange,
  adviceOnLabels,
  adviceOnOverride,
  adviceOnProvider,
  adviceOnRefusal,
  adviceOnRefusedDeletion,
  adviceOnSecret,
  adviceOnSecretKey,
  adviceOnUnreadLabels,
  adviceOnUpgrade,
  adviceOnWrite,
  type Advise,
} from "./advice.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";

export interface Row<F> {
  /** For docs/conditions.md: what went wrong, as a clause. */
  readonly meaning: string;
  /** The reason in conditions, metrics and `lint -o json`. */
  readonly reason: FailureReason | ((failure: F) => FailureReason);
  /** When the operator retries: after a change of the resource or of a referenced object, or also with backoff. */
  readonly retry: "after a change" | "with backoff";
  /** Which condition reports it. */
  readonly condition: ConditionType | ((failure: F) => ConditionType);
  /** Whether the resource needs manual help (condition `Stalled`). */
  readonly stalls: boolean | ((failure: F) => boolean);
  /** Undefined: no Event, because it is over soon. */
  readonly event: ((sentence: string) => events.Note) | undefined;
  /** Who can fix it: the author of the resource, or the administrator of the cluster and the operator. */
  readonly owner: "author" | "administrator";
  /** What that person does. */
  readonly advice: Advise<F>;
}

type Rows = {
  readonly [Tag in ReconcileFailure["_tag"]]: Row<Extract<ReconcileFailure, { readonly _tag: Tag }>>;
};

/** Most failures to generate a config. */
const CONFIG = {
  retry: "after a change",
  condition: "ConfigGenerated",
  stalls: true,
  event: events.configGenerationFailed,
  owner: "author",
  advice: adviceForEdit,
} as const;

const REFERENCE = { ...CONFIG, condition: "SecretsResolved", event: events.secretResolutionFailed } as const;

/** The objects with a condition of their own; all others count for the Deployment. */
const conditionOfKind = ({ kind }: { readonly kind: string }): ConditionType =>
  CONDITIONS_OF_KINDS.get(kind) ?? "DeploymentUpdated";
const CONDITIONS_OF_KINDS: ReadonlyMap<string, ConditionType> = new Map([
  ["PersistentVolumeClaim", "StorageReady"],
  ["Service", "ServiceReady"],
  // The server is Ready without them.
  ["PodMonitor", "MetricsAvailable"],
  ["PrometheusRule", "MetricsAvailable"],
  ["HTTPRoute", "GatewayAccepted"],
  ["BackendTLSPolicy", "GatewayAccepted"],
]);

/** Without its Service a server cannot be reached; the other objects after the Deployment are additions. */
const conditionOfWrite = ({ blocks, kind }: { readonly blocks: boolean; readonly kind: string }): ConditionType =>
  blocks ? "DeploymentUpdated" : CONDITIONS_OF_KINDS.get(kind) ?? "ObjectRefused";

export const FAILURES: Rows = {
  SchemaMismatch: { meaning: "a field has the wrong type or shape, or is unknown", ...CONFIG, reason: "InvalidSpec" },
  RuleBroken: { meaning: "fields conflict with each other", ...CONFIG, reason: "InvalidSpec" },
  InvalidName: {
    meaning: "metadata.name is too long, or cannot be used in the names of the objects that the operator creates",
    ...CONFIG,
    reason: "InvalidName",
  },
  UnknownDistribution: {
    meaning: "spec.distribution.name is not a known distribution",
    ...CONFIG,
    reason: "UnknownDistribution",
  },
  BaseConfigRequired: {
    meaning: "a config must be generated for an image without a known base config",
    ...CONFIG,
    reason: "BaseConfigRequired",
  },
  ImageLabelsAwaited: {
    meaning: "the registry has not yet answered a request for the labels of the image",
    ...CONFIG,
    reason: "ImageLabelsAwaited",
    stalls: false,
    event: undefined,
    advice: adviceOnLabels,
  },
  ImageLabelsUnread: {
    meaning: "the labels of the image that the server runs, or of a requested digest, cannot be used",
    ...CONFIG,
    reason: "ImageLabelsUnread",
    advice: adviceOnUnreadLabels,
  },
  ExternalProviderUnfit: {
    meaning: "the labels of the image of an external provider show that it cannot be installed",
    ...CONFIG,
    condition: "ExternalProvidersReady",
    reason: "ExternalProviderFailed",
    advice: adviceOnProvider,
  },
  UnsupportedImageVersion: {
    meaning: "the labels of the image name a server version that is not supported",
    ...CONFIG,
    reason: "UnsupportedConfigVersion",
  },
  UnsupportedServer: {
    meaning: "the server version is unknown or not supported",
    ...CONFIG,
    reason: "UnsupportedConfigVersion",
  },
  ImageNotPublished: {
    meaning: "a new resource names a distribution of which no image is published any more",
    ...CONFIG,
    reason: "ImageNotPublished",
  },
  OverrideForOtherServerFamily: {
    meaning: "the operator's setting image-overrides names an image of another server family than the distribution",
    ...CONFIG,
    reason: "UnsupportedConfigVersion",
    owner: "administrator",
    advice: adviceOnOverride,
  },
  BaseUnreadable: { meaning: "the base config cannot be read", ...CONFIG, reason: "UnsupportedConfigVersion" },
  UnsupportedConfigVersion: {
    meaning: "the base config has a format that the server does not read",
    ...CONFIG,
    reason: "UnsupportedConfigVersion",
  },
  UnknownProviderType: {
    meaning: "a provider type does not exist on this server",
    ...CONFIG,
    reason: "UnknownProvider",
  },
  UnknownProvider: {
    meaning: "a model, or spec.vectorStores, names a provider that does not exist",
    ...CONFIG,
    reason: "UnknownProvider",
  },
  ProviderSwitchedOff: {
    meaning:
      "the resource uses a provider of the base config that is switched off, because an environment variable is not set",
    ...CONFIG,
    reason: "UnknownProvider",
  },
  UnknownModel: {
    meaning: "spec.vectorStores names a model that neither the resource nor the base config has",
    ...CONFIG,
    reason: "UnknownModel",
  },
  VariableNotSet: {
    meaning: "the config refers to an environment variable that nothing sets",
    ...CONFIG,
    reason: "VariableNotSet",
  },
  MissingProviderForResource: {
    meaning: "models, tools or shields have no provider that can serve them",
    ...CONFIG,
    reason: "MissingProviderForResource",
  },
  UnknownToolGroup: {
    meaning: "spec.resources.tools names a tool group that the server does not have",
    ...CONFIG,
    reason: "UnknownToolGroup",
  },
  EnvNameCollision: {
    meaning: "two references to Secrets would share one environment variable",
    ...CONFIG,
    reason: "EnvNameCollision",
  },
  NotSupportedByServer: {
    meaning: "the server does not support the feature",
    ...CONFIG,
    reason: "NotSupportedByServer",
  },
  NotAllowed: {
    meaning: "the resource requests something that a setting of the operator (`allow.*`) forbids",
    ...CONFIG,
    reason: "NotAllowed",
    advice: adviceOnAllowance,
  },
  MissingSetting: {
    meaning: "a required field of a provider is unset",
    ...CONFIG,
    reason: "ConfigGenerationFailed",
  },
  ForbiddenSetting: {
    meaning: "a provider type does not accept a field that is set",
    ...CONFIG,
    reason: "ConfigGenerationFailed",
  },
  SettingInvalid: {
    meaning: "a setting of a provider has a value that the server rejects",
    ...CONFIG,
    reason: "ConfigGenerationFailed",
  },
  UnusableEndpoint: { meaning: "the server cannot use an address", ...CONFIG, reason: "ConfigGenerationFailed" },
  ModelConflict: { meaning: "two models have the same id on the server", ...CONFIG, reason: "RegistryConflict" },
  MissingApi: { meaning: "a provider requires an API that is disabled", ...CONFIG, reason: "NotSupportedByServer" },
  SecretValueUnusable: {
    meaning:
      "the server would not receive the value of a Secret unchanged, for example because it looks like a number, or the value is " +
      "no certificate or private key where the server needs one",
    ...CONFIG,
    reason: "SecretValueUnusable",
    advice: adviceForContent("secret"),
  },
  ConfigTooLarge: {
    meaning: "the generated config.yaml does not fit into a ConfigMap",
    ...CONFIG,
    reason: "ConfigGenerationFailed",
  },
  TooManyReferences: {
    meaning: "the resource references too many Secrets and ConfigMaps",
    ...CONFIG,
    reason: "TooManyReferences",
  },
  ReferenceTooLarge: {
    meaning: "the Secrets or ConfigMaps that the resource uses are too large",
    ...CONFIG,
    reason: "ReferenceTooLarge",
  },
  OverrideConfigInvalid: {
    meaning: "the config.yaml of spec.overrideConfig is not valid",
    ...CONFIG,
    reason: "OverrideConfigInvalid",
    advice: adviceForContent("configmap"),
  },
  CaBundleInvalid: {
    meaning: "a CA bundle contains no valid certificates",
    ...CONFIG,
    reason: "ConfigGenerationFailed",
    advice: adviceForContent("configmap"),
  },
  ServerFamilyChangeLosesData: {
    meaning: "the new server could not read all data that the current server has stored ([moves.md](moves.md))",
    ...CONFIG,
    reason: "ServerFamilyChangeLosesData",
    advice: adviceOnFamilyChange,
  },
  RegistryConflict: {
    meaning:
      "a registered model, shield or other resource was changed in a way that the server rejects at its next start",
    ...CONFIG,
    reason: "RegistryConflict",
  },
  OlderServer: {
    meaning: "the change would replace a running server by an older version, which the resource does not ask for",
    ...CONFIG,
    condition: "DeploymentUpdated",
    reason: "OlderServer",
  },
  UpgradeConfigFailure: {
    meaning:
      "the operator can no longer generate the config, because its own version, settings, image or base config changed",
    ...CONFIG,
    reason: "UpgradeConfigFailure",
    event: events.upgradeConfigFailed,
    owner: "administrator",
    advice: adviceOnUpgrade,
  },
  SecretNotFound: {
    meaning: "a referenced Secret does not exist",
    ...REFERENCE,
    reason: "SecretNotFound",
    advice: adviceOnSecret,
  },
  SecretKeyMissing: {
    meaning: "a referenced Secret lacks a key",
    ...REFERENCE,
    reason: "SecretKeyMissing",
    advice: adviceOnSecretKey,
  },
  ConfigMapNotFound: {
    meaning: "a referenced ConfigMap does not exist",
    ...REFERENCE,
    reason: "ConfigMapNotFound",
    advice: adviceOnConfigMap,
  },
  ConfigMapKeyMissing: {
    meaning: "a referenced ConfigMap lacks a key",
    ...REFERENCE,
    reason: "ConfigMapKeyMissing",
    advice: adviceOnConfigMapKey,
  },
  OwnershipConflict: {
    meaning: "an object with a required name already exists and is not managed by this resource",
    reason: "OwnershipConflict",
    // Objects of others are not watched, so no event reports that the name is free.
    retry: "with backoff",
    condition: conditionOfKind,
    stalls: true,
    event: events.ownershipConflict,
    owner: "author",
    advice: adviceOnConflict,
  },
  DeletionPending: {
    meaning: "an object of a deleted resource of the same name still exists",
    reason: "DeletionPending",
    retry: "with backoff",
    condition: conditionOfKind,
    stalls: false,
    event: undefined,
    owner: "administrator",
    advice: adviceOnDeletion,
  },
  DeletionRefused: {
    meaning:
      "the API server, or a webhook that it calls, does not let the operator delete an object that is no longer required",
    reason: "DeletionRefused",
    retry: "with backoff",
    condition: "ObjectRefused",
    stalls: false,
    event: events.deletionRefused,
    owner: "administrator",
    advice: adviceOnRefusedDeletion,
  },
  WriteFailed: {
    meaning: "the API server, or a webhook that it calls, failed while the operator wrote an object",
    reason: "WriteFailed",
    retry: "with backoff",
    condition: conditionOfWrite,
    stalls: false,
    event: events.writeFailed,
    owner: "administrator",
    advice: adviceOnWrite,
  },
  ObjectRefused: {
    meaning: "the API server rejects an object, because of a field, a quota or a policy",
    reason: ({ blocks, kind }) => {
      if (blocks) return "DeploymentUpdateFailed";
      return kind === "PersistentVolumeClaim" ? "ClaimUpdateFailed" : "ObjectRefused";
    },
    // A quota may be raised and a webhook fixed without an edit of the resource.
    retry: "with backoff",
    condition: conditionOfWrite,
    stalls: ({ blocks }) => blocks,
    event: events.objectRefused,
    owner: "administrator",
    advice: adviceOnRefusal,
  },
};

/** The row of a failure. Each tag has the row of its own class, which TypeScript cannot follow through the index. */
export const rowOf = <F extends ReconcileFailure>(failure: F): Row<F> => FAILURES[failure._tag] as unknown as Row<F>;

export const reasonOf = (failure: ReconcileFailure): FailureReason => {
  const { reason } = rowOf(failure);
  return typeof reason === "string" ? reason : reason(failure);
};

export const conditionOf = (failure: ReconcileFailure): ConditionType => {
  const { condition } = rowOf(failure);
  return typeof condition === "string" ? condition : condition(failure);
};

export const isStalling = (failure: ReconcileFailure): boolean => {
  const { stalls } = rowOf(failure);
  return typeof stalls === "boolean" ? stalls : stalls(failure);
};

export const isRetried = (failure: ReconcileFailure): boolean => rowOf(failure).retry === "with backoff";
