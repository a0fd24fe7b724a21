/** The inputs of a resource's objects, as digests: comparing them identifies who changed something. */
import type { Resource } from "../api/decode.ts";
import type { Derived } from "../config/derive.ts";
import { sha256Hex } from "../data/digest.ts";
import { put, sortedKeys } from "../data/json.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";
import { keyId } from "./rollout/keyed_digests.ts";
import type { RolloutRecord } from "../snapshot/record.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";
import { withoutDefaults } from "./written_defaults.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Digests of what the user decides. */
export interface Inputs {
  /** Spec without written defaults, content of referenced ConfigMaps, and the digest of the image that was asked for. */
  readonly user: string;
  /** HMAC of the values of referenced Secret keys. */
  readonly secrets: string;
  /** Whether a change of these values restarts the pods (`restartPolicyOnSecretChange`). */
  readonly followsSecrets: boolean;
  /** Which key that HMAC was made with. */
  readonly secretKey: string;
}

/** What of referenced objects takes part in the digests. */
export interface InputContent {
  readonly namespace: string;
  readonly configMapDigest: string;
  /** HMAC of the values of Secrets that the resource uses. */
  readonly secretsDigest: string;
}

/**
 * `suspend` and the number of pods are not inputs of the template: changing them restarts no pod and ends no upgrade.
 */
export const inputsOf = ({ name, spec }: Resource, snapshot: Sources, content: InputContent): Inputs => {
  const raw = put(liveResource(snapshot.resource).spec, ["workload", "replicas"], undefined);
  const kept = withoutDefaults(put(raw, ["suspend"], undefined), { name, namespace: content.namespace });
  const digest = liveObject(snapshot.resource).annotations[IMAGE_DIGEST_ANNOTATION];
  return {
    user: sha256Hex(
      JSON.stringify([sortedKeys(kept), content.configMapDigest, ...(digest === undefined ? [] : [digest])]),
    ),
    secrets: content.secretsDigest,
    followsSecrets: spec.workload?.restartPolicyOnSecretChange !== "Never",
    secretKey: keyId(snapshot.operator.hmacKey, content.namespace),
  };
};

/** Of what the operator's release decides: image and base. */
export const pinsOf = ({ distribution }: Derived): string => {
  const content = distribution.base?.content;
  return sha256Hex(JSON.stringify([distribution.image, typeof content === "string" ? sha256Hex(content) : ""]));
};

/**
 * Whether the user's inputs differ from the recorded ones: those that the pods follow (`byUser`), or any (`isEdited`). Values of Secrets are compared by their HMAC; under another key
 * (the old one was lost) they cannot be compared, which is the operator's trouble and not an edit.
 */
export const inputsChanged = (
  { user, secrets, secretKey, followsSecrets }: Inputs,
  record: RolloutRecord,
): { readonly byUser: boolean; readonly byKey: boolean; readonly isEdited: boolean } => {
  const otherKey = record.secretKey !== secretKey;
  const otherSecrets = record.secretsInput !== secrets;
  const otherSpec = record.userInputs !== user;
  const otherValues = otherSecrets && !otherKey;
  return {
    byUser: otherSpec || otherValues && followsSecrets,
    byKey: otherSecrets && otherKey && followsSecrets,
    isEdited: otherSpec || otherValues,
  };
};
