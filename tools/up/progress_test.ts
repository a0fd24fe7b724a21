import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { isReady, type Look, NOTHING_SEEN, progressLines } from "./progress.ts";

const condition = (type: string, status: string, reason: string): JsonObject => ({
  type,
  status,
  reason,
  message: "m",
});
const look = (conditions: ReadonlyArray<JsonObject>, pods: ReadonlyArray<JsonObject> = []): Look => ({
  resource: { metadata: { generation: 2 }, status: { observedGeneration: 2, conditions } },
  pods,
});
const pod = (name: string, status: JsonObject): JsonObject => ({ metadata: { name }, status });
const READY = { conditions: [{ type: "Ready", status: "True" }] };

Deno.test("progressLines() reports conditions that change, not those that begin as Unknown", () => {
  const first = look([condition("Ready", "Unknown", "Progressing"), condition("Available", "False", "CrashLoop")]);
  deepStrictEqual(progressLines(NOTHING_SEEN, first), ["Available         False   CrashLoop: m"]);
  deepStrictEqual(progressLines(first, first), []);
  deepStrictEqual(progressLines(first, look([condition("Ready", "True", "Ready")])), [
    "Ready             True    Ready: m",
  ]);
});

Deno.test("progressLines() reports pods that are created, change and are deleted", () => {
  const waiting = pod("a", { containerStatuses: [{ state: { waiting: { reason: "ErrImagePull" } } }] });
  deepStrictEqual(progressLines(NOTHING_SEEN, look([], [waiting])), ["pod a: Pending, ErrImagePull"]);
  deepStrictEqual(
    progressLines(look([], [waiting]), look([], [pod("a", { phase: "Running", ...READY }), pod("b", {})])),
    ["pod a: Running, ready", "pod b: Pending"],
  );
  deepStrictEqual(progressLines(look([], [waiting]), look([])), ["pod a: gone"]);
});

Deno.test("isReady() counts only conditions of the newest generation of the resource", () => {
  const ready = look([condition("Ready", "True", "Ready")]);
  strictEqual(isReady(ready), true);
  strictEqual(isReady({ ...ready, resource: { ...ready.resource, metadata: { generation: 3 } } }), false);
  strictEqual(isReady(NOTHING_SEEN), false);
});
