/**
 * Digests that only the operator can compute. Each namespace has its own key, so that nobody can compare the digests of
 * another namespace with those of guessed values in their own.
 */
import * as Redacted from "effect/Redacted";
import { hmacSha256Hex, sha256Hex } from "../../data/digest.ts";
import { type JsonObject, sortedKeys } from "../../data/json.ts";
import type { RolloutRecord } from "../../snapshot/record.ts";

const namespaceKey = (hmacKey: Redacted.Redacted<string>, namespace: string): string =>
  hmacSha256Hex(Redacted.value(hmacKey), namespace);

/** Identifies a key without revealing anything about it; 16 hex digits. */
export const keyId = (hmacKey: Redacted.Redacted<string>, namespace: string): string =>
  sha256Hex(namespaceKey(hmacKey, namespace)).slice(0, 16);

/** Of the values of Secrets that the resources of a namespace use. */
export const secretsDigest = (
  hmacKey: Redacted.Redacted<string>,
  namespace: string,
  values: ReadonlyArray<readonly [string, Redacted.Redacted<string>]>,
): string =>
  hmacSha256Hex(
    namespaceKey(hmacKey, namespace),
    JSON.stringify(values.map(([name, value]) => [name, Redacted.value(value)])),
  );

/** Of the marks of an upgrade. `key` is the resource, `namespace/name`: marks copied from another one prove nothing. */
export const upgradeProof = (
  hmacKey: Redacted.Redacted<string>,
  key: string,
  { pins = "", upgradeStarted = "", rolledBack = "" }: RolloutRecord,
): string => hmacSha256Hex(Redacted.value(hmacKey), JSON.stringify(["upgrade", key, pins, upgradeStarted, rolledBack]));

/** Of the labels that a generated ConfigMap was made from (`annotation`), and of its content. */
export const labelsProof = (
  hmacKey: Redacted.Redacted<string>,
  key: string,
  annotation: string,
  data: JsonObject,
): string =>
  hmacSha256Hex(
    Redacted.value(hmacKey),
    JSON.stringify(["labels", key, annotation, sha256Hex(JSON.stringify(sortedKeys(data)))]),
  );

/** Of a pod template as the API server stored it; `digest` is that of the template that the operator applied. */
export const templateProof = (
  hmacKey: Redacted.Redacted<string>,
  key: string,
  digest: string,
  template: JsonObject,
): string => hmacSha256Hex(Redacted.value(hmacKey), JSON.stringify(["template", key, digest, sortedKeys(template)]));

/**
 * Whether the operator wrote what was recorded with this proof. Without the key, which only the operator and administrators can
 * read, as for a read-only command, it is believed.
 */
export const isProven = (
  hmacKey: Redacted.Redacted<string>,
  recorded: string | undefined,
  proof: () => string,
): boolean => Redacted.value(hmacKey) === "" || recorded === proof();
