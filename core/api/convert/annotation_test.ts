import { strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { annotationBytes } from "./annotation.ts";

Deno.test("annotationBytes() counts bytes of UTF-8, also of halves of pairs", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.array(fc.integer({ min: 0, max: 0xffff })), (key, codes) => {
    const value = String.fromCharCode(...codes);
    strictEqual(
      annotationBytes({ [key]: value }),
      new TextEncoder().encode(key).length + new TextEncoder().encode(value).length,
    );
  }));
});
