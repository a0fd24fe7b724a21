/**
 * Keys to reconcile: each at most once at a time and queued once, however often it is added.
 *
 * There are two priorities. Requested work (an edited resource, a changed Secret) goes before follow-ups of the
 * operator's own writes (pods start, a status changes), so that a thousand new resources get their Deployments before
 * the first of them is reconciled again. Follow-ups are never starved: one of every `FOLLOW_UP_SHARE` keys is one.
 *
 * Within a priority, keys are taken round-robin over namespaces, and no namespace occupies all workers: however many
 * resources one tenant has, and however long each of them takes, the next resource of another tenant is reconciled
 * soon.
 */
import * as Effect from "effect/Effect";
import * as Queue from "effect/Queue";
import { delayedKeys } from "./delayed_keys.ts";
import { FOLLOW_UP_SHARE, WORKERS } from "../limits.ts";
import { keyAdded } from "../runtime/metrics.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import { namespaceRotation } from "./namespace_rotation.ts";

export type Priority = "asked" | "follow-up";

export interface WorkQueue {
  /** Requests a reconciliation of `namespace/name`; a key that is being reconciled is reconciled again afterwards. */
  readonly add: (key: string) => Effect.Effect<void>;
  /** As `add`, with the lower priority; a key that is queued already stays where it is. */
  readonly addFollowUp: (key: string) => Effect.Effect<void>;
  /** Adds the key after a delay; a later call replaces an earlier one that is not due yet. */
  readonly addAfter: (key: string, delayMs: number) => Effect.Effect<void>;
  /** Waits for a key and returns it with its priority; the key counts as being reconciled until `done`. */
  readonly take: Effect.Effect<{ readonly key: string; readonly priority: Priority }>;
  readonly done: (key: string) => Effect.Effect<void>;
  /** Keys that are queued or being reconciled. */
  readonly size: Effect.Effect<number>;
}

/** Needs a scope, in which the timer of the delayed keys lives. Holds as many keys as there are resources. */
export const makeWorkQueue = Effect.gen(function* () {
  // Together with `withheld`, one signal for each queued key; which key it is for is decided when it is taken.
  const signals = yield* Queue.unbounded<void>();
  // Signals that found only keys of namespaces that occupy as many workers as they may.
  let withheld = 0;
  const queued = { asked: namespaceRotation(), "follow-up": namespaceRotation() } as const;
  // Keys that are being reconciled, each with the priority with which it is queued afterwards, if any.
  const running = new Map<string, Priority | undefined>();
  const workers = new Map<string, number>();
  let taken = 0;

  const put = (priority: Priority) => (key: string) =>
    Effect.suspend(() => {
      if (running.has(key)) {
        const afterwards = running.get(key);
        if (afterwards !== "asked") running.set(key, priority);
        return afterwards === undefined ? keyAdded : Effect.void;
      }
      if (queued.asked.has(key)) return Effect.void;
      if (queued["follow-up"].has(key)) {
        if (priority === "asked" && queued["follow-up"].delete(key)) queued.asked.add(key);
        return Effect.void;
      }
      queued[priority].add(key);
      return Effect.andThen(keyAdded, Effect.asVoid(Queue.offer(signals, undefined)));
    });
  const mayTake = (namespace: string): boolean => (workers.get(namespace) ?? 0) < WORKERS - running.size;
  const next = (): { readonly key: string; readonly priority: Priority } | undefined => {
    const isFollowUpFirst = (taken + 1) % FOLLOW_UP_SHARE === 0;
    const order = isFollowUpFirst ? (["follow-up", "asked"] as const) : (["asked", "follow-up"] as const);
    for (const priority of order) {
      const key = queued[priority].take(mayTake);
      if (key === undefined) continue;
      taken++;
      running.set(key, undefined);
      count(key, 1);
      return { key, priority };
    }
    return undefined;
  };
  const count = (key: string, change: 1 | -1): void => {
    const namespace = namespaceOf(key);
    const now = (workers.get(namespace) ?? 0) + change;
    if (now === 0) workers.delete(namespace);
    else workers.set(namespace, now);
  };
  const take: WorkQueue["take"] = Effect.gen(function* () {
    for (;;) {
      yield* Queue.take(signals);
      const found = next();
      if (found !== undefined) return found;
      withheld++;
    }
  });
  const add = put("asked");
  const addAfter = yield* delayedKeys(add);
  const queue: WorkQueue = {
    add,
    addFollowUp: put("follow-up"),
    addAfter,
    take,
    done: (key) =>
      Effect.suspend(() => {
        const afterwards = running.get(key);
        running.delete(key);
        count(key, -1);
        const again = afterwards === undefined ? Effect.void : put(afterwards)(key);
        if (withheld === 0) return again;
        withheld--;
        return Effect.andThen(again, Effect.asVoid(Queue.offer(signals, undefined)));
      }),
    size: Effect.sync(() => queued.asked.size() + queued["follow-up"].size() + running.size),
  };
  return queue;
});
