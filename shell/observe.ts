/** Key → World: everything that a decision about one resource rests on, read in one place. */
import { Clock, Context, Effect, Ref } from "effect";
import { Result } from "effect";
import { kvSecretName, sqlSecretName } from "../core/config/storage.ts";
import { decodeResource } from "../core/api/decode.ts";
import { at, type JsonObject, member, objectAt, stringAt } from "../core/json.ts";
import { newestFirst } from "../core/newest_first.ts";
import { prepare, type Prepared } from "../core/plan/prepare.ts";
import { referencesOf } from "../core/plan/references.ts";
import { keyOf } from "../core/plan/step.ts";
import { type ConfigMapContent, liveKey, type Operator, type World } from "../core/plan/world.ts";
import { allOf } from "../core/resources/objects.ts";
import { operatorWith } from "../core/settings.ts";
import { questionOf } from "../core/status/server_answers.ts";
import { Cluster } from "./cluster.ts";
import { LiveSettings } from "./operator_settings.ts";
import { Named } from "./reference_index.ts";
import { AskedServers } from "./server_answers.ts";
import { Store } from "./store.ts";

/** The operator itself, for every decision. */
export class OperatorFacts
  extends Context.Service<OperatorFacts, Operator>()("llama-stack-operator/shell/OperatorFacts") {}

/** Secrets may only be read by name, not listed or watched (R38). */
export const SecretPolling: Context.Reference<boolean> = Context.Reference("llama-stack-operator/shell/SecretPolling", {
  defaultValue: () => false,
});

/** A look at a resource, and what it should become: `prepare` was needed to know which names to look at. */
export interface Observed {
  readonly world: World;
  readonly prepared: ReturnType<typeof prepare>;
}

/** Undefined when there is no such resource any more. */
export const observe = Effect.fnUntraced(function* (key: string) {
  const store = yield* Store;
  const operator = operatorWith(yield* OperatorFacts, yield* Ref.get(yield* LiveSettings));
  const resource = yield* store.resource(key);
  if (resource === undefined) return undefined;
  const namespace = stringAt(resource, "metadata", "namespace") ?? "";
  const decoded = decodeResource(resource, "lenient");
  const references = Result.isSuccess(decoded) ? referencesOf(decoded.success.spec) : [];
  // Before they are read: a change after the read must find the resource.
  (yield* Named).remember(key, references);
  const secrets = yield* readAll(
    references.filter(({ kind }) => kind === "Secret").map(({ name }) => ({ namespace, name, key: name })),
    "Secret",
    secretOf,
  );
  const configMaps = yield* readAll(
    references.filter(({ kind }) => kind === "ConfigMap")
      .map(({ name, namespace: other = namespace }) => ({ namespace: other, name, key: `${other}/${name}` })),
    "ConfigMap",
    configMapOf,
  );
  const { objects, pods, replicaSets } = yield* store.shelf(key);
  const own = resourceOwned(objects);
  const deployment = own.live.get(liveKey("Deployment", stringAt(resource, "metadata", "name") ?? ""));
  const question = Result.isSuccess(decoded)
    ? questionOf(resource, decoded.success.spec, deployment, secrets)
    : undefined;
  const world: World = {
    nowMs: yield* Clock.currentTimeMillis,
    resource,
    operator,
    secrets,
    configMaps,
    live: own.live,
    configs: own.configs,
    replicaSets,
    pods,
    refusals: [],
    away: undefined,
    server: yield* (yield* AskedServers).answers(key, question),
  };
  const prepared = prepare(world, decoded);
  // The API server gives every new resource a status (`observedGeneration: -1`); conditions are ours.
  const isFresh = at(resource, "status", "conditions") === undefined && !(yield* store.isDoubted(key));
  const live = Result.isFailure(prepared) ? world.live : yield* withUnlabelled(world.live, prepared.success, isFresh);
  const observed: Observed = { world: { ...world, live }, prepared };
  return observed;
});

/**
 * Objects without our label are not mirrored, and one of them may have a name that we need: each name that the mirror does
 * not know is asked for before it is written. For a resource that nobody has worked on only the Deployment is: what stands in
 * the way there would leave everything before it made in vain, and the other writes are refused where a name is taken.
 */
const withUnlabelled = Effect.fnUntraced(function* (
  mirrored: World["live"],
  { blueprint, objects }: Prepared,
  isFresh: boolean,
) {
  const cluster = yield* Cluster;
  const polling = yield* SecretPolling;
  const { name, namespace } = blueprint;
  // Without a watch, what was once written may have changed or gone since.
  const secrets = !polling ? [] : [sqlSecretName(name), kvSecretName(name)].map((one) => ({
    apiVersion: "v1",
    kind: "Secret",
    namespace,
    name: one,
  }));
  const live = new Map([...mirrored].filter(([key]) => !polling || !key.startsWith("Secret/")));
  const wanted = allOf(objects).map(keyOf).filter((one) => !polling || one.kind !== "Secret");
  const asked = isFresh ? wanted.filter(({ kind }) => kind === "Deployment") : wanted;
  const unknown = [...secrets, ...asked.filter(({ kind, name }) => !live.has(liveKey(kind, name)))];
  const found = yield* Effect.forEach(unknown, (one) => cluster.get(one, "cached"), { concurrency: 8 });
  found.forEach((object, index) => {
    const key = unknown[index];
    if (object !== undefined && key !== undefined) live.set(liveKey(key.kind, key.name), object);
  });
  return live;
});

const resourceOwned = (objects: ReadonlyMap<string, JsonObject>) => {
  const configs = newestFirst([...objects.values()].filter((one) =>
    one.kind === "ConfigMap" &&
    stringAt(one, "metadata", "labels", "app.kubernetes.io/component") === "generated-config"
  ));
  return { live: objects, configs };
};

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Read each time it is needed and forgotten afterwards: nothing foreign stays in memory. */
const readAll = Effect.fnUntraced(
  function* <A>(wanted: ReadonlyArray<Wanted>, kind: string, content: (object: JsonObject) => A) {
    const cluster = yield* Cluster;
    const once = [...new Map(wanted.map((one) => [one.key, one])).values()];
    const found = yield* Effect.forEach(
      once,
      ({ namespace, name }) => cluster.get({ apiVersion: "v1", kind, namespace, name }),
      { concurrency: 8 },
    );
    return new Map(once.flatMap(({ key }, index): ReadonlyArray<readonly [string, A]> => {
      const object = found[index];
      return object === undefined ? [] : [[key, content(object)]];
    }));
  },
);

const secretOf = (secret: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectAt(secret, "data")).map(([key, value]) => [key, decodedText(String(value))]),
  );

const configMapOf = (map: JsonObject): ConfigMapContent => ({
  data: stringsOf(map, "data"),
  binaryData: stringsOf(map, "binaryData"),
});

const stringsOf = (object: JsonObject, field: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((member(object, field) ?? {}) as JsonObject).map(([key, value]) => [key, String(value)]),
  );

/** Bytes that are no text become U+FFFD; such a value is compared and hashed, and no server could take it from its environment. */
const decodedText = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
