/**
 * Admission of resources that are too large for the cache: one at a time, because each needs much memory, and
 * round-robin over namespaces. Callers do not wait here, because a waiting worker would be missing elsewhere: they ask
 * again.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { LARGE_ASKS_WITHIN_MS } from "../limits.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";

export interface LargeResourceSlot {
  /** Whether the resource `namespace/name` may be processed; it holds the slot until `end`. */
  readonly begin: (key: string, nowMs: number) => boolean;
  readonly end: () => void;
}

/** One for all reconciliations. */
export class LargeResources
  extends Context.Service<LargeResources, LargeResourceSlot>()("llama-stack-operator/shell/LargeResources") {
  static readonly make = Effect.sync(() => largeResourceSlot());
}

export const largeResourceSlot = (): LargeResourceSlot => {
  // Namespaces that have to ask again, the longest waiting first, each with the time of its last request.
  const waiting = new Map<string, number>();
  let isBusy = false;
  return {
    begin: (key, nowMs) => {
      const namespace = namespaceOf(key);
      for (const [other, askedMs] of waiting) if (nowMs - askedMs > LARGE_ASKS_WITHIN_MS) waiting.delete(other);
      const [first = namespace] = waiting.keys();
      if (isBusy || first !== namespace) {
        waiting.set(namespace, nowMs);
        return false;
      }
      waiting.delete(namespace);
      isBusy = true;
      return true;
    },
    end: () => {
      isBusy = false;
    },
  };
};
