import { deepStrictEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { holdingSlots, stopperOf } from "../../core/plan/rollout/upgrade_slots.ts";
import type { RollingUpgrade } from "../../core/snapshot/rolling_upgrade.ts";
import { type Waiter, waitingRoom } from "./waiting_room.ts";

const waiter = (queue: string, stoppedAt?: string): Waiter => ({ namespace: "a", queue, pins: "p", stoppedAt });
const room = () => {
  const waiting = waitingRoom();
  for (const name of ["1", "2", "3"]) {
    for (const queue of ["starter", "ogx"]) waiting.reconciled(`a/${queue}${name}`, waiter(queue));
  }
  return waiting;
};
const failed = (key: string): RollingUpgrade => ({ key, queue: "starter", pins: "p", state: "failed", slotEndsMs: 0 });
const rolling = (key: string, slotEndsMs = 1_000_000): RollingUpgrade => ({
  key,
  queue: "starter",
  pins: "p",
  state: "rolling",
  slotEndsMs,
});

Deno.test("waitingRoom() calls the first of each queue, as many as slots are free, each once", () => {
  const waiting = room();
  const upgrades = { list: [], version: 1 };
  deepStrictEqual(waiting.called(upgrades, 0, 2), ["a/starter1", "a/ogx1", "a/starter2", "a/ogx2"]);
  deepStrictEqual(waiting.called(upgrades, 0, 2), []);
});

Deno.test("waitingRoom() passes on the slot of a resource that did not use it", () => {
  const waiting = room();
  const upgrades = { list: [], version: 1 };
  deepStrictEqual(waiting.called(upgrades, 0, 1), ["a/starter1", "a/ogx1"]);
  // It was deleted, or its Deployment was rejected: nothing of the upgrades changed.
  waiting.reconciled("a/starter1", undefined);
  deepStrictEqual(waiting.called(upgrades, 0, 1), ["a/starter2"]);
});

Deno.test("waitingRoom() calls the next one when the time of a slot is over, without any other change", () => {
  const waiting = room();
  const upgrades = { list: [rolling("b/slow", 1000)], version: 1 };
  deepStrictEqual(waiting.called(upgrades, 999, 1), []);
  deepStrictEqual(waiting.called(upgrades, 1000, 1), ["a/starter1", "a/ogx1"]);
});

Deno.test("waitingRoom() wakes every resource stopped or released by a failed upgrade, and none of other queues", () => {
  const waiting = room();
  const full = [rolling("b/x"), rolling("b/y")];
  const starters = ["a/starter1", "a/starter2", "a/starter3"];
  deepStrictEqual(waiting.called({ list: full, version: 1 }, 0, 2), []);
  deepStrictEqual(waiting.called({ list: [...full, failed("a/x")], version: 2 }, 0, 2), starters);
  for (const key of starters) waiting.reconciled(key, waiter("starter", "a/x"));
  deepStrictEqual(waiting.called({ list: [...full, failed("a/x")], version: 3 }, 0, 2), []);
  deepStrictEqual(waiting.called({ list: full, version: 4 }, 0, 2), starters);
  const elsewhere = room();
  deepStrictEqual(elsewhere.called({ list: [...full, failed("b/x")], version: 1 }, 0, 2), []);
});

Deno.test("waitingRoom() serves the namespaces that hold fewest slots first", () => {
  const waiting = waitingRoom();
  for (const name of ["1", "2", "3"]) waiting.reconciled(`a/${name}`, waiter("starter"));
  waiting.reconciled("b/1", { ...waiter("starter"), namespace: "b" });
  waiting.reconciled("c/1", { ...waiter("starter"), namespace: "c" });
  deepStrictEqual(waiting.called({ list: [rolling("a/x")], version: 1 }, 0, 4), ["a/1", "b/1", "c/1"]);
});

/** A fleet under random events, with the rules of a reconciliation; what happens to each resource when its turn comes. */
const ENDS = [
  "completes",
  "fails",
  "is deleted",
  "is rejected",
  "cannot be reconciled",
  "hangs until its time is over",
] as const;

Deno.test("whoever waits for a slot is served within bounded steps, regardless of the others", () => {
  const fleet = fc.array(fc.record({ namespace: fc.constantFrom("a", "b", "c", "d"), end: fc.constantFrom(...ENDS) }), {
    maxLength: 40,
  });
  fc.assert(fc.property(fleet, fc.integer({ min: 1, max: 5 }), (resources, parallelism) => {
    const waiting = waitingRoom();
    let [version, nowMs] = [0, 0];
    const list = new Map<string, RollingUpgrade>();
    const unserved = new Map(
      resources.map(({ namespace, end }, index) => [`${namespace}/${index}`, { namespace, end }]),
    );
    const retries: Array<string> = [];
    const failedOnce = new Set<string>();
    const reconcile = (key: string): void => {
      const resource = unserved.get(key);
      if (resource === undefined) return waiting.reconciled(key, undefined);
      const place = { namespace: resource.namespace, queue: "starter", pins: "p" };
      const stoppedAt = stopperOf([...list.values()], place)?.key;
      if (stoppedAt !== undefined || holdingSlots([...list.values()], nowMs).length >= parallelism) {
        return waiting.reconciled(key, { ...place, stoppedAt });
      }
      if (resource.end === "cannot be reconciled" && !failedOnce.has(key)) {
        failedOnce.add(key);
        retries.push(key);
        return waiting.reconciled(key, undefined);
      }
      unserved.delete(key);
      waiting.reconciled(key, undefined);
      if (resource.end === "is deleted" || resource.end === "is rejected") return;
      version++;
      list.set(key, { ...rolling(key, nowMs + 100), state: resource.end === "fails" ? "failed" : "rolling" });
    };
    for (const key of [...unserved.keys()]) reconcile(key);
    const steps = 10 * (resources.length + 1);
    for (let step = 0; step < steps; step++) {
      for (const key of waiting.called({ list: [...list.values()], version }, nowMs, parallelism)) reconcile(key);
      for (const key of retries.splice(0)) reconcile(key);
      for (const [key, { state }] of [...list]) {
        if (state === "rolling" && !resources[Number(key.split("/")[1])]?.end.startsWith("hangs")) {
          list.delete(key);
          version++;
        }
      }
      nowMs += 20;
    }
    const upgrades = [...list.values()];
    for (const [key, { namespace }] of unserved) {
      ok(stopperOf(upgrades, { namespace, queue: "starter", pins: "p" }) !== undefined, `${key} waits for nothing`);
    }
  }));
});
