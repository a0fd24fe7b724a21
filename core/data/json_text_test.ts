import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import fc from "fast-check";
import type { Json } from "./json.ts";
import { jsonSize, objectIn, readExactJson, readJson, writeExactJson } from "./json_text.ts";
import { excessOf } from "./tree_size.ts";

const BOUNDS = { depth: 100, values: 1000 };
const UNBOUNDED = { depth: Infinity, values: Infinity };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const exact = (text: string): Json => Result.getOrThrow(readExactJson(text, BOUNDS));
const through = (text: string): string => writeExactJson(exact(text));
const detail = (found: Result.Result<Json, { readonly message: string }>): string | undefined =>
  Result.isFailure(found) ? found.failure.message : undefined;

Deno.test("jsonSize() counts at least the values of a text and exactly its levels", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.boolean(), (value, isSpaced) => {
    const text = JSON.stringify(value, null, isSpaced ? 2 : 0);
    const plain = JSON.parse(text) as Json;
    const { depth, values } = jsonSize(bytes(text), UNBOUNDED, false);
    strictEqual(excessOf(plain, { depth, values }), undefined, text);
    ok(depth === 0 || excessOf(plain, { depth: depth - 1, values })?.what === "depth", text);
    ok(values <= 1 + 2 * text.length);
  }));
  deepStrictEqual(jsonSize(bytes('["[{,", {"a\\"[": 1}]'), UNBOUNDED, false), { depth: 2, values: 4, integers: [] });
});

Deno.test("readJson() refuses what exceeds its bounds without parsing it", () => {
  strictEqual(detail(readJson(`[${"{},".repeat(600)}1]`, BOUNDS)), "more than 1000 values");
  strictEqual(detail(readJson("[".repeat(200), BOUNDS)), "more than 100 levels of maps and lists");
  strictEqual(detail(readJson('{"a":', BOUNDS)), "it is not JSON");
  deepStrictEqual(readJson(bytes('{"größe":1}'), BOUNDS), Result.succeed({ größe: 1 }));
});

Deno.test("readExactJson() and writeExactJson() keep integers of 64 bits", () => {
  for (
    const text of [
      '{"a":9007199254740993,"b":[-9223372036854775808],"c":9223372036854775807}',
      '{"a":1,"b":"9007199254740993","c":"resource: 12345678901234567890"}',
      '{"größe":1234567890123456789,"__proto__":9007199254740993}',
      "9007199254740993",
      '[1,2.5,"1234567890123456789",1234567890123456789]',
    ]
  ) strictEqual(through(text), text);
  strictEqual(through("[ 9007199254740991 , 1.2345678901234567e+300 ]"), "[9007199254740991,1.2345678901234567e+300]");
  // Beyond 64 bits the API server has a number of 64 bits with a point, as JavaScript.
  strictEqual(through("[99999999999999999999,9999999999999999999]"), "[100000000000000000000,10000000000000000000]");
});

Deno.test("readExactJson() carries integers through JSON within JSON", () => {
  const carried = JSON.stringify({ note: writeExactJson(exact('{"to":9007199254740993}')) });
  strictEqual(through(carried), carried);
  strictEqual(through(String((exact(carried) as { readonly note: string }).note)), '{"to":9007199254740993}');
});

Deno.test("readExactJson() takes no text for a number, whatever is in it", () => {
  for (
    const value of [
      "\u0000int:5",
      "\u0000int:007",
      { rawJSON: "9007199254740993" },
      { a: "9007199254740993:9007199254740993" },
    ]
  ) {
    const text = JSON.stringify([value, 1]).replace(/1]$/, "9007199254740993]");
    strictEqual(through(text), text);
  }
});

Deno.test("readExactJson() makes nothing JSON that is none", () => {
  for (
    const text of [
      '{"to":00000000000000000007}',
      "{9007199254740993:1}",
      "[9007199254740993 9007199254740993]",
      "[9007199254740993.]",
      "[+9007199254740993]",
      "[9007199254740993-1]",
      "[truE9007199254740993]",
      '"9007199254740993',
      "-",
    ]
  ) {
    strictEqual(detail(readExactJson(text, BOUNDS)), "it is not JSON", text);
  }
});

Deno.test("readExactJson() reads every text as JSON.parse() does where nothing is rounded", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const text = JSON.stringify([value, 1]);
    deepStrictEqual(exact(text), JSON.parse(text));
    const withLong = text.replace(/1]$/, "9007199254740993]");
    strictEqual(through(withLong), JSON.stringify(JSON.parse(text)).replace(/1]$/, "9007199254740993]"));
  }));
});

Deno.test("objectIn() gives the object that a text contains and nothing else", () => {
  deepStrictEqual(objectIn('{"a":1}'), { a: 1 });
  for (const other of ["[]", "{", "1", undefined, 5, { a: 1 }, `[${"{},".repeat(200_000)}1]`]) {
    strictEqual(objectIn(other), undefined);
  }
});
