/**
 * The credentials of a resource for its image: of the pull Secrets of its pods, of the default ServiceAccount of its
 * namespace, and of the operator's own Secret. They are read when they are needed, and kept nowhere.
 */
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { type Credential, credentialsOf, type Entries, entriesOf, keyringOf } from "../../core/image/credentials.ts";
import { imageName, repositoryOf } from "../../core/data/image_reference.ts";
import { placesOf } from "../../core/operator/registries.ts";
import { ANSWER_BOUNDS, readJson } from "../../core/data/json_text.ts";
import { REGISTRY_SECRET } from "../../core/api/own_objects.ts";
import { accountPullSecrets, type LivePullSecret, livePullSecret } from "../../core/snapshot/live_pull_secret.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { CREDENTIALS_MAX, PULL_SECRET_CHARACTERS_MAX, PULL_SECRET_ENTRIES_MAX, PULL_SECRETS_MAX } from "./limits.ts";

/** Credentials for each place of an image: its own registry and mirrors, as `host/path`. */
export type PlaceCredentials = ReadonlyMap<string, ReadonlyArray<Credential>>;

/** Of each Secret that counts for a question, whatever its image is; they may hold very many entries. */
export type Keyrings = ReadonlyArray<ReturnType<typeof keyringOf>>;

/** What cannot be read gives none, as with the kubelet. */
export const keyringsFor = Effect.fnUntraced(function* (question: ImageQuestion, operatorNamespace: string) {
  const { namespace, serviceAccount, pullSecrets } = question;
  const ofPods = pullSecrets.length > 0 || serviceAccount === undefined
    ? pullSecrets
    : yield* secretsOf(namespace, serviceAccount);
  const usual = serviceAccount === DEFAULT_ACCOUNT ? [] : yield* secretsOf(namespace, DEFAULT_ACCOUNT);
  const names = [
    ...[...new Set([...ofPods, ...usual])].slice(0, PULL_SECRETS_MAX).map((name) => ({ namespace, name })),
    // Whoever vouches for the registry by a CA bundle of his own does not get the operator's passwords.
    ...(vouches(question) ? [] : [{ namespace: operatorNamespace, name: REGISTRY_SECRET }]),
  ];
  const keyrings: Keyrings = yield* Effect.forEach(
    names,
    (name) => Effect.map(entriesIn(name), (entries) => keyringOf([entries ?? new Map()])),
  );
  return keyrings;
});

/** Questions with one key have the same keyrings. */
export const keyringsKey = (question: ImageQuestion): string =>
  JSON.stringify([question.namespace, question.serviceAccount ?? null, question.pullSecrets, vouches(question)]);

const vouches = ({ authorities, registries }: ImageQuestion): boolean => authorities !== registries.authorities;

/** Only those that apply to the image are kept: a tenant chooses how much his Secrets contain. */
export const credentialsIn = (keyrings: Keyrings, question: ImageQuestion): PlaceCredentials => {
  const places = placesOf(repositoryOf(imageName(question.reference)), question.registries).map(imageName);
  return new Map(places.map((place) => [
    repositoryOf(place),
    keyrings.flatMap((keyring) => credentialsOf(place, keyring)).slice(0, CREDENTIALS_MAX),
  ]));
};

const DEFAULT_ACCOUNT = "default";

const readable = Effect.fnUntraced(function* (kind: string, namespace: string, name: string) {
  return yield* (yield* Cluster).get({ apiVersion: "v1", kind, namespace, name }).pipe(
    Effect.orElseSucceed(() => undefined),
  );
});

const secretsOf = (namespace: string, account: string) =>
  Effect.map(readable("ServiceAccount", namespace, account), accountPullSecrets);

const entriesIn = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  Effect.map(readable("Secret", namespace, name), (found) => {
    const secret = livePullSecret(found);
    return secret === undefined ? undefined : decoded(secret);
  });

const decoded = ({ format, data }: LivePullSecret): Entries | undefined => {
  try {
    if (data.length > PULL_SECRET_CHARACTERS_MAX) return undefined;
    const file = Result.getOrUndefined(readJson(Uint8Array.fromBase64(data), ANSWER_BOUNDS));
    const entries = file === undefined ? undefined : entriesOf(file, format);
    return entries === undefined || entries.size > PULL_SECRET_ENTRIES_MAX ? undefined : entries;
  } catch {
    return undefined;
  }
};

/** The same for the same credentials; a value to compare, from which none can be read. */
export const credentialsDigest = async (credentials: PlaceCredentials): Promise<string> => {
  const text = JSON.stringify(
    [...credentials].map(([place, all]) => [
      place,
      all.map(({ username, password }) => [username, Redacted.value(password)]),
    ]),
  );
  const key = await crypto.subtle.importKey("raw", SALT, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))).toHex();
};

/** Of this process alone. */
const SALT = crypto.getRandomValues(new Uint8Array(32));
