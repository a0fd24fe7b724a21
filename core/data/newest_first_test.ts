import { deepStrictEqual } from "node:assert/strict";
import { newestFirst } from "./newest_first.ts";

Deno.test("newestFirst() orders by time, and what was made in one second by its version as a number", () => {
  const made = (name: string, creationTimestamp: string, resourceVersion: string) => ({
    metadata: { name, creationTimestamp, resourceVersion },
  });
  const [a, b, c, d] = [
    made("a", "2026-01-01T00:00:01Z", "500"),
    made("b", "2026-01-01T00:00:02Z", "9"),
    made("c", "2026-01-01T00:00:02Z", "10"),
    made("d", "2026-01-01T00:00:03Z", "8"),
  ];
  for (const order of [[a, b, c, d], [d, c, b, a], [c, a, d, b]]) deepStrictEqual(newestFirst(order), [d, c, b, a]);
});
