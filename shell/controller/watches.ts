/** The watches, and which resources a change triggers. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Latch from "effect/Latch";
import type { JsonObject } from "../../core/data/json.ts";
import { TRUSTED_BUNDLE } from "../../core/snapshot/references.ts";
import {
  groupPath,
  type Kind,
  OPTIONAL_KINDS,
  OWN_KINDS,
  OWN_LABELS,
  POD_KINDS,
  POD_LABELS,
} from "../../core/snapshot/kinds.ts";
import { Cluster, type ClusterError, isPassing } from "../kubernetes/cluster.ts";
import type { ContestsOf } from "./contests.ts";
import { forgotten } from "./forgotten.ts";
import { heard, type LiveFigures, unheard, unreadable } from "../runtime/metrics.ts";
import { LabelReader } from "./image_labels.ts";
import { SecretPolling } from "./referenced_objects.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { followedSettings, SETTINGS_FIELDS } from "./operator_settings.ts";
import { ReferenceIndex } from "../cache/reference_index.ts";
import { isUnserved, kindsNow, lookForKinds, ServedKinds, untilServed } from "../kubernetes/served_kinds.ts";
import { nameOf, type Reactions, reflect } from "../kubernetes/reflector.ts";
import { ownerOf } from "../cache/cache_entry.ts";
import { Store } from "../cache/store.ts";
import type { WorkQueue } from "./work_queue.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { API_VERSION, PLURAL } from "../../core/api/v1alpha2.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

/** The namespaces that are watched; empty means all. */
export class Scope extends Context.Service<Scope, ReadonlyArray<string>>()("llama-stack-operator/shell/Scope") {}

/** All others. The operator's own objects are already watched, and each additional watch costs the API server, too. */
const FOREIGN = "app.kubernetes.io/managed-by!=llama-stack-operator";

/**
 * All watches, each of which runs until it is interrupted. `complete` resolves with the first list of the last one;
 * until then an incomplete state would be reported as complete. `wake`: calls the resources that may continue now,
 * after each change of an own object.
 */
export const watches = Effect.fnUntraced(function* (queue: WorkQueue, wake: Effect.Effect<void>) {
  const namespaces = yield* Scope;
  const { platform } = yield* OperatorFacts;
  const polling = yield* SecretPolling;
  const followed = polling ? ["ConfigMap"] : ["Secret", "ConfigMap"];
  const ours = OWN_KINDS.filter(({ kind }) => !polling || kind !== "Secret");
  const labelled = [
    ...ours.map((kind) => ({ ...kind, labels: OWN_LABELS })),
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS })),
  ];
  const first = partsIn(namespaces, yield* resources(queue));
  const others = [
    ...yield* Effect.forEach(labelled, (kind) => ownObjects(queue, wake, kind, followed.includes(kind.kind))),
    ...yield* Effect.forEach(followed, (kind) => foreignObjects(queue, kind)),
  ].flatMap((of) => partsIn(namespaces, of)).concat(partsIn([platform.operatorNamespace], yield* settings(queue)));
  const complete = yield* Latch.make();
  // The store keeps what belongs to a resource that it knows.
  const resourcesKnown = yield* Latch.make();
  const names = [...first, ...others].map(({ what }) => what);
  const listed = afterAll([...names, ...(yield* kindsNow)], Latch.open(complete));
  const resourcesListed = afterAll(first.map(({ what }) => what), Latch.open(resourcesKnown));
  const optional = yield* Effect.forEach(
    OPTIONAL_KINDS,
    (kind) => optionalObjects(queue, wake, kind, listed(kind.kind)),
  );
  return {
    complete: Latch.await(complete),
    running: [
      ...first.map((part, index) =>
        // Of the resources, since these lists show whole objects, which for Secrets must not be.
        watched(
          { ...part, selection: { ...part.selection, looksAtDatabase: index === 0 } },
          Effect.andThen(resourcesListed(part.what), listed(part.what)),
        )
      ),
      ...[...others.map((part) => watched(part, listed(part.what))), ...optional]
        .map((watching) => Effect.andThen(Latch.await(resourcesKnown), watching)),
    ],
  };
});

/** Runs `then` once, when it was called with each of the names. */
const afterAll = (names: Iterable<string>, then: Effect.Effect<unknown>) => {
  const left = new Set(names);
  return (name: string): Effect.Effect<unknown> =>
    Effect.suspend(() => left.delete(name) && left.size === 0 ? then : Effect.void);
};

/**
 * Watches a kind whenever it is served. When it no longer is, its objects are gone with it. `known`: its objects are in the store,
 * or the API server does not list them; what needs none of them does not wait for that to change.
 */
const optionalObjects = Effect.fnUntraced(function* (
  queue: WorkQueue,
  wake: Effect.Effect<void>,
  kind: (typeof OPTIONAL_KINDS)[number],
  known: Effect.Effect<unknown>,
) {
  const store = yield* Store;
  const look = Effect.provideContext(lookForKinds, yield* Effect.context<Cluster | ServedKinds>());
  const parts = partsIn(yield* Scope, yield* ownObjects(queue, wake, { ...kind, labels: OWN_LABELS }, false));
  const answered = afterAll(parts.map(({ what }) => what), known);
  const watching = parts.map((part) =>
    Effect.ensuring(
      watched(part, answered(part.what), (error) =>
        Effect.andThen(
          isUnserved(error) ? look : logFailure(part.what)(error),
          error._tag === "Unreachable" ? Effect.void : answered(part.what),
        )),
      unheard(part.what),
    )
  );
  return Effect.forever(Effect.gen(function* () {
    if (!(yield* kindsNow).includes(kind.kind)) yield* known;
    yield* untilServed(kind.kind, true);
    yield* addAll(queue, yield* store.keys);
    yield* Effect.raceFirst(
      Effect.all(watching, { concurrency: "unbounded", discard: true }),
      untilServed(kind.kind, false),
    );
    yield* store.retain(kind.kind, () => true, new Set());
    yield* addAll(queue, yield* store.keys);
  }));
});

/** `listed` is run after each complete list. */
const watched = (
  { what, selection, covers, of }: ReturnType<typeof partsIn>[number],
  listed: Effect.Effect<unknown>,
  failed: Reactions<LiveFigures>["failed"] = logFailure(what),
) =>
  reflect(selection, {
    changed: of.changed,
    listed: (seen) => Effect.asVoid(Effect.andThen(of.listed(seen, covers), listed)),
    heard: heard(what),
    failed,
  });

/** Objects of one kind, and the reactions to their events. */
interface Watched extends Pick<Reactions<LiveFigures>, "changed"> {
  /** Path of the API group and version, as `/apis/apps/v1`. */
  readonly group: string;
  readonly plural: string;
  readonly which: Omit<Parameters<typeof reflect>[0], "path">;
  /** `covers`: whether this list shows objects of the namespace of a resource, by its key. */
  readonly listed: (
    seen: ReadonlySet<string>,
    covers: (key: string) => boolean,
  ) => Effect.Effect<void, never, LiveFigures>;
}

/** One part for each namespace, or one for all where none are named. */
const partsIn = (namespaces: ReadonlyArray<string>, of: Watched) => {
  const { group, plural, which } = of;
  // Two watches may read one collection, each another part of it: the name distinguishes them.
  const part = which.metadataOnly === true ? " (metadata)" : which.fields === undefined ? "" : ` (${which.fields})`;
  return (namespaces.length === 0 ? [undefined] : namespaces).map((namespace) => {
    const path = namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
    return {
      of,
      what: `${path}${part}`,
      selection: { path, ...which },
      covers: (key: string) => namespace === undefined || key.startsWith(`${namespace}/`),
    };
  });
};

const resources = Effect.fnUntraced(function* (queue: WorkQueue) {
  const store = yield* Store;
  const context = yield* Effect.context<ReferenceIndex | ContestsOf | LabelReader>();
  const forget = (key: string, object: JsonObject) =>
    Effect.andThen(Effect.provideContext(forgotten(key), context), store.drop(object));
  return {
    group: groupPath(API_VERSION),
    plural: PLURAL,
    which: {},
    changed: (object, how) =>
      Effect.gen(function* () {
        const key = nameOf(object);
        if (how === "gone") {
          yield* forget(key, object);
          // So that readiness no longer waits for it.
          return yield* queue.add(key);
        }
        const formerly = yield* store.resourceNow(key);
        if (!(yield* store.put(object, how === "listed" ? "list" : "watch"))) return;
        if (formerly(object)) return;
        yield* queue.add(key);
      }),
    listed: (seen, covers) =>
      Effect.gen(function* () {
        for (const key of yield* store.keys) {
          const kept = covers(key) && !seen.has(key) ? yield* store.resource(key) : undefined;
          if (kept === undefined) continue;
          yield* forget(key, kept.object);
          yield* queue.add(key);
        }
      }),
  } satisfies Watched;
});

/**
 * `followed`: resources may reference objects of this kind that belong to others, so that two lists each cover a part
 * of them.
 */
const ownObjects = Effect.fnUntraced(function* (
  queue: WorkQueue,
  wake: Effect.Effect<void>,
  { apiVersion, plural, kind, labels }: Kind & { readonly labels: string },
  followed: boolean,
) {
  const store = yield* Store;
  const named = yield* ReferenceIndex;
  return {
    group: groupPath(apiVersion),
    plural,
    which: { labels },
    changed: (object, how) =>
      Effect.gen(function* () {
        yield* addAll(queue, named.dependants(kind, nameOf(object)));
        if (how === "changed") yield* addAll(queue, yield* store.moved(object));
        const isNews = how === "gone"
          ? Effect.as(store.drop(object), true)
          : store.put(object, how === "listed" ? "list" : "watch");
        if (!(yield* isNews)) return;
        yield* wake;
        const owner = ownerOf(object);
        if (owner !== undefined && (yield* store.knows(owner))) yield* queue.addFollowUp(owner);
      }),
    listed: (seen, covers) =>
      Effect.gen(function* () {
        // A deletion without a watch event shows as an absence in the next list.
        yield* addAll(queue, yield* store.retain(kind, covers, seen));
        if (followed) yield* addAll(queue, named.missing(kind, seen));
      }),
  } satisfies Watched;
});

/** Secrets and ConfigMaps that resources reference and others own: their content is never cached. */
const foreignObjects = Effect.fnUntraced(function* (queue: WorkQueue, kind: string) {
  const named = yield* ReferenceIndex;
  const store = yield* Store;
  const labels = yield* LabelReader;
  const isBundle = (object: JsonObject) => kind === "ConfigMap" && liveObject(object).name === TRUSTED_BUNDLE;
  return {
    group: "/api/v1",
    plural: `${kind.toLowerCase()}s`,
    which: { labels: FOREIGN, metadataOnly: true },
    changed: (object, how) =>
      Effect.gen(function* () {
        if (isBundle(object)) yield* addAll(queue, named.bundleSeen(nameOf(object), how !== "gone", yield* store.keys));
        yield* addAll(queue, named.dependants(kind, nameOf(object)));
        if (kind === "Secret" && how !== "listed") yield* labels.secretChanged(nameOf(object));
      }),
    // A referenced object that is missing may have been deleted between watches. Each of the two lists of a kind covers
    // a part; an unnecessary reconciliation writes nothing.
    listed: (seen, covers) =>
      Effect.suspend(() => {
        if (kind === "ConfigMap") named.bundlesListed(seen, covers);
        return addAll(queue, named.missing(kind, seen));
      }),
  } satisfies Watched;
});

const settings = Effect.fnUntraced(function* (queue: WorkQueue) {
  const store = yield* Store;
  return {
    group: "/api/v1",
    plural: "configmaps",
    which: { fields: SETTINGS_FIELDS },
    ...(yield* followedSettings(Effect.flatMap(store.keys, (keys) => addAll(queue, keys)))),
  } satisfies Watched;
});

const addAll = (queue: WorkQueue, keys: Iterable<string>) => Effect.forEach(keys, queue.add, { discard: true });

const logFailure = (what: string) => (error: ClusterError) => {
  const { _tag, reason, detail, status = 0 } = error;
  const words = _tag === "NotFound" ? notServed(what) : detail;
  const warning = Effect.logWarning("watch failed").pipe(Effect.annotateLogs({ what, reason, detail: words, status }));
  return isPassing(error) || _tag === "Expired"
    ? warning
    : Effect.andThen(warning, unreadable(what, _tag === "NotFound" ? words : `${status} ${reason}: ${detail}`));
};

/** The API server's own response to an unknown path has no message. */
const notServed = (what: string): string =>
  what.includes(`/apis/${API_VERSION}/`)
    ? `CustomResourceDefinition ${CRD_NAME} is not installed, or does not serve ${API_VERSION}`
    : "the API server does not serve this kind";
