/**
 * Who may work on a resource that is too large to be kept: one at a time, since it takes much memory, and namespaces take turns.
 * Nobody waits here, because a worker that waited would be missed by everybody else: who finds another at work asks again.
 */
import { LARGE_RETRY_MS } from "../limits.ts";
import { namespaceOf } from "./namespace_turns.ts";

export interface LargeTurns {
  /** Whether it is the turn of the resource `namespace/name`; then it lasts until `end`. */
  readonly begin: (key: string, nowMs: number) => boolean;
  readonly end: () => void;
}

export const largeTurns = (): LargeTurns => {
  // Namespaces that were told to ask again, the one that waits the longest first, each with the time of its last question.
  const waiting = new Map<string, number>();
  let isBusy = false;
  return {
    begin: (key, nowMs) => {
      const namespace = namespaceOf(key);
      for (const [other, askedMs] of waiting) if (nowMs - askedMs > ASKS_WITHIN_MS) waiting.delete(other);
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

/** Who has not asked again by then, in milliseconds, no longer waits: its resource is gone, or workers are few. */
const ASKS_WITHIN_MS = 4 * LARGE_RETRY_MS;
