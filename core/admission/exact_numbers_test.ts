import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { readReview, writeReview } from "./exact_numbers.ts";

const through = (text: string): string => {
  const { value, marked } = Result.getOrThrow(readReview(text));
  return writeReview(value, marked);
};

Deno.test("readReview() and writeReview() keep 64-bit integers, also inside of a text that carries JSON", () => {
  for (
    const text of [
      '{"a":9007199254740993,"b":[-9223372036854775808],"c":9223372036854775807}',
      '{"a":1,"b":"9007199254740993","c":"resource: 12345678901234567890"}',
      '{"a":[1234567890123456789,1]}',
    ]
  ) strictEqual(through(text), text);
  const { value } = Result.getOrThrow(readReview('{"a": 9007199254740993}'));
  const carried = writeReview({ note: JSON.stringify(value) }, true);
  strictEqual(through(carried), carried);
});

Deno.test("readReview() does not mistake a string for a number", () => {
  const hostile = JSON.stringify({ annotations: { a: "\u0000int:5" }, big: 1 });
  strictEqual(through(hostile), hostile);
});

Deno.test("readReview() reports the error of a text that is not JSON", () => {
  ok(Result.isFailure(readReview("{")));
  deepStrictEqual(Result.getOrThrow(readReview("[]")).value, []);
});
