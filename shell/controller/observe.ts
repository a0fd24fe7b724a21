/** Key → Facts: what is read of one resource before anything is asked, and of its server for the report. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { type JsonObject } from "../../core/data/json.ts";
import { REFERENCED_OBJECTS_MAX } from "../../core/data/limits.ts";
import { newestFirst } from "../../core/data/newest_first.ts";
import { groupPath, type Kind, OWN_KINDS, OWN_LABELS, POD_KINDS, POD_LABELS } from "../../core/snapshot/kinds.ts";
import type { Facts } from "../../core/plan/plan.ts";
import { trustedBundleReference } from "../../core/plan/trusted_bundle.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "../../core/snapshot/references.ts";
import type { ClusterSnapshot } from "../../core/snapshot/cluster_snapshot.ts";
import { operatorWith } from "../../core/snapshot/operator.ts";
import { questionOf, shownAnswers } from "../../core/report/server_answers.ts";
import { cannotPull } from "../../core/report/container_reasons.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { kindsNow } from "../kubernetes/served_kinds.ts";
import { storedResource } from "../kubernetes/stored_resource.ts";
import { pullSecretsOf } from "../../core/plan/image_question.ts";
import { valuesRead } from "../../core/plan/secret_values.ts";
import { ContestsOf } from "./contests.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { LiveSettings } from "./operator_settings.ts";
import { ReferenceIndex } from "../cache/reference_index.ts";
import { readReferences, SecretPolling } from "./referenced_objects.ts";
import { ServerProbe } from "./server_answers.ts";
import { Store } from "../cache/store.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";
import { liveDeployment } from "../../core/snapshot/live_deployment.ts";
import { statusOf } from "../../core/api/status_of.ts";

/** Undefined if the resource no longer exists; `given` is to be observed in place of the stored one, which may not exist. */
export const observe = Effect.fnUntraced(function* (key: string, given?: JsonObject) {
  const store = yield* Store;
  const operator = operatorWith(
    yield* OperatorFacts,
    yield* Ref.get(yield* LiveSettings),
    yield* kindsNow,
  );
  const resource = given ?? (yield* wholeResource(key));
  if (resource === undefined) return undefined;
  const { namespace } = liveObject(resource);
  const decoded = decodeResource(resource, "lenient");
  const index = yield* ReferenceIndex;
  const references = Result.isFailure(decoded) ? [] : [
    ...readable(permitted(referencesOf(decoded.success.spec), namespace, operator.surroundings)),
    ...(index.mayHaveBundle(namespace) ? trustedBundleReference(decoded.success.spec, { operator }) : []),
  ];
  // Before they are read: a change after the read must find the resource.
  index.remember(key, references);
  const { secrets, configMaps, tooLarge } = yield* readReferences(references, namespace);
  // The API server gives every new resource a status (`observedGeneration: -1`); only the operator sets conditions.
  const isFresh = statusOf(resource).conditions === undefined && !(yield* store.isStale(key));
  const { objects, partial, pods, replicaSets } = yield* completeObjects(key, resource, isFresh);
  const { live, configs } = yield* resourceOwned(objects, partial);
  const nowMs = yield* Clock.currentTimeMillis;
  const facts: Facts = {
    snapshot: {
      nowMs,
      contests: (yield* ContestsOf).of(key, nowMs),
      resource,
      operator,
      secrets,
      configMaps,
      tooLarge,
      live,
      configs,
      replicaSets,
      pods,
      rollingUpgrades: undefined,
      server: undefined,
    },
    decoded,
    isFresh,
    pollsSecrets: yield* SecretPolling,
  };
  return facts;
});

/** The snapshot with what the report says beyond the decision: the answers of the server, and pull Secrets that do not exist. */
export const withServer = Effect.fnUntraced(function* (
  key: string,
  snapshot: ClusterSnapshot,
  decoded: Facts["decoded"],
) {
  const { resource, live, secrets, pods } = snapshot;
  const probe = yield* ServerProbe;
  if (Result.isFailure(decoded)) {
    yield* probe.answers(key, undefined);
    return snapshot;
  }
  const { spec } = decoded.success;
  const answers = yield* probe.answers(key, questionOf({ resource, live, secrets }, spec));
  const complete: ClusterSnapshot = {
    ...snapshot,
    server: shownAnswers(answers, valuesRead(snapshot)),
    missingPullSecrets: pods.some(cannotPull) ? yield* missingSecrets(resource, pullSecretsOf(spec)) : [],
  };
  return complete;
});

/** Those that do not exist; none where they may not be read. */
const missingSecrets = Effect.fnUntraced(function* (resource: JsonObject, names: ReadonlyArray<string>) {
  const cluster = yield* Cluster;
  const { namespace } = liveObject(resource);
  return yield* Effect.filter(names, (name) =>
    cluster.get({ apiVersion: "v1", kind: "Secret", namespace, name }).pipe(
      Effect.map((found) => found === undefined),
      Effect.orElseSucceed(() => false),
    ));
});

const resourceOwned = Effect.fnUntraced(function* (
  objects: ReadonlyMap<string, JsonObject>,
  partial: ReadonlyArray<JsonObject>,
) {
  const configs = newestFirst([...objects.values(), ...partial].filter((object) => {
    const { kind, labels } = liveObject(object);
    return kind === "ConfigMap" && labels["app.kubernetes.io/component"] === "generated-config";
  }));
  const running = [...objects.values()].filter((object) => liveObject(object).kind === "Deployment")
    .flatMap((object) => liveDeployment(object).configMaps);
  const cluster = yield* Cluster;
  // What the store has only a part of is read where it counts: the config that the pods run on.
  const whole = yield* Effect.forEach(configs, (object) => {
    const { namespace, name } = liveObject(object);
    return !partial.includes(object) || !running.includes(name) ? Effect.succeed(object) : Effect.map(
      cluster.get({ apiVersion: "v1", kind: "ConfigMap", namespace, name }),
      (found) => found ?? object,
    );
  });
  return { live: objects, configs: whole };
});

/** A resource too large for the store is read again. */
const wholeResource = Effect.fnUntraced(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined || kept.whole) return kept?.object;
  const [namespace = "", name = ""] = key.split("/");
  return yield* storedResource(namespace, name);
});

/**
 * The cached objects of a resource. Objects that existed before their resource, as after a restore from a backup, were
 * not cached when the watches reported them: they are listed once. A new resource has none, which the lookup of its
 * Deployment shows.
 */
const completeObjects = Effect.fnUntraced(function* (key: string, resource: JsonObject, isFresh: boolean) {
  const store = yield* Store;
  if (isFresh || !(yield* store.mayBeIncomplete(key))) return yield* store.objectsOf(key);
  yield* listIntoStore(resource, OWN_KINDS.filter(({ kind }) => kind === "ConfigMap" || kind === "Deployment"));
  yield* store.markComplete(key);
  return yield* store.objectsOf(key);
});

/** Puts the objects of the resource that are of these kinds, its pods and its ReplicaSets into the store, as watches would. */
export const listIntoStore = Effect.fnUntraced(function* (
  resource: JsonObject,
  kinds: ReadonlyArray<Kind>,
  listsAtOnce = 1,
) {
  const store = yield* Store;
  const cluster = yield* Cluster;
  const { namespace, name } = liveObject(resource);
  const labelled = [
    ...kinds.map((kind) => ({ ...kind, labels: OWN_LABELS })),
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS })),
  ];
  yield* Effect.forEach(labelled, ({ apiVersion, plural, labels }) => {
    const path = `${groupPath(apiVersion)}/namespaces/${namespace}/${plural}`;
    return cluster.eachPage(
      { path, labels: `${labels},app.kubernetes.io/instance=${name}` },
      (items) => Effect.forEach(items, (item) => store.put(item, "watch"), { discard: true }),
    );
  }, { concurrency: listsAtOnce, discard: true });
});

/** The core rejects more references; these are not even requested. */
const readable = (references: ReadonlyArray<Reference>): ReadonlyArray<Reference> =>
  referencedObjects(references).length > REFERENCED_OBJECTS_MAX ? [] : references;
