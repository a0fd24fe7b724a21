import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { collectedBytes } from "./collected_bytes.ts";

Deno.test("collectedBytes() gives all bytes in their order, however they come", () => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 70_000 })), { maxLength: 30 });
  fc.assert(fc.property(sizes, (lengths) => {
    const collected = collectedBytes();
    const parts = lengths.map((length, index) => new Uint8Array(length).fill(index));
    parts.forEach(collected.add);
    strictEqual(collected.length(), parts.reduce((sum, { length }) => sum + length, 0));
    deepStrictEqual(collected.take(), new Uint8Array(parts.flatMap((part) => [...part])));
    strictEqual(collected.take().length, 0);
  }));
});

Deno.test("collectedBytes() knows parts of one byte from those that a network makes", () => {
  const [bytes, usual] = [collectedBytes(), collectedBytes()];
  for (let index = 0; index < 2000; index++) {
    bytes.add(new Uint8Array(1));
    usual.add(new Uint8Array(1400));
  }
  deepStrictEqual([bytes.isScattered(), usual.isScattered()], [true, false]);
});
