import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { APPLIED_OBJECTS_MAX, APPLIED_RESOURCES_MAX } from "../limits.ts";
import { newContests } from "./contests.ts";

const FIELD = { object: "Deployment b", field: "metadata.labels.team", manager: "robot" };
const other = (manager: string) => ({ ...FIELD, manager });

Deno.test("the third overwrite within a minute is repaired with increasing delay until it ends", () => {
  const contests = newContests();
  const overwrite = (nowMs: number): boolean => {
    const waits = contests.overwritten("a/b", [FIELD], nowMs);
    contests.repaired("a/b", [FIELD]);
    return waits;
  };
  deepStrictEqual([overwrite(0), overwrite(1000)], [false, false]);
  const pauses: Array<number> = [];
  let nowMs = 2000;
  for (let round = 0; round < 8; round++) {
    strictEqual(overwrite(nowMs), true);
    const [contest] = contests.of("a/b", nowMs);
    strictEqual(contest?.isNew, round < 2);
    if (round === 1) contests.reported("a/b");
    pauses.push((contest?.heldUntilMs ?? 0) - nowMs);
    nowMs = contest?.heldUntilMs ?? nowMs;
  }
  deepStrictEqual(pauses, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  deepStrictEqual(contests.of("other/b", nowMs), []);
  deepStrictEqual(contests.of("a/b", nowMs + 10_000), []);
});

Deno.test("an overwrite that is not repaired yet counts once, however often it is seen", () => {
  const contests = newContests();
  for (let look = 0; look < 10; look++) strictEqual(contests.overwritten("a/b", [FIELD], look), false);
});

Deno.test("overwrites of different fields, or by different managers, are counted apart", () => {
  const contests = newContests();
  for (const manager of ["a", "b", "c"]) {
    strictEqual(contests.overwritten("a/b", [other(manager), { ...FIELD, field: manager }], 0), false);
    contests.repaired("a/b", [other(manager), { ...FIELD, field: manager }]);
  }
});

Deno.test("a field manager with a new name each time is counted as well", () => {
  const contests = newContests();
  const waits = Array.from({ length: 6 }, (_, index) => {
    const found = contests.overwritten("a/b", [other(`robot-${index}`)], index);
    contests.repaired("a/b", [other(`robot-${index}`)]);
    return found;
  });
  deepStrictEqual(waits, [false, false, false, false, false, true]);
  strictEqual(contests.of("a/b", 6)[0]?.manager, undefined);
});

Deno.test("an occasional repair is not a contest, and a finished contest starts from the beginning", () => {
  const contests = newContests();
  const overwrite = (nowMs: number): boolean => {
    const waits = contests.overwritten("a/b", [FIELD], nowMs);
    contests.repaired("a/b", [FIELD]);
    return waits;
  };
  for (let minute = 0; minute < 10; minute++) strictEqual(overwrite(minute * 61_000), false);
  deepStrictEqual([0, 1, 2].map((offset) => overwrite(1_000_000 + offset)), [false, false, true]);
  strictEqual(overwrite(1_200_000), false);
});

Deno.test("what was applied is known of the resources that were written last, and of none that is gone", () => {
  const contests = newContests();
  const keys = Array.from({ length: APPLIED_RESOURCES_MAX + 1 }, (_, index) => `a/${index}`);
  for (const key of keys) contests.applied(key, new Map([["Deployment b", "1"]]));
  deepStrictEqual([...contests.lastApplied("a/0")], []);
  contests.applied("a/1", new Map([["Service b", "2"], ["Deployment b", "3"]]));
  deepStrictEqual([...contests.lastApplied("a/1")], [["Service b", "2"], ["Deployment b", "3"]]);
  contests.forget("a/1");
  deepStrictEqual([...contests.lastApplied("a/1")], []);
});

Deno.test("of one resource it is known what was applied of the objects that were written last", () => {
  const contests = newContests();
  for (let index = 0; index <= APPLIED_OBJECTS_MAX; index++) {
    contests.applied("a/b", new Map([["Deployment b", "1"], [`ConfigMap ${index}`, "2"]]));
  }
  const known = contests.lastApplied("a/b");
  deepStrictEqual([known.size, known.get("Deployment b"), known.get("ConfigMap 0")], [
    APPLIED_OBJECTS_MAX,
    "1",
    undefined,
  ]);
});
