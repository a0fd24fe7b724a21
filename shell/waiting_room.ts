/** Resources that wait for an upgrade slot, and which of them are reconciled next. */
import { type Away, holdingSlots, stopperOf, type Waiting } from "../core/plan/pacing.ts";

/** What the last reconciliation of a waiting resource decided. */
export interface Waiter extends Waiting {
  /** `namespace/name` of the failed upgrade that stops it; undefined while it waits for a free slot. */
  readonly stoppedAt: string | undefined;
}

/** The upgrades under way, as the store knows them. */
export interface Upgrades {
  readonly list: ReadonlyArray<Away>;
  /** Grows with every change of the list. */
  readonly version: number;
}

export interface WaitingRoom {
  readonly isEmpty: () => boolean;
  /** After a reconciliation; undefined for a resource that does not wait, is gone, or could not be reconciled. */
  readonly reconciled: (key: string, waiter: Waiter | undefined) => void;
  /**
   * Those to reconcile now: of each queue as many as slots are free, first come, first served, and each one that a failed
   * upgrade stops, or stops no more, since its status says so.
   */
  readonly called: (upgrades: Upgrades, nowMs: number, parallelism: number) => ReadonlyArray<string>;
}

export const waitingRoom = (): WaitingRoom => {
  const waiters = new Map<string, Waiter>();
  // Called, and not reconciled since: each may take a slot.
  const underWay = new Set<string>();
  // What the last call rested on; a call that rests on the same has nothing new to say.
  let last = "";
  return {
    isEmpty: () => waiters.size === 0,
    reconciled: (key, waiter) => {
      if (waiter === undefined && !waiters.has(key)) return;
      underWay.delete(key);
      if (waiter === undefined) waiters.delete(key);
      else waiters.set(key, waiter);
      last = "";
    },
    called: ({ list, version }, nowMs, parallelism) => {
      const held = holdingSlots(list, nowMs).length;
      const basis = `${version} ${held} ${parallelism}`;
      if (basis === last) return [];
      last = basis;
      const counts = new Map<string, number>();
      const stops = new Map<string, string | undefined>();
      const stopOf = (waiter: Waiter): string | undefined => {
        const place = JSON.stringify([waiter.namespace, waiter.queue, waiter.pins]);
        if (!stops.has(place)) stops.set(place, stopperOf(list, waiter)?.key);
        return stops.get(place);
      };
      const next = [...waiters].filter(([key, waiter]) => {
        const stop = stopOf(waiter);
        if (!underWay.has(key) && stop !== waiter.stoppedAt) return true;
        if (stop !== undefined) return false;
        const count = counts.get(waiter.queue) ?? 0;
        if (count >= parallelism - held) return false;
        counts.set(waiter.queue, count + 1);
        return !underWay.has(key);
      }).map(([key]) => key);
      for (const key of next) underWay.add(key);
      return next;
    },
  };
};
