/**
 * The operator's own Secret, which only administrators may write: the HMAC key, and the last valid text of each entry of the
 * settings. An entry that becomes invalid keeps its value also when another process reads it.
 */
import * as Result from "effect/Result";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { HMAC_SECRET } from "../api/own_objects.ts";
import type { ValidTexts } from "./settings.ts";

/** In base64. */
const HMAC_KEY = "key";
/** Texts by the key of their entry, in JSON. */
const VALID_SETTINGS = "valid-settings";

/** The HMAC key as it is stored; undefined where there is none. */
export const keyIn = (secret: JsonObject | undefined): string | undefined =>
  stringAt(secret, "data", HMAC_KEY) || undefined;

export const withKey = (secret: JsonObject, key: string): JsonObject => withEntry(secret, HMAC_KEY, key);

/** None where the Secret has none, or something else. */
export const validTextsIn = (secret: JsonObject | undefined): ValidTexts => {
  const read = Result.try(() => JSON.parse(decoded(stringAt(secret, "data", VALID_SETTINGS) ?? "")) as Json);
  const texts = Result.getOrElse(read, () => null);
  return isObject(texts)
    ? Object.fromEntries(Object.entries(texts).flatMap(([key, text]) => typeof text === "string" ? [[key, text]] : []))
    : {};
};

export const withValidTexts = (secret: JsonObject, texts: ValidTexts): JsonObject =>
  withEntry(secret, VALID_SETTINGS, encoded(JSON.stringify(texts)));

const withEntry = (secret: JsonObject, entry: string, base64: string): JsonObject => ({
  ...secret,
  data: { ...objectAt(secret, "data"), [entry]: base64 },
});

export const isSameTexts = (texts: ValidTexts, others: ValidTexts): boolean =>
  Object.keys({ ...texts, ...others }).every((key) => texts[key] === others[key]);

export const ownSecret = (namespace: string) => ({ apiVersion: "v1", kind: "Secret", namespace, name: HMAC_SECRET });

const decoded = (base64: string): string => new TextDecoder().decode(Uint8Array.fromBase64(base64));
const encoded = (text: string): string => new TextEncoder().encode(text).toBase64();
