import { deepStrictEqual } from "node:assert/strict";
import { lineChanges } from "./line_changes.ts";

Deno.test("lineChanges() shows differences with two lines of context", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9", ""].join("\n");
  const after = before.replace("5\n", "five\nmore\n");
  deepStrictEqual(lineChanges(before, after), [" 3", " 4", "-5", "+five", "+more", " 6", " 7"]);
  deepStrictEqual(lineChanges(before, `0\n${before.replace("9\n", "nine\n")}`), [
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

Deno.test("lineChanges() is empty for equal texts and accepts an empty one", () => {
  deepStrictEqual(lineChanges("a\n", "a\n"), []);
  deepStrictEqual(lineChanges("", "a\nb\n"), ["+a", "+b"]);
  deepStrictEqual(lineChanges("a\n", ""), ["-a"]);
});

Deno.test("lineChanges() only counts what is too long to compare", () => {
  const long = "x\n".repeat(3001);
  deepStrictEqual(lineChanges("", long), ["0 lines become 3001 lines, too many to compare"]);
  deepStrictEqual(lineChanges(long, long), []);
});
