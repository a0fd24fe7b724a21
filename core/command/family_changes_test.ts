import { deepStrictEqual } from "node:assert/strict";
import { familyChanges } from "./family_changes.ts";

Deno.test("familyChanges() shows differences with two lines of context", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9", ""].join("\n");
  const after = before.replace("5\n", "five\nmore\n");
  deepStrictEqual(familyChanges(before, after), [" 3", " 4", "-5", "+five", "+more", " 6", " 7"]);
  deepStrictEqual(familyChanges(before, `0\n${before.replace("9\n", "nine\n")}`), [
    "+0",
    " 1",
    " 2",
    "…",
    " 7",
    " 8",
    "-9",
    "+nine",
  ]);
});

Deno.test("familyChanges() is empty for equal texts and accepts an empty one", () => {
  deepStrictEqual(familyChanges("a\n", "a\n"), []);
  deepStrictEqual(familyChanges("", "a\nb\n"), ["+a", "+b"]);
  deepStrictEqual(familyChanges("a\n", ""), ["-a"]);
});

Deno.test("familyChanges() only counts what is too long to compare", () => {
  const long = "x\n".repeat(3001);
  deepStrictEqual(familyChanges("", long), ["0 lines become 3001 lines, too many to compare"]);
  deepStrictEqual(familyChanges(long, long), []);
});
