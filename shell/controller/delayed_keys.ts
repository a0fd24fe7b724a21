/** Keys that come due later: one alarm for all of them, since a fiber with a timer for each takes 2 KiB of every resource. */
import * as Effect from "effect/Effect";
import * as FiberHandle from "effect/FiberHandle";
import { monotonicMs } from "../runtime/monotonic_clock.ts";

/**
 * `addAfter(key, delayMs)` runs `add(key)` after the delay; a later call replaces an earlier one that is not due yet.
 * Requires a scope for its timer. Holds as many keys as there are resources.
 */
export const delayedKeys = Effect.fnUntraced(function* (add: (key: string) => Effect.Effect<void>) {
  const alarm = yield* FiberHandle.make();
  // When each key comes due, by the monotonic clock.
  const dueAtMs = new Map<string, number>();
  let ringsAtMs = Infinity;

  /** Forgets what is due, and sets the time of the next ring, with nothing in between. */
  const takeDue = (nowMs: number): ReadonlyArray<string> => {
    const due: Array<string> = [];
    ringsAtMs = Infinity;
    for (const [key, atMs] of dueAtMs) {
      if (atMs <= nowMs) due.push(key);
      else ringsAtMs = Math.min(ringsAtMs, atMs);
    }
    for (const key of due) dueAtMs.delete(key);
    return due;
  };
  // Interrupted while it sleeps and never in the middle of what is due.
  const ringing = Effect.gen(function* () {
    while (ringsAtMs < Infinity) {
      yield* Effect.sleep(Math.max(0, ringsAtMs - (yield* monotonicMs)));
      const nowMs = yield* monotonicMs;
      yield* Effect.uninterruptible(
        Effect.suspend(() => Effect.forEach(takeDue(nowMs), add, { discard: true })),
      );
    }
  });
  return (key: string, delayMs: number): Effect.Effect<void> =>
    Effect.flatMap(monotonicMs, (nowMs) => {
      dueAtMs.set(key, nowMs + delayMs);
      if (nowMs + delayMs >= ringsAtMs) return Effect.void;
      ringsAtMs = nowMs + delayMs;
      return Effect.asVoid(FiberHandle.run(alarm, ringing));
    });
});
