import { deepStrictEqual } from "node:assert/strict";
import { beyondLength } from "./remembered_lookups.ts";

interface Entry {
  readonly held: object;
  readonly characters: number;
}

const own = (characters: number): Entry => ({ held: {}, characters });
const forgotten = (entries: Readonly<Record<string, Entry>>, newest: string) =>
  beyondLength(new Map(Object.entries(entries)), entries[newest], 10, (entry) => entry);

Deno.test("the oldest entries are forgotten, as many as are too long together", () => {
  deepStrictEqual(forgotten({ a: own(4), b: own(4), c: own(6) }, "c"), ["a"]);
  deepStrictEqual(forgotten({ a: own(4), b: own(4), c: own(2) }, "c"), []);
});

Deno.test("the newest answer is kept, however long it is, and wherever its entry stands", () => {
  deepStrictEqual(forgotten({ a: own(4), b: own(99) }, "b"), ["a"]);
  deepStrictEqual(forgotten({ a: own(99), b: own(99) }, "a"), ["b"]);
});

Deno.test("entries without an answer are kept, since somebody waits for it", () => {
  deepStrictEqual(forgotten({ a: own(0), b: own(99), c: own(0) }, "b"), []);
});

Deno.test("what entries share is counted once, and forgotten by all of them or by none", () => {
  const [shared, other] = [{}, {}];
  const a = { held: shared, characters: 6 };
  const b = { held: other, characters: 6 };
  deepStrictEqual(forgotten({ a1: a, a2: a, a3: a }, "a3"), []);
  deepStrictEqual(forgotten({ a1: a, a2: a, b }, "b"), ["a2", "a1"]);
});
