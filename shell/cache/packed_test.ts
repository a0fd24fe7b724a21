import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { deflated, isLong, plain, unpacked } from "./packed.ts";

const configMap = (text: string) => ({ kind: "ConfigMap", metadata: { name: "a" }, data: { text } });

Deno.test("deflated() keeps every value, in less memory where it repeats itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
      deepStrictEqual(unpacked(deflated(JSON.stringify(configMap(text)))), configMap(text));
    }),
    { numRuns: 100 },
  );
  const text = JSON.stringify(configMap("ü — 漢字 \u{1F999}".repeat(1000)));
  ok(deflated(text).rest.length < text.length / 20);
});

Deno.test("isLong() leaves short texts and compressed ones as they are", () => {
  const text = JSON.stringify(configMap("x".repeat(3000)));
  strictEqual(isLong(plain(text)), true);
  strictEqual(isLong(plain("{}")), false);
  strictEqual(isLong(deflated(text + " ".repeat(100_000))), false);
});
