import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { LARGE_RETRY_MS } from "../limits.ts";
import { largeResourceSlot } from "./large_resource_slot.ts";

Deno.test("largeResourceSlot() admits one resource at a time, and next the namespace that has waited longest", () => {
  const turns = largeResourceSlot();
  strictEqual(turns.begin("a/1", 0), true);
  deepStrictEqual([turns.begin("b/1", 1), turns.begin("a/2", 2), turns.begin("c/1", 3)], [false, false, false]);
  turns.end();
  deepStrictEqual([turns.begin("a/2", 4), turns.begin("c/1", 5), turns.begin("b/1", 6)], [false, false, true]);
  turns.end();
  deepStrictEqual([turns.begin("c/1", 7), turns.begin("a/2", 8)], [false, true]);
});

Deno.test("largeResourceSlot() admits a resource among a hundred of another namespace that ask continuously", () => {
  const turns = largeResourceSlot();
  let nowMs = 0;
  let begun = 0;
  strictEqual(turns.begin("busy/0", nowMs), true);
  while (!turns.begin("other/1", nowMs) && begun < 100) {
    nowMs += LARGE_RETRY_MS;
    turns.end();
    for (let index = 0; index < 100; index++) if (turns.begin(`busy/${index}`, nowMs)) begun++;
  }
  strictEqual(begun <= 1, true, `${begun} before it`);
});

Deno.test("largeResourceSlot() does not wait for a namespace without requests", () => {
  const turns = largeResourceSlot();
  turns.begin("a/1", 0);
  turns.begin("b/1", 0);
  turns.end();
  strictEqual(turns.begin("a/1", LARGE_RETRY_MS), false);
  strictEqual(turns.begin("a/1", 10 * LARGE_RETRY_MS), true);
});
