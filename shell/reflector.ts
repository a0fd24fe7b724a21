/** List, then watch, then list again when the API server says so: a mirror of a selection of objects that never falls behind silently. */
import { Duration, Effect, Ref, Schedule, Stream } from "effect";
import { type JsonObject, stringAt } from "../core/json.ts";
import { Cluster, type ClusterError, type Selection } from "./cluster.ts";
import { RELIST_MS_MAX, RELIST_MS_MIN } from "./limits.ts";

/** What a mirror tells: each change once, and that the first list is complete. */
export interface Mirror {
  /** The object after the change; for a deletion, as it was last seen. */
  readonly changed: (object: JsonObject, how: "present" | "gone") => Effect.Effect<void>;
  /** Called after each complete list; `seen` are the keys `namespace/name` that exist. */
  readonly listed: (seen: ReadonlySet<string>) => Effect.Effect<void>;
  /** Called for each list, event and bookmark: the watch lives. */
  readonly heard: Effect.Effect<void>;
  /** A list or watch that failed; it is tried again by itself. */
  readonly failed: (error: ClusterError) => Effect.Effect<void>;
}

/** Runs until it is interrupted. */
export const reflect = Effect.fn("reflect")(function* (selection: Selection, mirror: Mirror) {
  const cluster = yield* Cluster;
  const version = yield* Ref.make<string | undefined>(undefined);

  const relist = Effect.gen(function* () {
    const { items, resourceVersion } = yield* cluster.list(selection);
    yield* Effect.forEach(items, (item) => mirror.changed(item, "present"), { discard: true });
    yield* mirror.listed(new Set(items.map(nameOf)));
    yield* Ref.set(version, resourceVersion);
    yield* mirror.heard;
    return resourceVersion;
  });

  const cycle = Effect.gen(function* () {
    const from = (yield* Ref.get(version)) ?? (yield* relist);
    yield* Stream.runForEach(cluster.watch(selection, from), ({ type, object }) =>
      Effect.gen(function* () {
        yield* mirror.heard;
        const seen = stringAt(object, "metadata", "resourceVersion");
        if (type === "ADDED" || type === "MODIFIED") yield* mirror.changed(object, "present");
        if (type === "DELETED") yield* mirror.changed(object, "gone");
        if (seen !== undefined) yield* Ref.set(version, seen);
      }));
  }).pipe(
    // Too old to go on from there: the next cycle lists.
    Effect.tapError((error) => error.status === 410 ? Ref.set(version, undefined) : Effect.void),
    Effect.tapError((error) => mirror.failed(error)),
  );

  return yield* Effect.forever(Effect.retry(cycle, BACKOFF));
});

export const nameOf = (object: JsonObject): string =>
  `${stringAt(object, "metadata", "namespace") ?? ""}/${stringAt(object, "metadata", "name") ?? ""}`;

const BACKOFF = Schedule.jittered(
  Schedule.min([Schedule.exponential(Duration.millis(RELIST_MS_MIN)), Schedule.spaced(Duration.millis(RELIST_MS_MAX))]),
);
