import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { exceptionClass, reveals, WITHHELD, withoutSecrets } from "./redaction.ts";

const CANARY = "k9#Vz/q 7+Wm%41'x\"Pé2";

const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

for (
  const [disguise, shown] of [
    ["as it is", CANARY],
    ["trimmed", CANARY.trim()],
    ["percent-encoded", encodeURIComponent(CANARY)],
    ["percent-encoded in lower case", encodeURIComponent(CANARY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ["as a form", new URLSearchParams({ a: CANARY }).toString().slice(2)],
    ["percent-decoded", decodeURIComponent("k9#Vz/q 7+Wm%41'x")],
    ["in base64", base64(CANARY)],
    ["in base64 within another text", base64(`x${CANARY}y`)],
    ["in base64 for URLs", base64(`xx${CANARY}y`).replaceAll("+", "-").replaceAll("/", "_")],
    ["in hex", Array.from(new TextEncoder().encode(CANARY), (byte) => byte.toString(16).padStart(2, "0")).join("")],
    ["in JSON", JSON.stringify({ a: CANARY })],
    ["as a repr", `'${CANARY.replaceAll("'", "\\'")}'`],
    ["in a connection", `postgresql://me:${encodeURIComponent(CANARY)}@db/x`],
    ["cut before", CANARY.slice(6)],
    ["cut behind", CANARY.slice(0, 10)],
    ["cut in the middle by pydantic", `${CANARY.slice(0, 9)}...${CANARY.slice(-4)}`],
  ] as const
) {
  Deno.test(`reveals() finds a value ${disguise}`, () => {
    ok(reveals(`ValueError: bad key ${shown} given`, [` ${CANARY}\n`]), shown);
  });
}

Deno.test("reveals() finds each piece of eight characters of a value, wherever it stands", () => {
  const word = fc.string({ minLength: 8, maxLength: 200 });
  fc.assert(fc.property(word, fc.string(), fc.string(), fc.nat(), (value, before, after, at) => {
    const trimmed = value.trim();
    fc.pre(trimmed.length >= 8 && !/:\/\//.test(value) && !/host\s*=/.test(value));
    const from = at % (trimmed.length - 7);
    ok(reveals(before + trimmed.slice(from, from + 8) + after, [value]));
  }));
});

Deno.test("reveals() lets pass what only resembles a value", () => {
  for (
    const [text, value] of [
      ["connection refused", "sk-0123456789abcdef"],
      ["abc", "ab"],
      [
        "could not connect to db.example:5432, database llamastack",
        "postgresql://me:secret-0@db.example:5432/llamastack",
      ],
      ["see https://www.example.com", "https://www.other.org/hook/8f7e6d5c4b3a"],
      ["", "sk-0123456789abcdef"],
    ] as const
  ) strictEqual(reveals(text, [value]), false, text);
});

Deno.test("reveals() finds user and password of a connection, decoded too", () => {
  const dsn = "postgresql://llama:pa%23ss@db.example:5432/x?sslmode=require";
  deepStrictEqual(["user llama", "pw pa#ss", "pw pa%23ss", "db.example require"].map((text) => reveals(text, [dsn])), [
    true,
    true,
    true,
    false,
  ]);
  ok(reveals("it's wrong: hun ter2", ["host=db password='hun ter2' user=me"]));
});

Deno.test("reveals() works on large values in a time that grows with their length alone, and withholds beside too many", () => {
  const values = ["ab".repeat(48 * 1024), ` ${"@".repeat(4000)}`, `postgres://${"@".repeat(4000)}`];
  strictEqual(reveals("ValueError: x".repeat(300), values), false);
  strictEqual(reveals("harmless", ["ab".repeat(128 * 1024)]), true);
  strictEqual(reveals("harmless", Array.from({ length: 600 }, (_, index) => `value-${index}`)), true);
});

Deno.test("withoutSecrets() withholds lines, or all of it where no line says enough alone", () => {
  strictEqual(withoutSecrets("a\nkey sk-12345678\nb", ["sk-12345678"]), `a\n${WITHHELD}\nb`);
  strictEqual(withoutSecrets("abcd\nefgh", ["abcd\nefgh"]), WITHHELD);
});

Deno.test("exceptionClass() is the last exception of a traceback", () => {
  strictEqual(exceptionClass("ValueError: a\nx.y.ConfigError: sk-1\n  more"), "x.y.ConfigError");
  strictEqual(exceptionClass("no class here"), undefined);
});
