import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { newContests } from "./contests.ts";

Deno.test("contests hold repairs after the third within a minute, with growing pauses until it ends", () => {
  const contests = newContests();
  for (const nowMs of [0, 1000]) contests.repaired("a/b", nowMs);
  strictEqual(contests.heldUntilMs("a/b", 1000), undefined);
  contests.repaired("a/b", 2000);
  const pauses: Array<number> = [];
  let nowMs = 2000;
  for (let round = 0; round < 8; round++) {
    const untilMs = contests.heldUntilMs("a/b", nowMs) ?? nowMs;
    pauses.push(untilMs - nowMs);
    nowMs = untilMs;
    strictEqual(contests.heldUntilMs("a/b", nowMs), undefined);
    contests.repaired("a/b", nowMs);
  }
  deepStrictEqual(pauses, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  strictEqual(contests.heldUntilMs("other/b", nowMs), undefined);
});

Deno.test("a repair now and then is no contest, and one that ended begins anew", () => {
  const contests = newContests();
  for (let minute = 0; minute < 10; minute++) contests.repaired("a/b", minute * 61_000);
  strictEqual(contests.heldUntilMs("a/b", 9 * 61_000), undefined);
  for (const offset of [0, 1, 2]) contests.repaired("a/b", 1_000_000 + offset);
  strictEqual(contests.heldUntilMs("a/b", 1_000_002), 1_010_002);
  contests.repaired("a/b", 1_200_000);
  strictEqual(contests.heldUntilMs("a/b", 1_200_000), undefined);
});
