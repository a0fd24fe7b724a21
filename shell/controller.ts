/** Changes in the cluster → keys → passes; what follows a pass is decided in one place, the switch on its outcome. */
import { Cause, Clock, Context, Duration, Effect, Exit, Latch } from "effect";
import { Result } from "effect";
import { decodeResource } from "../core/api/decode.ts";
import { type JsonObject, stringAt } from "../core/json.ts";
import { referencesOf } from "../core/plan/references.ts";
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, COALESCE_MS, WORKERS } from "./limits.ts";
import type { Selection } from "./cluster.ts";
import { heard, passEnded, showFigures } from "./metrics.ts";
import { type Outcome, reconcile } from "./reconcile.ts";
import { type Mirror, nameOf, reflect } from "./reflector.ts";
import { AskedServers } from "./server_answers.ts";
import { ownerOf, Store } from "./store.ts";
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
  const named = referenceIndex();
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

  const resources = reflectIn(namespaces, "/apis/llamastack.io/v1alpha2", "llamastackdistributions", {}, (what) => ({
    changed: (object, how) =>
      Effect.gen(function* () {
        const key = nameOf(object);
        if (how === "gone") {
          named.forget(key);
          yield* store.drop(object);
          return;
        }
        const before = yield* store.resource(key);
        yield* store.put(object);
        named.remember(key, object);
        // Our own status writes come back as changes; they ask for nothing.
        if (before === undefined || !sameButStatus(before, object)) yield* queue.add(key);
      }),
    listed: (seen) =>
      Effect.gen(function* () {
        for (const object of yield* store.resources) {
          const watched = namespaces.length === 0 ||
            what.endsWith(`/${stringAt(object, "metadata", "namespace") ?? ""}/llamastackdistributions`);
          if (watched && !seen.has(nameOf(object))) yield* store.drop(object);
        }
        yield* listedOnce(what);
      }),
    failed: logFailure(what),
  }));

  const mirrored = [
    ...[...OWN_KINDS, ...(routes ? [ROUTES] : [])].map((kind) => ({ ...kind, labels: OURS })),
    ...POD_KINDS.map((kind) => ({ ...kind, labels: POD_LABELS })),
  ];
  const own = mirrored.map(({ group, plural, labels }) =>
    reflectIn(namespaces, group, plural, { labels }, (what) => ({
      changed: (object, how) =>
        Effect.gen(function* () {
          yield* how === "gone" ? store.drop(object) : store.put(object);
          const owner = ownerOf(object);
          if (owner !== undefined && (yield* store.resource(owner)) !== undefined) yield* queue.add(owner);
        }),
      listed: () => listedOnce(what),
      failed: logFailure(what),
    }))
  );

  const foreign = (["Secret", "ConfigMap"] as const).map((kind) =>
    reflectIn(namespaces, "/api/v1", `${kind.toLowerCase()}s`, { metadataOnly: true }, (what) => ({
      changed: (object) =>
        Effect.forEach(named.dependants(kind, nameOf(object)), (key) => queue.add(key), { discard: true }),
      listed: () => listedOnce(what),
      failed: logFailure(what),
    }))
  );

  // Failed passes in a row, by key; gone with the first good one.
  const failed = new Map<string, number>();
  const mirrors = [...resources, ...own.flat(), ...foreign.flat()];
  expected = mirrors.length;
  const workers = Array.from(
    { length: WORKERS },
    () => Effect.andThen(Latch.await(complete), Effect.forever(pass(queue, failed))),
  );
  const asked = yield* AskedServers;
  const answers = Effect.forever(Effect.flatMap(asked.changed, queue.add));
  yield* Effect.all([...mirrors, ...workers, answers], {
    concurrency: "unbounded",
    discard: true,
  });
}).pipe(Effect.scoped);

/** Objects that we make carry this label. */
const OURS = "app.kubernetes.io/managed-by=llama-stack-operator";

/** Pods and ReplicaSets carry the labels of the Deployment's selector only. */
const POD_LABELS = "app=llama-stack";

interface Kind {
  readonly group: string;
  readonly plural: string;
}

const ROUTES: Kind = { group: "/apis/route.openshift.io/v1", plural: "routes" };
const OWN_KINDS: ReadonlyArray<Kind> = [
  { group: "/apis/apps/v1", plural: "deployments" },
  { group: "/api/v1", plural: "configmaps" },
  { group: "/api/v1", plural: "persistentvolumeclaims" },
  { group: "/api/v1", plural: "secrets" },
  { group: "/api/v1", plural: "serviceaccounts" },
  { group: "/api/v1", plural: "services" },
  { group: "/apis/autoscaling/v2", plural: "horizontalpodautoscalers" },
  { group: "/apis/networking.k8s.io/v1", plural: "ingresses" },
  { group: "/apis/networking.k8s.io/v1", plural: "networkpolicies" },
  { group: "/apis/policy/v1", plural: "poddisruptionbudgets" },
];
const POD_KINDS: ReadonlyArray<Kind> = [
  { group: "/api/v1", plural: "pods" },
  { group: "/apis/apps/v1", plural: "replicasets" },
];

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
  const part = more.metadataOnly === true ? " (metadata)" : "";
  return paths.map((path) => {
    const what = `${path}${part}`;
    return reflect({ path, ...more }, { ...mirror(what), heard: heard(what) });
  });
};

/** One pass with its outcome: an error backs off, a pause is kept, everything else waits for a change. */
const pass = Effect.fnUntraced(function* (queue: WorkQueue, failed: Map<string, number>) {
  const key = yield* queue.take;
  // Bursts become one pass: what arrives within this pause is seen by it.
  yield* Effect.sleep(Duration.millis(COALESCE_MS));
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
    yield* Effect.logError("pass failed").pipe(
      Effect.annotateLogs({ namespace, name, cause: Cause.pretty(exit.cause) }),
    );
    yield* again;
  } else if (exit.value?.backOff === true) {
    yield* again;
  } else {
    failed.delete(key);
    if (exit.value?.lookAgainMs !== undefined) yield* queue.addAfter(key, exit.value.lookAgainMs);
  }
  yield* queue.done(key);
});

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

/** Which resources name a Secret or ConfigMap. */
const referenceIndex = () => {
  const byResource = new Map<string, ReadonlyArray<string>>();
  const byObject = new Map<string, Set<string>>();
  const forget = (key: string): void => {
    for (const object of byResource.get(key) ?? []) {
      byObject.get(object)?.delete(key);
      if (byObject.get(object)?.size === 0) byObject.delete(object);
    }
    byResource.delete(key);
  };
  return {
    forget,
    remember: (key: string, resource: JsonObject): void => {
      forget(key);
      const decoded = decodeResource(resource, "lenient");
      if (Result.isFailure(decoded)) return;
      const own = stringAt(resource, "metadata", "namespace") ?? "";
      const objects = referencesOf(decoded.success.spec).map(({ kind, name, namespace = own }) =>
        `${kind} ${namespace}/${name}`
      );
      byResource.set(key, objects);
      for (const object of objects) byObject.set(object, (byObject.get(object) ?? new Set()).add(key));
    },
    dependants: (kind: string, name: string): ReadonlyArray<string> => [...(byObject.get(`${kind} ${name}`) ?? [])],
  };
};
