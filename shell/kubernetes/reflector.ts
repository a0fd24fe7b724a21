/**
 * Lists, then watches, then lists again when the API server requires it: a reflector of a selection of objects that
 * never falls behind silently.
 */
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Random from "effect/Random";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { Cluster, type ClusterError, type Selection } from "./cluster.ts";
import {
  DATABASE_LOOK_AGAIN_MS,
  DATABASE_LOOK_MS,
  DATABASE_LOOK_TIMEOUT_MS,
  RELIST_MS_MAX,
  RELIST_MS_MIN,
  WATCH_LIVED_MS,
} from "../limits.ts";
import { DatabaseSign } from "../runtime/restored_database.ts";

/** To the events of a reflector: each change once, and each complete list. `R`: services that they need. */
export interface Reactions<R = never> {
  /**
   * The object as a list shows it, as it came into the selection, or after a change; as it was last seen where it was deleted or
   * left the selection.
   */
  readonly changed: (object: JsonObject, how: "listed" | "added" | "changed" | "gone") => Effect.Effect<void, never, R>;
  /** Called after each complete list; `seen` are the keys `namespace/name` that exist. */
  readonly listed: (seen: ReadonlySet<string>) => Effect.Effect<void, never, R>;
  /** Called for each list, event and bookmark: the watch lives. */
  readonly heard: Effect.Effect<void, never, R>;
  /** A list or watch failed; it is retried automatically. */
  readonly failed: (error: ClusterError) => Effect.Effect<void, never, R>;
}

/** Runs until it is interrupted. */
export const reflect = Effect.fn("reflect")(function* <R>(
  selection: Selection & {
    /** Whether it checks for a restored etcd, while the watch is silent and whenever one begins. */
    readonly looksAtDatabase?: boolean;
  },
  reactions: Reactions<R>,
) {
  const cluster = yield* Cluster;
  const { isOlder } = yield* DatabaseSign;
  let version: string | undefined;
  let newest = 0;
  /**
   * Versions of one etcd only grow. A version that is not a number is inconclusive. `before`: one that is certainly older, not merely
   * received earlier: a watch and a list at the same time arrive in any order.
   */
  const seenVersion = (seen: string, before: number) =>
    Effect.suspend(() => {
      newest = Math.max(newest, Number(seen) || 0);
      return Number(seen) < before ? isOlder(selection.path) : Effect.void;
    });
  // Lists and watches in a row that failed, or ended as soon as they had begun.
  let failures = 0;
  // Versions in a row that were too old: after an outage the first one must not wait as long as its last failure did.
  let expiries = 0;

  const relist = Effect.gen(function* () {
    const seen = new Set<string>();
    const before = newest;
    const from = yield* cluster.eachPage(selection, (items) =>
      Effect.forEach(items, (item) => {
        seen.add(nameOf(item));
        return reactions.changed(item, "listed");
      }, { discard: true }));
    yield* seenVersion(from, before);
    yield* reactions.listed(seen);
    version = from;
    yield* reactions.heard;
    return from;
  });

  // The API server accepts a watch from a version that does not exist yet, and reports nothing until it does.
  const looked = Effect.gen(function* () {
    const before = newest;
    const list = yield* cluster.read(`${selection.path}?limit=1`);
    yield* seenVersion(stringAt(list, "metadata", "resourceVersion") ?? "", before);
  }).pipe(
    Effect.timeout(Duration.millis(DATABASE_LOOK_TIMEOUT_MS)),
    Effect.as(DATABASE_LOOK_MS),
    // A server that has just started may serve the watch a moment before the list.
    Effect.catch(() => Effect.succeed(DATABASE_LOOK_AGAIN_MS)),
  );
  const looks = (firstMs: number) =>
    selection.looksAtDatabase !== true ? Effect.never : Effect.gen(function* () {
      for (let pause = firstMs;; pause = yield* looked) yield* Effect.sleep(Duration.millis(pause));
    });

  const follow = Effect.fnUntraced(function* (from: string) {
    yield* Stream.runForEach(cluster.watch(selection, from), ({ type, object }) =>
      Effect.gen(function* () {
        yield* reactions.heard;
        const seen = stringAt(object, "metadata", "resourceVersion");
        if (seen !== undefined) yield* seenVersion(seen, Number(version));
        if (type === "ADDED") yield* reactions.changed(object, "added");
        if (type === "MODIFIED") yield* reactions.changed(object, "changed");
        if (type === "DELETED") yield* reactions.changed(object, "gone");
        if (seen !== undefined) version = seen;
      }));
  });

  const attempt = Effect.gen(function* () {
    const isNew = version === undefined;
    const from = version ?? (yield* relist);
    const startedMs = yield* Clock.currentTimeMillis;
    const exit = yield* Effect.result(Effect.raceFirst(follow(from), looks(isNew ? DATABASE_LOOK_MS : 0)));
    // Whatever ended it: after a watch that lived for a while, the next one needs no long delay.
    if ((yield* Clock.currentTimeMillis) - startedMs >= WATCH_LIVED_MS) {
      failures = expiries = 0;
      if (Result.isSuccess(exit)) return;
    }
    yield* Effect.fromResult(exit);
    yield* Effect.sleep(Duration.millis(yield* pauseMs(failures++)));
  }).pipe(
    Effect.catch((error) =>
      Effect.gen(function* () {
        yield* reactions.failed(error);
        // Too old to continue, not found, or forbidden: a list shows when that is over, while a watch may stay silent
        // for long.
        if (["Forbidden", "NotFound", "Expired"].includes(error._tag)) version = undefined;
        const pause = yield* pauseMs(error._tag === "Expired" ? expiries++ : failures++);
        yield* Effect.sleep(Duration.millis(Math.max(pause, error.retryAfterMs ?? 0)));
      })
    ),
  );

  return yield* Effect.forever(attempt);
});

export const nameOf = (object: JsonObject): string =>
  `${stringAt(object, "metadata", "namespace") ?? ""}/${stringAt(object, "metadata", "name") ?? ""}`;

/** With jitter, so that the reflectors of all replicas do not retry at the same moment. */
const pauseMs = (failures: number) =>
  Effect.map(Random.nextBetween(0.8, 1.2), (factor) => Math.min(RELIST_MS_MIN * 2 ** failures, RELIST_MS_MAX) * factor);
