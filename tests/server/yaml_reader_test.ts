import { deepStrictEqual, rejects } from "node:assert/strict";
import * as Result from "effect/Result";
import { readConfigYaml } from "../../core/data/yaml.ts";
import { readWithPyYaml } from "./yaml_reader.ts";

Deno.test("readWithPyYaml() distinguishes strings from everything that looks like one", async () => {
  const read: readonly (readonly [yaml: string, value: unknown])[] = [
    ["a: 'no'", { a: "no" }],
    ["a: no", { a: false }],
    ["a: 1_000", { a: 1000 }],
    ['a: "\\U0001F600 \\x85 \\u2028"', { a: "😀 \x85 \u2028" }],
    ["a: 2026-01-02", { a: { "!!timestamp": "2026-01-02" } }],
    ["a: .nan", { a: { "!!float": "nan" } }],
    ["a: 9007199254740993", { a: { "!!int": "9007199254740993" } }],
    ["8321: a", { "!!map": [[8321, "a"]] }],
    ["", null],
  ];
  deepStrictEqual(await readWithPyYaml(read.map(([yaml]) => yaml)), read.map(([, value]) => value));
});

Deno.test("readWithPyYaml() names the document that it cannot read", async () => {
  await rejects(readWithPyYaml(["a: b", "a: [b"]), /document 1: .*\n[^]*a: \[b/);
});

Deno.test("readWithPyYaml() rejects a document on which the two readers differ", async () => {
  await rejects(readWithPyYaml(['a: "\\ud83d\\ude00"']), /document 0: the readers differ/);
});

Deno.test("PyYAML takes the last of a key that one map has twice, as the operator does in a config of a user", async () => {
  const text = "a: &a {x: 1, y: 2}\nb: {x: 1, x: 3}\nc: {<<: *a, x: 4, x: 5}";
  deepStrictEqual([Result.getOrThrow(readConfigYaml(text)).tree], await readWithPyYaml([text]));
});
