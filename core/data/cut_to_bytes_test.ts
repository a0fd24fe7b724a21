import { strictEqual } from "node:assert/strict";
import { cutToBytes } from "./cut_to_bytes.ts";

Deno.test("cutToBytes() leaves a text that fits, and cuts between characters", () => {
  strictEqual(cutToBytes("äöü", 6), "äöü");
  strictEqual(cutToBytes("äöüß", 7), "äö…");
  strictEqual(cutToBytes("äöüß", 6), "ä…");
  strictEqual(cutToBytes("🙂🙂🙂", 8), "🙂…");
  strictEqual(new TextEncoder().encode(cutToBytes("日本語".repeat(1000), 1024)).length <= 1024, true);
});
