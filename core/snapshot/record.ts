import { METRICS_ANNOTATION } from "../resources/deployment.ts";

/** Annotations of the Deployment: what its template was made from. They outlive the operator, so that a restart forgets nothing. */

/** Digest of the spec and of referenced ConfigMaps. */
export const USER_INPUTS_ANNOTATION = "llamastack.io/user-inputs-digest";
/** HMAC of the values of referenced Secret keys, and which key it was made with. */
export const SECRETS_INPUT_ANNOTATION = "llamastack.io/secrets-input-digest";
export const SECRET_KEY_ANNOTATION = "llamastack.io/hmac-key-id";
/** Digest of image and base: what a release of the operator pins. */
export const PINS_ANNOTATION = "llamastack.io/pins-digest";
/** Digest of the desired template; after a rollback, of the restored one. */
export const TEMPLATE_ANNOTATION = "llamastack.io/template-digest";
/** Digest of the last template whose pods became ready. */
export const LAST_GOOD_ANNOTATION = "llamastack.io/last-good-template";
/** HMAC of that template as the API server stored it, so that another ReplicaSet cannot imitate it. */
export const LAST_GOOD_PROOF_ANNOTATION = "llamastack.io/last-good-proof";
/** Digest of the template that was rolled back. */
export const ROLLED_BACK_ANNOTATION = "llamastack.io/rolled-back-template";
export const CAUSE_ANNOTATION = "llamastack.io/rollout-cause";
/** When an upgrade was applied, as RFC 3339; it holds a slot from then on, for a bounded time. */
export const UPGRADE_STARTED_ANNOTATION = "llamastack.io/upgrade-started";
/** Proof that the marks of an upgrade are the operator's own: others may edit a Deployment too. */
export const UPGRADE_PROOF_ANNOTATION = "llamastack.io/upgrade-proof";
/** Version of the server that the template runs, where it is known. */
export const SERVER_ANNOTATION = "llamastack.io/server-version";
export const OPERATOR_VERSION_ANNOTATION = "llamastack.io/operator-version";
/** Generation of the resource when its inputs last changed. */
export const GENERATION_ANNOTATION = "llamastack.io/generation";

/** Digest of the fields for which an adopted server has no NetworkPolicy (plan/kept_network.ts). */
export const OPEN_ANNOTATION = "llamastack.io/adopted-without-policy";

/** All of them, and whether the server has metrics by default (resources/deployment.ts). */
export const RECORD_ANNOTATIONS: ReadonlyArray<string> = [
  USER_INPUTS_ANNOTATION,
  SECRETS_INPUT_ANNOTATION,
  SECRET_KEY_ANNOTATION,
  PINS_ANNOTATION,
  TEMPLATE_ANNOTATION,
  LAST_GOOD_ANNOTATION,
  LAST_GOOD_PROOF_ANNOTATION,
  ROLLED_BACK_ANNOTATION,
  CAUSE_ANNOTATION,
  UPGRADE_STARTED_ANNOTATION,
  UPGRADE_PROOF_ANNOTATION,
  SERVER_ANNOTATION,
  OPERATOR_VERSION_ANNOTATION,
  GENERATION_ANNOTATION,
  OPEN_ANNOTATION,
  METRICS_ANNOTATION,
];

/** Annotation of the resource: the digest of a held or waiting template that may be applied (`rollout`). */
export const ROLLOUT_ANNOTATION = "llamastack.io/rollout";

/** The cause of the current template: an edit by the user, an upgrade of the operator, or the command `rollout`. */
export type Cause = "edit" | "upgrade" | "asked";
