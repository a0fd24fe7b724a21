/** The record that the operator keeps in annotations of the Deployment, and its only codec. */
import { type JsonObject, stringAt } from "../data/json.ts";
import { METRICS_ANNOTATION } from "../resources/deployment.ts";

/** Annotations of the Deployment: what its template was made from. They outlive the operator, so that a restart forgets nothing. */
export const RECORD_ANNOTATIONS = {
  /** Digest of the spec, of referenced ConfigMaps, and of the digest of the image that was asked for. */
  userInputs: "llamastack.io/user-inputs-digest",
  /** HMAC of the values of referenced Secret keys. */
  secretsInput: "llamastack.io/secrets-input-digest",
  /** Which key it was made with. */
  secretKey: "llamastack.io/hmac-key-id",
  /** Digest of image and base: what a release of the operator pins. */
  pins: "llamastack.io/pins-digest",
  /** Digest of the desired template; after a rollback, of the restored one. */
  template: "llamastack.io/template-digest",
  /** Digest of the last template whose pods became ready. */
  lastGood: "llamastack.io/last-good-template",
  /** HMAC of that template as the API server stored it, so that another ReplicaSet cannot imitate it. */
  lastGoodProof: "llamastack.io/last-good-proof",
  /** Digest of the template that was rolled back. */
  rolledBack: "llamastack.io/rolled-back-template",
  cause: "llamastack.io/rollout-cause",
  /** When an upgrade was applied, as RFC 3339; it holds a slot from then on, for a bounded time. */
  upgradeStarted: "llamastack.io/upgrade-started",
  /** Proof that the marks of an upgrade are the operator's own: others may edit a Deployment too. */
  upgradeProof: "llamastack.io/upgrade-proof",
  /** Version of the server that the template runs, where it is known. */
  server: "llamastack.io/server-version",
  operatorVersion: "llamastack.io/operator-version",
  /** Generation of the resource when its inputs last changed. */
  generation: "llamastack.io/generation",
  /** Digest of the fields for which an adopted server has no NetworkPolicy (plan/kept_network.ts). */
  open: "llamastack.io/adopted-without-policy",
  /** Whether the server has metrics by default (resources/deployment.ts). */
  metrics: METRICS_ANNOTATION,
} as const;

type Field = keyof typeof RECORD_ANNOTATIONS;

export type RolloutRecord = { readonly [Name in Field]?: (Name extends "cause" ? Cause : string) | undefined };

/** Of a Deployment, or of a ReplicaSet, to which the Deployment controller copies it. */
export const recordIn = (workload: JsonObject | undefined): RolloutRecord =>
  Object.fromEntries(
    Object.entries(RECORD_ANNOTATIONS).map((
      [field, name],
    ) => [field, stringAt(workload, "metadata", "annotations", name)]),
  );

export const annotationsOf = (record: RolloutRecord): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([field, value]) =>
      value === undefined ? [] : [[RECORD_ANNOTATIONS[field as Field], value]]
    ),
  );

/** Annotation of the resource: the digest of a held or waiting template that may be applied (`rollout`). */
export const ROLLOUT_ANNOTATION = "llamastack.io/rollout";

/** The cause of the current template: an edit by the user, an upgrade of the operator, or the command `rollout`. */
export type Cause = "edit" | "upgrade" | "asked";
