/**
 * What follows from each failure: one row for each class. A class without a row does not compile, and neither does a row that
 * leaves something out. The sentence of a failure is its `message`.
 */
import type { ConditionType } from "../status/conditions.ts";
import * as events from "../status/events.ts";
import {
  adviceForContent,
  adviceForEdit,
  adviceOnConfigMap,
  adviceOnConfigMapKey,
  adviceOnConflict,
  adviceOnDeletion,
  adviceOnRefusal,
  adviceOnSecret,
  adviceOnSecretKey,
  adviceOnUpgrade,
  adviceOnWrite,
  type Advise,
} from "./advice.ts";
import type { ReconcileFailure } from "./reconcile_failure.ts";

export interface Row<F> {
  /** The word that conditions, metrics and `lint -o json` carry. */
  readonly reason: string | ((failure: F) => string);
  /** When the operator tries again: once the resource or what it names changed, or after growing pauses as well. */
  readonly retry: "after a change" | "with growing pauses";
  /** Which condition reports it. */
  readonly condition: ConditionType | ((failure: F) => ConditionType);
  /** Whether nothing goes on without somebody's help (condition `Stalled`). */
  readonly stalls: boolean | ((failure: F) => boolean);
  /** Undefined: it is over soon, and not worth an Event. */
  readonly event: ((sentence: string) => events.Note) | undefined;
  /** Who can end it: the author of the resource, or who runs the cluster and the operator. */
  readonly owner: "author" | "administrator";
  /** What that person does. */
  readonly advice: Advise<F>;
}

type Rows = {
  readonly [Tag in ReconcileFailure["_tag"]]: Row<Extract<ReconcileFailure, { readonly _tag: Tag }>>;
};

/** Of most failures to make a config. */
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
  kind === "PersistentVolumeClaim" ? "StorageReady" : kind === "Service" ? "ServiceReady" : "DeploymentUpdated";

const conditionOfWrite = ({ blocks }: { readonly blocks: boolean }): ConditionType =>
  blocks ? "DeploymentUpdated" : "ObjectRefused";

export const FAILURES: Rows = {
  SchemaMismatch: { ...CONFIG, reason: "InvalidSpec" },
  RuleBroken: { ...CONFIG, reason: "InvalidSpec" },
  InvalidName: { ...CONFIG, reason: "InvalidName" },
  UnknownDistribution: { ...CONFIG, reason: "UnknownDistribution" },
  BaseConfigRequired: { ...CONFIG, reason: "BaseConfigRequired" },
  UnsupportedServer: { ...CONFIG, reason: "UnsupportedConfigVersion" },
  OverrideOfAnotherLine: { ...CONFIG, reason: "UnsupportedConfigVersion", owner: "administrator" },
  BaseUnreadable: { ...CONFIG, reason: "UnsupportedConfigVersion" },
  UnsupportedConfigVersion: { ...CONFIG, reason: "UnsupportedConfigVersion" },
  UnknownProviderType: { ...CONFIG, reason: "UnknownProvider" },
  UnknownProvider: { ...CONFIG, reason: "UnknownProvider" },
  MissingProviderForResource: { ...CONFIG, reason: "MissingProviderForResource" },
  EnvNameCollision: { ...CONFIG, reason: "EnvNameCollision" },
  NotSupportedOnLine: { ...CONFIG, reason: "NotSupportedOnLine" },
  NotAllowed: { ...CONFIG, reason: "NotAllowed" },
  NotBuiltYet: { ...CONFIG, reason: "NotSupportedOnLine" },
  MissingSetting: { ...CONFIG, reason: "ConfigGenerationFailed" },
  ForbiddenSetting: { ...CONFIG, reason: "ConfigGenerationFailed" },
  UnusableEndpoint: { ...CONFIG, reason: "ConfigGenerationFailed" },
  ModelConflict: { ...CONFIG, reason: "RegistryConflict" },
  MissingApi: { ...CONFIG, reason: "NotSupportedOnLine" },
  SecretValueUnusable: { ...CONFIG, reason: "SecretValueUnusable", advice: adviceForContent("secret") },
  ConfigTooLarge: { ...CONFIG, reason: "ConfigGenerationFailed" },
  TooManyReferences: { ...CONFIG, reason: "TooManyReferences" },
  ReferenceTooLarge: { ...CONFIG, reason: "ReferenceTooLarge" },
  OverrideConfigInvalid: { ...CONFIG, reason: "OverrideConfigInvalid", advice: adviceForContent("configmap") },
  CaBundleInvalid: { ...CONFIG, reason: "ConfigGenerationFailed", advice: adviceForContent("configmap") },
  LineChangeLosesData: { ...CONFIG, reason: "LineChangeLosesData" },
  RegistryConflict: { ...CONFIG, reason: "RegistryConflict" },
  UpgradeConfigFailure: {
    ...CONFIG,
    reason: "UpgradeConfigFailure",
    event: events.upgradeConfigFailed,
    owner: "administrator",
    advice: adviceOnUpgrade,
  },
  SecretNotFound: { ...REFERENCE, reason: "SecretNotFound", advice: adviceOnSecret },
  SecretKeyMissing: { ...REFERENCE, reason: "SecretKeyMissing", advice: adviceOnSecretKey },
  ConfigMapNotFound: { ...REFERENCE, reason: "ConfigMapNotFound", advice: adviceOnConfigMap },
  ConfigMapKeyMissing: { ...REFERENCE, reason: "ConfigMapKeyMissing", advice: adviceOnConfigMapKey },
  OwnershipConflict: {
    reason: "OwnershipConflict",
    // Objects of others are not watched: nobody tells when the name becomes free.
    retry: "with growing pauses",
    condition: conditionOfKind,
    stalls: true,
    event: events.ownershipConflict,
    owner: "author",
    advice: adviceOnConflict,
  },
  DeletionPending: {
    reason: "DeletionPending",
    retry: "with growing pauses",
    condition: conditionOfKind,
    stalls: false,
    event: undefined,
    owner: "administrator",
    advice: adviceOnDeletion,
  },
  WriteFailed: {
    reason: "WriteFailed",
    retry: "with growing pauses",
    condition: conditionOfWrite,
    stalls: false,
    event: events.writeFailed,
    owner: "administrator",
    advice: adviceOnWrite,
  },
  ObjectRefused: {
    reason: ({ blocks }) => blocks ? "DeploymentUpdateFailed" : "ObjectRefused",
    // A quota may be raised and a webhook fixed without an edit of the resource.
    retry: "with growing pauses",
    condition: conditionOfWrite,
    stalls: ({ blocks }) => blocks,
    event: events.objectRefused,
    owner: "administrator",
    advice: adviceOnRefusal,
  },
};

/** The row of a failure. Each tag has the row of its own class, which TypeScript cannot follow through the index. */
export const rowOf = <F extends ReconcileFailure>(failure: F): Row<F> => FAILURES[failure._tag] as unknown as Row<F>;

export const reasonOf = (failure: ReconcileFailure): string => {
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

export const isRetried = (failure: ReconcileFailure): boolean => rowOf(failure).retry === "with growing pauses";
