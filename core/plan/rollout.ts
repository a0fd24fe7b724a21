/** Whether a changed pod template is applied now, or held: who caused the change decides (R34). */
import { sha256Hex } from "../digest.ts";
import { type JsonObject, objectAt, stringAt } from "../json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import type { Prepared } from "./prepare.ts";

/** Annotations of the Deployment: what its template was made from. */
export const USER_INPUTS_ANNOTATION = "llamastack.io/user-inputs-digest";
export const PINS_ANNOTATION = "llamastack.io/pins-digest";
export const TEMPLATE_ANNOTATION = "llamastack.io/template-digest";
export const OPERATOR_VERSION_ANNOTATION = "llamastack.io/operator-version";
/** Generation of the resource when its Deployment was last applied. */
export const GENERATION_ANNOTATION = "llamastack.io/generation";
/** Annotation of the resource: the digest of a held template that may be applied (`rollout`). */
export const ROLLOUT_ANNOTATION = "llamastack.io/rollout";

export type Rollout =
  /** The template that is wanted goes into the cluster. */
  | { readonly kind: "apply"; readonly why: string }
  /** Only the operator changed: what runs stays until somebody asks. */
  | { readonly kind: "hold"; readonly digest: string };

export const templateDigest = (deployment: JsonObject): string =>
  sha256Hex(JSON.stringify(objectAt(deployment, "spec", "template")));

export const rolloutOf = (
  prepared: Prepared,
  live: JsonObject | undefined,
  resource: JsonObject,
  policy: "Held" | "Paced",
): Rollout => {
  if (live === undefined) return { kind: "apply", why: "there is no Deployment yet" };
  const recorded = (name: string) => stringAt(live, "metadata", "annotations", name);
  const digest = templateDigest(prepared.objects.deployment);
  if (recorded(TEMPLATE_ANNOTATION) === digest) return { kind: "apply", why: "the template is the same" };
  if (recorded(USER_INPUTS_ANNOTATION) !== prepared.userInputs) {
    return { kind: "apply", why: "the resource or what it names changed" };
  }
  if (recorded(PINS_ANNOTATION) !== prepared.pins) {
    return { kind: "apply", why: "the image or base of the distribution changed" };
  }
  if (policy === "Paced") return { kind: "apply", why: "the operator changed and rolls by itself" };
  return stringAt(resource, "metadata", "annotations", ROLLOUT_ANNOTATION) === digest
    ? { kind: "apply", why: "the rollout was asked for" }
    : { kind: "hold", digest };
};

/** The Deployment with the record of what it was made from. */
export const recorded = (prepared: Prepared, operatorVersion: string, generation: number): Manifest => {
  const { deployment } = prepared.objects;
  const annotations = {
    ...objectAt(deployment.metadata, "annotations"),
    [USER_INPUTS_ANNOTATION]: prepared.userInputs,
    [PINS_ANNOTATION]: prepared.pins,
    [TEMPLATE_ANNOTATION]: templateDigest(deployment),
    [OPERATOR_VERSION_ANNOTATION]: operatorVersion,
    [GENERATION_ANNOTATION]: String(generation),
  };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
};
