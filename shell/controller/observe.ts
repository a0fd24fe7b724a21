/** Key → Facts: what is read of one resource before anything is asked, and of its server for the report. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { type JsonObject } from "../../core/data/json.ts";
import { REFERENCED_OBJECTS_MAX } from "../../core/data/limits.ts";
import { newestFirst } from "../../core/data/newest_first.ts";
import {
  groupPath,
  type Kind,
  OPTIONAL_KINDS,
  OWN_LABELS,
  POD_KINDS,
  POD_LABELS,
  WRITTEN_KINDS,
} from "../../core/snapshot/kinds.ts";
import type { Facts } from "../../core/plan/plan.ts";
import { trustedBundleReference } from "../../core/plan/trusted_bundle.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "../../core/snapshot/references.ts";
import { type ClusterSnapshot, liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { CA_BUNDLE_COMPONENT } from "../../core/resources/config_map.ts";
import { livePod } from "../../core/snapshot/live_pod.ts";
import { liveReplicaSet } from "../../core/snapshot/live_replica_set.ts";
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
import { ServerProbe } from "./server_probe.ts";
import { partOf } from "../cache/cache_entry.ts";
import { textOf } from "../cache/packed.ts";
import { Store } from "../cache/store.ts";
import { UNCACHED_CHARACTERS_MAX } from "../limits.ts";
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
  const { live, configs, largeBundles } = yield* resourceOwned(objects, partial);
  const nowMs = yield* Clock.currentTimeMillis;
  const contests = yield* ContestsOf;
  const facts: Facts = {
    snapshot: {
      nowMs,
      contests: contests.of(key, nowMs),
      lastApplied: contests.lastApplied(key),
      resource,
      operator,
      secrets,
      configMaps,
      tooLarge,
      live,
      configs,
      largeBundles,
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
  const { pods } = snapshot;
  const probe = yield* ServerProbe;
  if (Result.isFailure(decoded)) {
    yield* probe.answers(key, undefined);
    return snapshot;
  }
  const { spec } = decoded.success;
  const answers = yield* probe.answers(key, questionOf(snapshot, spec));
  const complete: ClusterSnapshot = {
    ...snapshot,
    server: shownAnswers(answers, valuesRead(snapshot)),
    missingPullSecrets: pods.some(cannotPull) ? yield* missingSecrets(snapshot.resource, pullSecretsOf(spec)) : [],
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
  const isOf = (component: string) => (object: JsonObject) => {
    const { kind, labels } = liveObject(object);
    return kind === "ConfigMap" && labels["app.kubernetes.io/component"] === component;
  };
  const configs = newestFirst([...objects.values(), ...partial].filter(isOf("generated-config")));
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
  return { live: objects, configs: whole, largeBundles: partial.filter(isOf(CA_BUNDLE_COMPONENT)) };
});

/** A resource too large for the store is read again. */
const wholeResource = Effect.fnUntraced(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined || kept.whole) return kept?.object;
  const [namespace = "", name = ""] = key.split("/");
  return yield* storedResource(namespace, name);
});

/**
 * The objects of a resource: those in the cache, and where it may lack some, what a list shows beside them. Objects that existed
 * before their resource, as after a restore from a backup, were not cached when the watches reported them; for others there was no
 * room. Only a list shows those that the resource does not ask for, which are to be deleted. A new resource has none, which the
 * lookup of its Deployment shows.
 */
const completeObjects = Effect.fnUntraced(function* (key: string, resource: JsonObject, isFresh: boolean) {
  const store = yield* Store;
  if (isFresh || !(yield* store.mayBeIncomplete(key))) return yield* store.objectsOf(key);
  const served = yield* kindsNow;
  const polls = yield* SecretPolling;
  const listed = WRITTEN_KINDS.filter(({ kind, prunable }) =>
    kind === "ConfigMap" || kind === "Deployment" || prunable && isServed(kind, served) && !(polls && kind === "Secret")
  );
  const others = yield* listIntoStore(resource, listed);
  if (others.length === 0) yield* store.markComplete(key);
  const kept = yield* store.objectsOf(key);
  const of = (part: "objects" | "pods" | "replicaSets") =>
    others.filter((object) => partOf(liveObject(object).kind) === part);
  return {
    objects: new Map([
      ...kept.objects,
      ...of("objects").map((object) => [liveKey(liveObject(object).kind, liveObject(object).name), object] as const),
    ]),
    partial: kept.partial,
    pods: [...kept.pods, ...of("pods").map(livePod)],
    replicaSets: [...kept.replicaSets, ...of("replicaSets").map(liveReplicaSet)],
  };
});

const isServed = (kind: string, served: ReadonlyArray<string>): boolean =>
  !OPTIONAL_KINDS.some((optional) => optional.kind === kind) || served.includes(kind);

/**
 * Puts the objects of the resource that are of these kinds, its pods and its ReplicaSets into the store, as watches would. Returns
 * those that there is no room for, as many as one reconciliation can look at.
 */
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
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS, WRITTEN_KINDS })),
  ];
  const others: Array<JsonObject> = [];
  let characters = 0;
  const put = (item: JsonObject) =>
    Effect.gen(function* () {
      yield* store.put(item, "watch");
      if (!(yield* store.lacks(item))) return;
      characters += textOf(item)?.length ?? Infinity;
      if (characters <= UNCACHED_CHARACTERS_MAX) others.push(item);
    });
  yield* Effect.forEach(labelled, ({ apiVersion, plural, labels }) => {
    const path = `${groupPath(apiVersion)}/namespaces/${namespace}/${plural}`;
    return cluster.eachPage(
      { path, labels: `${labels},app.kubernetes.io/instance=${name}` },
      (items) => Effect.forEach(items, put, { discard: true }),
    );
  }, { concurrency: listsAtOnce, discard: true });
  return others;
});

/** The core rejects more references; these are not even requested. */
const readable = (references: ReadonlyArray<Reference>): ReadonlyArray<Reference> =>
  referencedObjects(references).length > REFERENCED_OBJECTS_MAX ? [] : references;
