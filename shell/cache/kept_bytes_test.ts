import { deepStrictEqual } from "node:assert/strict";
import { bytesOf, keptBytes } from "./kept_bytes.ts";
import { KEPT_BYTES_MAX, KEPT_NAMESPACE_BYTES_MAX } from "../limits.ts";

Deno.test("keptBytes() has room up to the bound of a namespace, and up to the bound of all", () => {
  const bytes = keptBytes();
  const [first, second] = [{}, {}];
  bytes.count("a", first, KEPT_NAMESPACE_BYTES_MAX);
  deepStrictEqual([bytes.hasRoom("a", 1), bytes.hasRoom("b", 1)], [false, true]);
  bytes.count("b", second, KEPT_BYTES_MAX - KEPT_NAMESPACE_BYTES_MAX);
  deepStrictEqual(bytes.hasRoom("c", 1), false);
  // Deflated meanwhile.
  bytes.count("a", first, 10);
  deepStrictEqual([bytes.hasRoom("a", 1), bytes.hasRoom("c", 1)], [true, true]);
  bytes.forget("b", second);
  bytes.forget("b", second);
  deepStrictEqual(bytes.hasRoom("b", KEPT_NAMESPACE_BYTES_MAX), true);
});

Deno.test("bytesOf() counts two bytes for each character of a text beyond Latin-1", () => {
  deepStrictEqual([bytesOf({ rest: "abcé" }), bytesOf({ rest: "abc日" })], [4, 8]);
});
