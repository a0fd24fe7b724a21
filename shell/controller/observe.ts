/** Key → ClusterSnapshot: everything that a decision about one resource rests on, read in one place. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { API_VERSION, PLURAL } from "../../core/api/v1alpha2.ts";
import { at, type JsonObject, stringAt } from "../../core/data/json.ts";
import { REFERENCED_OBJECTS_MAX } from "../../core/data/limits.ts";
import { newestFirst } from "../../core/data/newest_first.ts";
import { AUTOSCALERS, groupPath, OWN_KINDS, OWN_LABELS, POD_KINDS, POD_LABELS } from "../../core/snapshot/kinds.ts";
import { prepare } from "../../core/plan/prepare.ts";
import { trustedBundleReference } from "../../core/plan/trusted_bundle.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "../../core/snapshot/references.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { type ClusterSnapshot, liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { configMapsOf, templateSpec } from "../../core/resources/pod_spec.ts";
import { operatorWith } from "../../core/snapshot/operator.ts";
import { questionOf, shownAnswers } from "../../core/report/server_answers.ts";
import { isScaledElsewhere } from "../../core/resources/autoscaler.ts";
import { scalersOf } from "../../core/snapshot/scalers.ts";
import { AUTOSCALERS_READ_MAX } from "../limits.ts";
import { cannotPull } from "../../core/report/container_reasons.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { kindsNow } from "../kubernetes/served_kinds.ts";
import type { ImageLabels } from "../../core/image/image_labels.ts";
import { labelsNeeded, pullSecretsOf, withStanding } from "../../core/plan/image_question.ts";
import { LabelReader } from "./image_labels.ts";
import { lookedUp, missingSecrets, neededBy, withObjects, withUnlabelled } from "./look_up.ts";
import { ContestsOf } from "./contests.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { LiveSettings } from "./operator_settings.ts";
import { ReferenceIndex } from "../cache/reference_index.ts";
import { readReferences } from "./referenced_objects.ts";
import { ServerProbe } from "./server_answers.ts";
import { Store } from "../cache/store.ts";
import type { Decision } from "../../core/plan/decision.ts";
import { askedForOwners } from "../../core/plan/field_owners.ts";

/** The snapshot of a resource, and its desired state: `prepare` was needed to know which names to read. */
export interface Observed {
  readonly snapshot: ClusterSnapshot;
  readonly prepared: ReturnType<typeof prepare>;
}

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
  const namespace = stringAt(resource, "metadata", "namespace") ?? "";
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
  const isFresh = at(resource, "status", "conditions") === undefined && !(yield* store.isStale(key));
  const { objects, partial, pods, replicaSets } = yield* completeObjects(key, resource, isFresh);
  const own = yield* resourceOwned(objects, partial);
  const nowMs = yield* Clock.currentTimeMillis;
  // Which image a name means depends on what runs, also under a Deployment that is not watched.
  const deployment: ObjectKey = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace,
    name: stringAt(resource, "metadata", "name") ?? "",
  };
  const known = yield* lookedUp(own.live, [deployment], deployment.name);
  const scalers = Result.isSuccess(decoded) && isScaledElsewhere(decoded.success) ? yield* scalersFor(deployment) : [];
  const cached: ClusterSnapshot = {
    nowMs,
    contests: (yield* ContestsOf).of(key, nowMs),
    resource,
    operator,
    secrets,
    configMaps,
    tooLarge,
    scalers,
    live: known,
    configs: own.configs,
    replicaSets,
    pods,
    rollingUpgrades: undefined,
    server: undefined,
  };
  const labels = yield* labelsOf(key, cached, decoded);
  const sources: ClusterSnapshot = labels === undefined ? cached : { ...cached, labels };
  const prepared = prepare(sources, decoded);
  const { name } = deployment;
  const live = Result.isFailure(prepared)
    // Those that a running server needs are created again (restore_missing.ts), so they have to be looked for.
    ? yield* lookedUp(known, known.has(liveKey("Deployment", name)) ? neededBy(namespace, name) : [], name)
    : yield* withUnlabelled(known, prepared.success, isFresh);
  if (isFresh && Result.isSuccess(prepared) && !live.has(liveKey("Deployment", name))) yield* store.markComplete(key);
  const question = Result.isSuccess(decoded)
    ? questionOf({ resource, live, secrets }, decoded.success.spec)
    : undefined;
  const server = shownAnswers(yield* (yield* ServerProbe).answers(key, question), [...secrets.values()]);
  const missingPullSecrets = Result.isSuccess(decoded) && pods.some(cannotPull)
    ? yield* missingSecrets(namespace, pullSecretsOf(decoded.success.spec))
    : [];
  const snapshot: ClusterSnapshot = { ...sources, live, server, missingPullSecrets };
  const observed: Observed = { snapshot, prepared };
  return observed;
});

/** Of the first ones in the namespace; whoever may not read them learns nothing of them. */
const scalersFor = Effect.fnUntraced(function* ({ namespace, name }: ObjectKey) {
  const { apiVersion, plural } = AUTOSCALERS;
  const path = `${groupPath(apiVersion)}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  const found = yield* (yield* Cluster).read(`${path}?limit=${AUTOSCALERS_READ_MAX}`).pipe(
    Effect.catchTag(["Forbidden", "NotFound"], () => Effect.succeed(null)),
  );
  return scalersOf(found, name);
});

const generationOf = (resource: JsonObject): number => Number(at(resource, "metadata", "generation") ?? 0);

/** What the labels of the image say, as far as the decision needs them: from the record of the config, else from the registry. */
const labelsOf = Effect.fnUntraced(function* (
  key: string,
  snapshot: ClusterSnapshot,
  decoded: ReturnType<typeof decodeResource>,
) {
  const reader = yield* LabelReader;
  const needed = Result.isFailure(decoded) ? undefined : labelsNeeded(snapshot, decoded.success);
  const { recorded } = needed ?? {};
  const generation = generationOf(snapshot.resource);
  const isAsked = needed !== undefined && recorded === undefined;
  const answer = yield* reader.labels(key, isAsked ? needed.question() : undefined, generation);
  if (needed === undefined) return undefined;
  const labels: ImageLabels | undefined = recorded === undefined
    ? answer
    : { kind: "read", read: reader.shared(recorded) };
  if (labels === undefined) {
    return reader.asksNobody && needed.kept === undefined ? undefined : needed.meanwhile;
  }
  return withStanding(needed, labels);
});

/**
 * The same with complete objects if the decision depends on field ownership, which is rare: the objects were changed by
 * others. The same snapshot otherwise.
 */
export const withOwners = Effect.fnUntraced(function* (observed: Observed, decision: Decision) {
  const asked = askedForOwners(decision.steps, observed.snapshot);
  if (asked.length === 0) return observed;
  const cluster = yield* Cluster;
  const found = yield* Effect.forEach(asked, (key) => cluster.get(key), { concurrency: 8 });
  const live = withObjects(observed.snapshot.live, asked, found);
  const whole: Observed = { ...observed, snapshot: { ...observed.snapshot, live } };
  return whole;
});

const resourceOwned = Effect.fnUntraced(function* (
  objects: ReadonlyMap<string, JsonObject>,
  partial: ReadonlyArray<JsonObject>,
) {
  const configs = newestFirst([...objects.values(), ...partial].filter((object) =>
    object.kind === "ConfigMap" &&
    stringAt(object, "metadata", "labels", "app.kubernetes.io/component") === "generated-config"
  ));
  const running = [...objects.values()].filter(({ kind }) => kind === "Deployment")
    .flatMap((object) => configMapsOf(templateSpec(object)));
  const cluster = yield* Cluster;
  // What the store has only a part of is read where it counts: the config that the pods run on.
  const whole = yield* Effect.forEach(configs, (object) => {
    const name = stringAt(object, "metadata", "name") ?? "";
    return !partial.includes(object) || !running.includes(name) ? Effect.succeed(object) : Effect.map(
      cluster.get({
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: stringAt(object, "metadata", "namespace") ?? "",
        name,
      }),
      (found) => found ?? object,
    );
  });
  return { live: objects, configs: whole };
});

/** A resource too large for the store is read again, by a list of one: its Roles let the operator list and watch resources only. */
const wholeResource = Effect.fnUntraced(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined || kept.whole) return kept?.object;
  const [namespace = "", name = ""] = key.split("/");
  const path = `${groupPath(API_VERSION)}/namespaces/${namespace}/${PLURAL}`;
  const { items: [found] } = yield* (yield* Cluster).list({ path, fields: `metadata.name=${name}` });
  return found;
});

/**
 * The cached objects of a resource. Objects that existed before their resource, as after a restore from a backup, were
 * not cached when the watches reported them: they are listed once. A new resource has none, which the lookup of its
 * Deployment shows.
 */
const completeObjects = Effect.fnUntraced(function* (key: string, resource: JsonObject, isFresh: boolean) {
  const store = yield* Store;
  if (isFresh || !(yield* store.mayBeIncomplete(key))) return yield* store.objectsOf(key);
  const namespace = stringAt(resource, "metadata", "namespace") ?? "";
  const instance = `app.kubernetes.io/instance=${stringAt(resource, "metadata", "name") ?? ""}`;
  const cluster = yield* Cluster;
  const kinds = [
    ...OWN_KINDS.filter(({ kind }) => kind === "ConfigMap" || kind === "Deployment")
      .map((kind) => ({ ...kind, labels: OWN_LABELS })),
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS })),
  ];
  yield* Effect.forEach(kinds, ({ apiVersion, plural, labels }) =>
    cluster.eachPage(
      { path: `${groupPath(apiVersion)}/namespaces/${namespace}/${plural}`, labels: `${labels},${instance}` },
      (items) => Effect.forEach(items, (item) => store.put(item, "watch"), { discard: true }),
    ), { discard: true });
  yield* store.markComplete(key);
  return yield* store.objectsOf(key);
});

/** The core rejects more references; these are not even requested. */
const readable = (references: ReadonlyArray<Reference>): ReadonlyArray<Reference> =>
  referencedObjects(references).length > REFERENCED_OBJECTS_MAX ? [] : references;
