/**
 * The credentials of a resource for its image: of the pull Secrets of its pods, of the default ServiceAccount of its
 * namespace, and of the operator's own Secret. They are read when they are needed, and kept nowhere.
 */
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { type Entries, entriesOf, type Keyring, keyringOf } from "../../core/image/credentials.ts";
import { type Json, listAt, stringAt } from "../../core/data/json.ts";
import { REGISTRY_SECRET } from "../../core/operator/own_objects.ts";
import { Cluster } from "../kubernetes/cluster.ts";

type Pods = Pick<ImageQuestion, "namespace" | "serviceAccount" | "pullSecrets">;

/** What cannot be read gives none, as with the kubelet. */
export const keyringFor = Effect.fnUntraced(function* (pods: Pods, operatorNamespace: string) {
  const { namespace, serviceAccount, pullSecrets } = pods;
  const ofPods = pullSecrets.length > 0 || serviceAccount === undefined
    ? pullSecrets
    : yield* secretsOf(namespace, serviceAccount);
  const usual = serviceAccount === DEFAULT_ACCOUNT ? [] : yield* secretsOf(namespace, DEFAULT_ACCOUNT);
  const names = [
    ...[...new Set([...ofPods, ...usual])].slice(0, SECRETS_MAX).map((name) => ({ namespace, name })),
    { namespace: operatorNamespace, name: REGISTRY_SECRET },
  ];
  const files = yield* Effect.forEach(names, entriesIn);
  const keyring: Keyring = keyringOf(files.flatMap((entries) => entries ?? []));
  return keyring;
});

const DEFAULT_ACCOUNT = "default";

/** Pull Secrets of one resource that are read. */
const SECRETS_MAX = 16;

const readable = Effect.fnUntraced(function* (kind: string, namespace: string, name: string) {
  return yield* (yield* Cluster).get({ apiVersion: "v1", kind, namespace, name }).pipe(
    Effect.orElseSucceed(() => undefined),
  );
});

const secretsOf = Effect.fnUntraced(function* (namespace: string, account: string) {
  const found = yield* readable("ServiceAccount", namespace, account);
  return listAt(found, "imagePullSecrets").flatMap((reference) => stringAt(reference, "name") ?? []);
});

const entriesIn = Effect.fnUntraced(
  function* ({ namespace, name }: { readonly namespace: string; readonly name: string }) {
    const found = yield* readable("Secret", namespace, name);
    const format = FORMATS[stringAt(found, "type") ?? ""];
    const data = format === undefined ? undefined : stringAt(found, "data", `.${format}`);
    return format === undefined || data === undefined ? undefined : decoded(data, format);
  },
);

const FORMATS: Readonly<Record<string, "dockerconfigjson" | "dockercfg">> = {
  "kubernetes.io/dockerconfigjson": "dockerconfigjson",
  "kubernetes.io/dockercfg": "dockercfg",
};

const decoded = (base64: string, format: "dockerconfigjson" | "dockercfg"): Entries | undefined => {
  try {
    return entriesOf(JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(base64))) as Json, format);
  } catch {
    return undefined;
  }
};

/** The same for the same credentials; a value to compare, from which none can be read. */
export const keyringDigest = async (keyring: Keyring): Promise<string> => {
  const text = JSON.stringify(
    [...keyring].map(([key, all]) => [
      key,
      all.map(({ username, password }) => [username, Redacted.value(password)]),
    ]),
  );
  const key = await crypto.subtle.importKey("raw", SALT, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))).toHex();
};

/** Of this process alone. */
const SALT = crypto.getRandomValues(new Uint8Array(32));
