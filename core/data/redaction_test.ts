import { ok, strictEqual } from "node:assert/strict";
import { repeats, WITHHELD, withoutSecrets } from "./redaction.ts";

const CANARY = "k9#Vz/q 7+Wm%41'x\"Pé2";
const base64 = (text: string) => new TextEncoder().encode(text).toBase64();

for (
  const [disguise, shown] of [
    ["as it is", CANARY],
    ["in JSON", JSON.stringify({ a: CANARY })],
    ["percent-encoded", encodeURIComponent(CANARY)],
    ["in base64", base64(CANARY)],
    ["at the beginning of base64", base64(`${CANARY}:more`)],
  ] as const
) {
  Deno.test(`withoutSecrets() withholds the line with a value ${disguise}`, () =>
    strictEqual(withoutSecrets(`a\nb ${shown} c\nd`, ["other-value", CANARY]), `a\n${WITHHELD}\nd`));
}

Deno.test("withoutSecrets() looks for the password of a connection and for each line of a value", () => {
  strictEqual(withoutSecrets("no pa%20ss for you", ["postgresql://me:pa%20ss@db/x"]), WITHHELD);
  strictEqual(withoutSecrets("no 'pa ss!' for you", ["postgresql://me:pa%20ss!@db/x"]), WITHHELD);
  strictEqual(withoutSecrets("no ABCDEFGH for you", ["-----BEGIN CERTIFICATE-----\nABCDEFGH\n"]), WITHHELD);
  strictEqual(withoutSecrets("-----BEGIN CERTIFICATE-----", ["-----BEGIN CERTIFICATE-----\nABCDEFGH\n"]).length, 27);
});

Deno.test("withoutSecrets() leaves texts without values, and short values, as they are", () => {
  strictEqual(withoutSecrets("the host db.example is down", ["postgresql://me:secret-1@db.example/x"]).length, 27);
  strictEqual(withoutSecrets("abc", ["abc", ""]), "abc");
});

Deno.test("repeats() shows nothing where looking would take too long", () => {
  ok(repeats("x", Array.from({ length: 600 }, (_, index) => `value-${index}`)));
  ok(repeats("x".repeat(300_000), ["value-1"]));
  ok(!repeats("x", ["value-1"]));
});
