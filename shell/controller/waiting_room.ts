/** Resources that wait for an upgrade slot, and which of them are reconciled next. */
import { holdingSlots, stopperOf, type Waiting } from "../../core/plan/rollout/upgrade_slots.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import type { RollingUpgrade } from "../../core/snapshot/rolling_upgrade.ts";

/** What the last reconciliation of a waiting resource decided. */
export interface Waiter extends Waiting {
  /** `namespace/name` of the failed upgrade that stops it; undefined while it waits for a free slot. */
  readonly stoppedAt: string | undefined;
}

/** The upgrades under way, as the store knows them. */
export interface Upgrades {
  readonly list: ReadonlyArray<RollingUpgrade>;
  /** Grows with every change of the list. */
  readonly version: number;
}

export interface WaitingRoom {
  readonly isEmpty: () => boolean;
  /** After a reconciliation; undefined for a resource that does not wait, is gone, or could not be reconciled. */
  readonly reconciled: (key: string, waiter: Waiter | undefined) => void;
  /**
   * The resources to reconcile now: of each queue as many as there are free slots, and each one whose upgrade was
   * stopped or released by a failed upgrade, because its status reports that. Namespaces with fewer slots come first,
   * and within one the resources that arrived first.
   */
  readonly called: (upgrades: Upgrades, nowMs: number, parallelism: number) => ReadonlyArray<string>;
}

export const waitingRoom = (): WaitingRoom => {
  const waiters = new Map<string, Waiter>();
  // Called, and not reconciled since: each may take a slot.
  const underWay = new Set<string>();
  // The inputs of the last call; a call with equal inputs has no new result.
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
      const holders = holdingSlots(list, nowMs);
      const held = holders.length;
      const basis = `${version} ${held} ${parallelism}`;
      if (basis === last) return [];
      last = basis;
      const free = parallelism - held;
      const stops = new Map<string, string | undefined>();
      const stopOf = (waiter: Waiter): string | undefined => {
        const place = JSON.stringify([waiter.namespace, waiter.queue, waiter.pins]);
        if (!stops.has(place)) stops.set(place, stopperOf(list, waiter)?.key);
        return stops.get(place);
      };
      const stopChanged = [...waiters].filter(([key, waiter]) =>
        !underWay.has(key) && stopOf(waiter) !== waiter.stoppedAt
      );
      const ready = [...waiters].filter(([, waiter]) => stopOf(waiter) === undefined && waiter.stoppedAt === undefined);
      const served = Map.groupBy(ready, ([, { queue }]) => queue).values()
        .flatMap((waiting) => firstOf(waiting, free, slotsByNamespace(holders)))
        .filter((key) => !underWay.has(key));
      const chosen = new Set([...stopChanged.map(([key]) => key), ...served]);
      const next = [...waiters.keys()].filter((key) => chosen.has(key));
      for (const key of next) underWay.add(key);
      return next;
    },
  };
};

const slotsByNamespace = (holders: ReadonlyArray<RollingUpgrade>): Map<string, number> => {
  const slots = new Map<string, number>();
  for (const { key } of holders) slots.set(namespaceOf(key), (slots.get(namespaceOf(key)) ?? 0) + 1);
  return slots;
};

/** Gives out `free` slots, each to the first resource of the namespace that has the fewest then. */
const firstOf = (
  waiting: ReadonlyArray<readonly [string, Waiter]>,
  free: number,
  slots: Map<string, number>,
): ReadonlyArray<string> => {
  const queues = [...Map.groupBy(waiting, ([, { namespace }]) => namespace)]
    .map(([namespace, resources]) => ({ namespace, keys: resources.map(([key]) => key) }));
  const served: Array<string> = [];
  while (served.length < free) {
    const first = queues.filter(({ keys }) => keys.length > 0)
      .reduce<(typeof queues)[number] | undefined>(
        (least, queue) =>
          least === undefined || (slots.get(queue.namespace) ?? 0) < (slots.get(least.namespace) ?? 0) ? queue : least,
        undefined,
      );
    const key = first?.keys.shift();
    if (first === undefined || key === undefined) break;
    slots.set(first.namespace, (slots.get(first.namespace) ?? 0) + 1);
    served.push(key);
  }
  return served;
};
