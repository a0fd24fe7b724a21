/** Objects that the cache of a resource does not have, and that a decision depends on. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { kvSecretName, sqlSecretName } from "../../core/config/stages/storage.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { isWatched } from "../../core/plan/ownership.ts";
import type { Prepared } from "../../core/plan/prepare.ts";
import { allOf } from "../../core/resources/objects.ts";
import { serviceName } from "../../core/resources/service.ts";
import { serviceAccountName } from "../../core/resources/service_account.ts";
import { type ClusterSnapshot, liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { keyOf, type ObjectKey } from "../../core/snapshot/object_key.ts";
import { Cluster } from "../kubernetes/cluster.ts";

/** Secrets may only be read by name, not listed or watched. */
export const SecretPolling: Context.Reference<boolean> = Context.Reference("llama-stack-operator/shell/SecretPolling", {
  defaultValue: () => false,
});

/**
 * Objects without the operator's label are not watched, and one of them may have a required name: each name that the
 * cache does not contain is looked up before it is written. For a new resource only the Deployment was: a conflict there
 * would make all writes before it useless, and the other writes are rejected if a name is taken.
 */
export const withUnlabelled = Effect.fnUntraced(function* (
  cached: ClusterSnapshot["live"],
  { blueprint, objects }: Prepared,
  isFresh: boolean,
) {
  const polling = yield* SecretPolling;
  const { name, namespace } = blueprint;
  // Without a watch, what was once written may have changed or gone since.
  const secrets = !polling ? [] : [sqlSecretName(name), kvSecretName(name)].map((text) => ({
    apiVersion: "v1",
    kind: "Secret",
    namespace,
    name: text,
  }));
  const live = new Map([...cached].filter(([key]) => !polling || !key.startsWith("Secret/")));
  const wanted = allOf(objects).map(keyOf).filter((objectKey) => !polling || objectKey.kind !== "Secret");
  const asked = isFresh ? [] : wanted.filter(({ kind }) => kind !== "Deployment");
  return yield* lookedUp(live, [...secrets, ...asked], name);
});

export const neededBy = (namespace: string, name: string): ReadonlyArray<ObjectKey> => [
  { apiVersion: "v1", kind: "Service", namespace, name: serviceName(name) },
  { apiVersion: "v1", kind: "ServiceAccount", namespace, name: serviceAccountName(name) },
];

/** With the objects of `keys` that the cache of this resource does not have, if they exist. */
export const lookedUp = Effect.fnUntraced(function* (
  live: ClusterSnapshot["live"],
  keys: ReadonlyArray<ObjectKey>,
  resource: string,
) {
  const cluster = yield* Cluster;
  const isKnown = (found: JsonObject | undefined) => found !== undefined && isWatched(found, resource);
  const unknown = keys.filter(({ kind, name }) => !isKnown(live.get(liveKey(kind, name))));
  const found = yield* Effect.forEach(unknown, (key) => cluster.get(key, "cached"), { concurrency: 8 });
  return withObjects(live, unknown, found);
});

/** `live` with what was found at each key; undefined is an object that does not exist. */
export const withObjects = (
  live: ClusterSnapshot["live"],
  keys: ReadonlyArray<ObjectKey>,
  found: ReadonlyArray<JsonObject | undefined>,
): ClusterSnapshot["live"] => {
  const merged = new Map(live);
  for (const [index, { kind, name }] of keys.entries()) {
    const object = found[index];
    if (object === undefined) merged.delete(liveKey(kind, name));
    else merged.set(liveKey(kind, name), object);
  }
  return merged;
};

/** Those that do not exist; none where they may not be read. */
export const missingSecrets = Effect.fnUntraced(function* (namespace: string, names: ReadonlyArray<string>) {
  const cluster = yield* Cluster;
  return yield* Effect.filter(names, (name) =>
    cluster.get({ apiVersion: "v1", kind: "Secret", namespace, name }).pipe(
      Effect.map((found) => found === undefined),
      Effect.orElseSucceed(() => false),
    ));
});
