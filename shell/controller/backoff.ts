/** How long a resource waits after failed reconciliations. */
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN } from "../limits.ts";

export interface Backoff {
  /** Milliseconds until the next try. `nowMs`: by the monotonic clock. */
  readonly failed: (key: string, nowMs: number) => number;
  readonly succeeded: (key: string) => void;
}

/**
 * Twice as long with every retry that fails. A reconciliation that an event causes before the retry is due changes neither
 * count nor time: a burst of events during a short outage would otherwise postpone the retry by minutes.
 */
export const newBackoff = (): Backoff => {
  const failing = new Map<string, { readonly pauseMs: number; readonly dueAtMs: number }>();
  return {
    failed: (key, nowMs) => {
      const before = failing.get(key);
      if (before !== undefined && nowMs < before.dueAtMs) return before.dueAtMs - nowMs;
      const pauseMs = before === undefined ? BACKOFF_MS_MIN : Math.min(2 * before.pauseMs, BACKOFF_MS_MAX);
      failing.set(key, { pauseMs, dueAtMs: nowMs + pauseMs });
      return pauseMs;
    },
    succeeded: (key) => void failing.delete(key),
  };
};

/** When to reconcile next; undefined: only after a change. A retry does not postpone a look that is due before it. */
export const nextMs = (
  { retryMs, lookAgainMs }: { readonly retryMs: number | undefined; readonly lookAgainMs: number | undefined },
): number | undefined =>
  retryMs === undefined || lookAgainMs === undefined ? retryMs ?? lookAgainMs : Math.min(retryMs, lookAgainMs);
