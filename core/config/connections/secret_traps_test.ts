import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { textTraps } from "./secret_traps.ts";

for (
  const value of [
    "007",
    "1_000",
    " 12 ",
    "-3",
    "1e5",
    ".5",
    "1.",
    "nan",
    "-inf",
    "Infinity",
    "TRUE",
    "false",
    "~",
    "~me",
    "",
    "a\u0000",
    "١٢٣",
    "１e３",
  ]
) {
  Deno.test(`textTraps() finds the trap in ${JSON.stringify(value)}`, () => strictEqual(textTraps(value).length, 1));
}

for (
  const value of [
    "sk-123",
    "1_000_",
    "__1",
    "0x10",
    "12a",
    "yes",
    "null",
    "p~",
    "$env.X",
    "1e",
    "e5",
    "infinit",
    "%41",
    "a${env.X}b",
    "½",
  ]
) {
  Deno.test(`textTraps() accepts ${value}`, () => deepStrictEqual(textTraps(value), []));
}
