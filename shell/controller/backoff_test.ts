import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN } from "../limits.ts";
import { newBackoff, nextMs } from "./backoff.ts";

Deno.test("newBackoff() doubles the time with every retry that fails, up to its limit", () => {
  const backoff = newBackoff();
  const pauses: Array<number> = [];
  let nowMs = 0;
  for (let count = 0; count < 12; count++) {
    const pauseMs = backoff.failed("a/one", nowMs);
    pauses.push(pauseMs);
    nowMs += pauseMs;
  }
  deepStrictEqual(pauses.slice(0, 4), [1, 2, 4, 8].map((factor) => factor * BACKOFF_MS_MIN));
  strictEqual(pauses.at(-1), BACKOFF_MS_MAX);
  backoff.succeeded("a/one");
  strictEqual(backoff.failed("a/one", nowMs), BACKOFF_MS_MIN);
});

Deno.test("newBackoff() leaves the next retry where it is, however many events fail before it", () => {
  const backoff = newBackoff();
  strictEqual(backoff.failed("a/one", 1000), BACKOFF_MS_MIN);
  for (let later = 1; later < 400; later += 20) {
    strictEqual(backoff.failed("a/one", 1000 + later), BACKOFF_MS_MIN - later);
  }
  strictEqual(backoff.failed("a/one", 1000 + BACKOFF_MS_MIN), 2 * BACKOFF_MS_MIN);
  strictEqual(backoff.failed("a/other", 1000), BACKOFF_MS_MIN);
});

Deno.test("nextMs() is the retry, or the next look if that is due before it", () => {
  const cases = [[10_000, 5000], [10_000, 60_000], [10_000, undefined], [undefined, 5000], [
    undefined,
    undefined,
  ]] as const;
  deepStrictEqual(
    cases.map(([retryMs, lookAgainMs]) => nextMs({ retryMs, lookAgainMs })),
    [5000, 10_000, 10_000, 5000, undefined],
  );
});
