import { deepStrictEqual } from "node:assert/strict";
import { bytesOf, cacheBudget } from "./cache_budget.ts";
import { KEPT_BYTES_MAX, KEPT_NAMESPACE_BYTES_MAX } from "../limits.ts";

Deno.test("cacheBudget() has room up to the bound of a namespace, and up to the bound of all", () => {
  const bytes = cacheBudget();
  const [first, second] = [{}, {}];
  bytes.count("a", first, KEPT_NAMESPACE_BYTES_MAX);
  deepStrictEqual([bytes.makeRoom("a", 1), bytes.makeRoom("b", 1)], [false, true]);
  bytes.count("b", second, KEPT_BYTES_MAX - KEPT_NAMESPACE_BYTES_MAX);
  deepStrictEqual(bytes.makeRoom("c", 1), false);
  // Deflated meanwhile.
  bytes.count("a", first, 10);
  deepStrictEqual([bytes.makeRoom("a", 1), bytes.makeRoom("c", 1)], [true, true]);
  bytes.forget("b", second);
  bytes.forget("b", second);
  deepStrictEqual(bytes.makeRoom("b", KEPT_NAMESPACE_BYTES_MAX), true);
});

Deno.test("cacheBudget() grants each namespace an equal share of memory, whatever the others cache", () => {
  const bytes = cacheBudget(1000, 600);
  const given: Array<string> = [];
  const fill = (namespace: string, count: number) => {
    for (let index = 0; index < count; index++) {
      if (!bytes.makeRoom(namespace, 10)) continue;
      const entry = {};
      bytes.count(namespace, entry, 10, () => void given.push(namespace));
    }
  };
  fill("hostile-1", 100);
  fill("hostile-2", 100);
  deepStrictEqual(given.length, 10);
  fill("neighbour", 20);
  deepStrictEqual([given.length, given.includes("neighbour")], [30, false]);
  fill("neighbour", 100);
  // A third of all for each of the three.
  deepStrictEqual(given.filter((namespace) => namespace === "neighbour"), []);
  deepStrictEqual(given.length >= 42 && given.length <= 44, true, String(given.length));
  // Nobody takes from a namespace that keeps less.
  fill("hostile-1", 100);
  deepStrictEqual(given.filter((namespace) => namespace === "neighbour").length <= 1, true);
});

Deno.test("cacheBudget() never evicts a pinned entry", () => {
  const bytes = cacheBudget(100, 100);
  bytes.count("a", {}, 100);
  deepStrictEqual(bytes.makeRoom("b", 10), false);
});

Deno.test("bytesOf() counts two bytes for each character of a text beyond Latin-1", () => {
  deepStrictEqual([bytesOf({ rest: "abcé" }), bytesOf({ rest: "abc日" })], [4, 8]);
});
