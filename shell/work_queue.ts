/** Keys to work on: each at most once at a time and once in line, however often it is asked for. */
import { Duration, Effect, FiberMap, Queue } from "effect";
import { keyAdded } from "./metrics.ts";

export interface WorkQueue {
  /** Asks for a pass; a key that is being worked on gets another one afterwards. */
  readonly add: (key: string) => Effect.Effect<void>;
  /** Asks for a pass after a pause; a later call replaces an earlier one that has not come due. */
  readonly addAfter: (key: string, delayMs: number) => Effect.Effect<void>;
  /** Waits for a key; it counts as worked on until `done`. */
  readonly take: Effect.Effect<string>;
  readonly done: (key: string) => Effect.Effect<void>;
  /** Keys in line or being worked on. */
  readonly size: Effect.Effect<number>;
}

/** Needs a scope, in which the timers live. Holds as many keys as there are resources. */
export const makeWorkQueue = Effect.gen(function* () {
  const line = yield* Queue.unbounded<string>();
  const timers = yield* FiberMap.make<string>();
  const state = new Map<string, "queued" | "running" | "again">();
  const add = (key: string) =>
    Effect.suspend(() => {
      const now = state.get(key);
      if (now === "queued" || now === "again") return Effect.void;
      state.set(key, now === "running" ? "again" : "queued");
      return Effect.andThen(keyAdded, now === "running" ? Effect.void : Effect.asVoid(Queue.offer(line, key)));
    });
  const queue: WorkQueue = {
    add,
    addAfter: (key, delayMs) =>
      Effect.asVoid(FiberMap.run(timers, key, Effect.andThen(Effect.sleep(Duration.millis(delayMs)), add(key)))),
    take: Effect.tap(Queue.take(line), (key) => Effect.sync(() => state.set(key, "running"))),
    done: (key) =>
      Effect.suspend(() => {
        const again = state.get(key) === "again";
        state.delete(key);
        return again ? add(key) : Effect.void;
      }),
    size: Effect.sync(() => state.size),
  };
  return queue;
});
