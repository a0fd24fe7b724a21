/** Changes in the cluster → keys → passes; what follows a pass is decided in one place, the switch on its outcome. */
import { Cause, Clock, Context, Duration, Effect, Exit, Latch, Ref } from "effect";
import { type JsonObject, stringAt } from "../core/json.ts";
import { groupPath, OWN_KINDS, POD_KINDS, ROUTES } from "../core/plan/kinds.ts";
import { stopsOf } from "../core/plan/pacing.ts";
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, COALESCE_MS, SECRET_POLL_MS, WORKERS } from "./limits.ts";
import { Cluster, ClusterError, type Selection } from "./cluster.ts";
import { heard, passEnded, showFigures } from "./metrics.ts";
import { OperatorFacts, SecretPolling } from "./observe.ts";
import { LiveSettings, SETTINGS_FIELDS, takeOver } from "./operator_settings.ts";
import { type Outcome, reconcile } from "./reconcile.ts";
import { Named } from "./reference_index.ts";
import { type Mirror, nameOf, reflect } from "./reflector.ts";
import { AskedServers } from "./server_answers.ts";
import { ownerOf, Store } from "./store.ts";
import { type WaitingRoom, waitingRoom } from "./waiting_room.ts";
import { makeWorkQueue, type WorkQueue } from "./work_queue.ts";

/** The namespaces that are watched; empty means all. */
export class Scope
  extends Context.Service<Scope, { readonly namespaces: ReadonlyArray<string>; readonly routes: boolean }>()(
    "llama-stack-operator/shell/Scope",
  ) {}

/** Watches and works until it is interrupted. */
export const controller = Effect.gen(function* () {
  const { namespaces, routes } = yield* Scope;
  const store = yield* Store;
  const queue = yield* makeWorkQueue;
  yield* showFigures({ resources: store.resources, depth: queue.size });
  const named = yield* Named;
  // No pass before every mirror is complete: half a picture would be reported as the whole.
  const complete = yield* Latch.make();
  const first = new Set<string>();
  let expected = Number.POSITIVE_INFINITY;
  const listedOnce = (what: string) =>
    Effect.suspend(() => {
      first.add(what);
      return first.size >= expected ? Effect.asVoid(Latch.open(complete)) : Effect.void;
    });

  const logFailure =
    (what: string) =>
    (error: { readonly reason: string; readonly detail: string; readonly status: number | undefined }) =>
      Effect.logWarning("watch failed").pipe(
        Effect.annotateLogs({ what, reason: error.reason, detail: error.detail, status: error.status ?? 0 }),
      );

  /** Whether a mirror, by its name, shows objects of the namespace of a resource. */
  const covers = (what: string, key: string): boolean =>
    namespaces.length === 0 || what.includes(`/namespaces/${key.split("/")[0]}/`);

  const waiting = waitingRoom();
  /** As many as could go now, and whoever has something else to tell; who really goes is decided in their passes. */
  const wake = Effect.gen(function* () {
    if (waiting.isEmpty()) return;
    const { list, version } = yield* store.away;
    const rolling = list.filter(({ state }) => state === "rolling").length;
    const { upgradeParallelism } = yield* Ref.get(yield* LiveSettings);
    for (const key of waiting.called(version, upgradeParallelism - rolling, stopsOf(list))) yield* queue.add(key);
  });

  const resources = reflectIn(namespaces, "/apis/llamastack.io/v1alpha2", "llamastackdistributions", {}, (what) => ({
    changed: (object, how) =>
      Effect.gen(function* () {
        const key = nameOf(object);
        if (how === "gone") {
          named.forget(key);
          yield* store.drop(object);
          return;
        }
        const formerly = yield* store.resourceNow(key);
        // Our own status writes come back as changes; they ask for nothing.
        if (!(yield* store.put(object, how === "listed" ? "list" : "watch"))) return;
        const before = formerly();
        if (before !== undefined && sameButStatus(before, object)) return;
        yield* queue.add(key);
      }),
    listed: (seen) =>
      Effect.gen(function* () {
        for (const key of yield* store.keys) {
          const object = covers(what, key) && !seen.has(key) ? yield* store.resource(key) : undefined;
          if (object === undefined) continue;
          named.forget(key);
          yield* store.drop(object);
        }
        yield* listedOnce(what);
      }),
    failed: logFailure(what),
  }));

  const wakeDependants = (kind: string, object: JsonObject) =>
    Effect.forEach(named.dependants(kind, nameOf(object)), (key) => queue.add(key), { discard: true });

  const polling = yield* SecretPolling;
  const followed: ReadonlyArray<string> = polling ? ["ConfigMap"] : ["Secret", "ConfigMap"];
  // As a deletion of our own objects: what is named and not there may have been deleted while no watch looked. Each of the two
  // lists of a kind shows a part of it; a pass too many writes nothing.
  const wakeDependantsOfMissing = (kind: string, seen: ReadonlySet<string>) =>
    Effect.forEach(followed.includes(kind) ? named.missing(kind, seen) : [], (key) => queue.add(key), {
      discard: true,
    });
  const mirrored = [
    ...[...OWN_KINDS.filter(({ kind }) => !polling || kind !== "Secret"), ...(routes ? [ROUTES] : [])].map((kind) => ({
      ...kind,
      labels: OURS,
    })),
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS })),
  ];
  const own = mirrored.map(({ apiVersion, plural, kind, labels }) =>
    reflectIn(namespaces, groupPath(apiVersion), plural, { labels }, (what) => ({
      changed: (object, how) =>
        Effect.gen(function* () {
          yield* wakeDependants(kind, object);
          const isNews = how === "gone"
            ? Effect.as(store.drop(object), true)
            : store.put(object, how === "listed" ? "list" : "watch");
          if (!(yield* isNews)) return;
          yield* wake;
          const owner = ownerOf(object);
          if (owner !== undefined && (yield* store.knows(owner))) yield* queue.addFollowUp(owner);
        }),
      listed: (seen) =>
        Effect.gen(function* () {
          // A deletion that no watch told of shows as an absence in the next list.
          for (const owner of yield* store.retain(kind, (key) => covers(what, key), seen)) yield* queue.add(owner);
          yield* wakeDependantsOfMissing(kind, seen);
          yield* listedOnce(what);
        }),
      failed: logFailure(what),
    }))
  );

  const foreign = followed.map((kind) =>
    reflectIn(namespaces, "/api/v1", `${kind.toLowerCase()}s`, { labels: FOREIGN, metadataOnly: true }, (what) => ({
      changed: (object) => wakeDependants(kind, object),
      listed: (seen) => Effect.andThen(wakeDependantsOfMissing(kind, seen), listedOnce(what)),
      failed: logFailure(what),
    }))
  );

  const { platform, surroundings } = yield* OperatorFacts;
  const cluster = yield* Cluster;
  const settings = reflectIn(
    [platform.operatorNamespace],
    "/api/v1",
    "configmaps",
    { fields: SETTINGS_FIELDS },
    (what) => ({
      changed: (object, how) =>
        Effect.gen(function* () {
          yield* takeOver(how === "gone" ? undefined : object, [...surroundings.distributions.keys()]).pipe(
            Effect.provideService(Cluster, cluster),
          );
          for (const key of yield* store.keys) yield* queue.add(key);
        }),
      listed: () => listedOnce(what),
      failed: logFailure(what),
    }),
  );

  // Failed passes in a row, by key; gone with the first good one.
  const failed = new Map<string, number>();
  const mirrors = [...resources, ...own.flat(), ...foreign.flat(), ...settings];
  expected = mirrors.length;
  const workers = Array.from(
    { length: WORKERS },
    () => Effect.andThen(Latch.await(complete), Effect.forever(pass(queue, failed, waiting, wake))),
  );
  const asked = yield* AskedServers;
  const answers = Effect.forever(Effect.flatMap(asked.changed, queue.addFollowUp));
  const disturbances = Effect.forever(Effect.flatMap(store.disturbed, queue.add));
  // Nothing tells of a changed Secret: each resource that names one looks at it now and then.
  const polls = Effect.forever(Effect.gen(function* () {
    yield* Effect.sleep(Duration.millis(SECRET_POLL_MS));
    for (const key of named.resourcesNaming("Secret")) yield* queue.add(key);
  }));
  yield* Effect.all([...mirrors, ...workers, answers, disturbances, ...(polling ? [polls] : [])], {
    concurrency: "unbounded",
    discard: true,
  });
}).pipe(Effect.scoped);

/** Objects that we make carry this label. */
export const OURS = "app.kubernetes.io/managed-by=llama-stack-operator";

/** All others. Ours are mirrored already: what is told of them twice is paid for twice, by the API server too. */
const FOREIGN = "app.kubernetes.io/managed-by!=llama-stack-operator";

/** Pods and ReplicaSets carry the labels of the Deployment's selector only. */
export const POD_LABELS = "app=llama-stack";

const reflectIn = (
  namespaces: ReadonlyArray<string>,
  group: string,
  plural: string,
  more: Omit<Selection, "path">,
  mirror: (path: string) => Omit<Mirror, "heard">,
) => {
  const paths = namespaces.length === 0
    ? [`${group}/${plural}`]
    : namespaces.map((one) => `${group}/namespaces/${one}/${plural}`);
  // Two mirrors may read one collection, each another part of it: the name tells them apart.
  const part = more.metadataOnly === true ? " (metadata)" : more.fields === undefined ? "" : ` (${more.fields})`;
  return paths.map((path) => {
    const what = `${path}${part}`;
    return reflect({ path, ...more }, { ...mirror(what), heard: heard(what) });
  });
};

/** One pass with its outcome: an error backs off, a pause is kept, everything else waits for a change. */
const pass = Effect.fnUntraced(function* (
  queue: WorkQueue,
  failed: Map<string, number>,
  waiting: WaitingRoom,
  wake: Effect.Effect<void>,
) {
  const { key, line } = yield* queue.take;
  // Our own writes answer in bursts, which become one pass; somebody who asked does not wait for one.
  if (line === "follow-up") yield* Effect.sleep(Duration.millis(COALESCE_MS));
  const [namespace = "", name = ""] = key.split("/");
  const startNanos = yield* Clock.monotonicTimeNanos;
  const exit = yield* Effect.exit(reconcile(key)).pipe(Effect.annotateLogs({ namespace, name }));
  yield* passEnded(resultOf(exit), Number((yield* Clock.monotonicTimeNanos) - startNanos) / 1e9);
  const again = Effect.suspend(() => {
    const count = failed.get(key) ?? 0;
    failed.set(key, count + 1);
    return queue.addAfter(key, Math.min(BACKOFF_MS_MIN * 2 ** count, BACKOFF_MS_MAX));
  });
  if (Exit.isFailure(exit)) {
    if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt;
    yield* isOvertaken(exit.cause)
      ? Effect.logInfo("pass overtaken by a change").pipe(Effect.annotateLogs({ namespace, name }))
      : Effect.logError("pass failed").pipe(Effect.annotateLogs({ namespace, name, cause: Cause.pretty(exit.cause) }));
    yield* again;
  } else if (exit.value?.backOff === true) {
    yield* again;
  } else {
    failed.delete(key);
    if (exit.value?.lookAgainMs !== undefined) yield* queue.addAfter(key, exit.value.lookAgainMs);
  }
  if (Exit.isSuccess(exit)) {
    waiting.place(key, exit.value?.waitsIn);
    // A place became free between the decision and now: nobody would call this one.
    const { version } = yield* (yield* Store).away;
    if (exit.value?.waitsIn !== undefined && exit.value.awayVersion !== version) {
      yield* queue.addAfter(key, COALESCE_MS);
    }
  }
  yield* wake;
  yield* queue.done(key);
});

/** Somebody else wrote between our look and our write: the next pass sees it. No news for the person who reads the log. */
const isOvertaken = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause);
  return error instanceof ClusterError && error.status === 409;
};

/** The words of controller-runtime. */
const resultOf = (exit: Exit.Exit<Outcome | undefined, unknown>) =>
  Exit.isFailure(exit)
    ? "error"
    : exit.value?.backOff === true
    ? "requeue"
    : exit.value?.lookAgainMs === undefined
    ? "success"
    : "requeue_after";

const sameButStatus = (a: JsonObject, b: JsonObject): boolean =>
  stringAt(a, "metadata", "uid") === stringAt(b, "metadata", "uid") &&
  JSON.stringify([a.spec, annotationsOf(a), deletionOf(a)]) ===
    JSON.stringify([b.spec, annotationsOf(b), deletionOf(b)]);

const annotationsOf = (object: JsonObject) => (object.metadata as JsonObject | undefined)?.annotations ?? null;
const deletionOf = (object: JsonObject) => stringAt(object, "metadata", "deletionTimestamp") ?? "";
