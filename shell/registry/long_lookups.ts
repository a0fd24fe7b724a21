/**
 * Lookups with long responses, which few images have: only some are in memory at the same time, and namespaces alternate.
 * Short ones never wait.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import type { BodyBounds } from "./exchange.ts";
import { LONG_LOOKUPS_MAX } from "./limits.ts";

/** One for all lookups of a program. */
export class LongLookups extends Context.Service<LongLookups, PartitionedSemaphore.PartitionedSemaphore<string>>()(
  "llama-stack-operator/shell/LongLookups",
) {
  static readonly make = PartitionedSemaphore.make<string>({ permits: LONG_LOOKUPS_MAX });
}

/** For the requests of one lookup, which holds its place until its scope ends. */
export const beforeLong = Effect.fnUntraced(function* (namespace: string) {
  const places = yield* LongLookups;
  let held = 0;
  let isOver = false;
  yield* Effect.addFinalizer(() => {
    isOver = true;
    return places.release(held);
  });
  const enter: BodyBounds["beforeLong"] = async (signal) => {
    if (held > 0) return;
    await Effect.runPromise(places.take(namespace, 1), { signal });
    // The lookup may have ended in the meantime.
    if (isOver) await Effect.runPromise(places.release(1));
    else held = 1;
  };
  return enter;
});
