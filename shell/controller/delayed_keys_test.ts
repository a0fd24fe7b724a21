import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import * as Effect from "effect/Effect";
import { TestClock } from "effect/testing";
import { delayedKeys } from "./delayed_keys.ts";

const run = <A, E>(program: Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(TestClock.layer())));

Deno.test("delayedKeys() adds each key once, at the time of the latest call, whatever the earlier calls were", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ key: fc.constantFrom("a", "b", "c"), delay: fc.integer({ min: 1, max: 20 }), pause: fc.nat(8) }),
        { maxLength: 20 },
      ),
      (calls) =>
        run(Effect.gen(function* () {
          let now = 0;
          const added: Array<readonly [number, string]> = [];
          const addAfter = yield* delayedKeys((key) => Effect.sync(() => void added.push([now, key])));
          const expected: Array<readonly [number, string]> = [];
          const due = new Map<string, number>();
          const second = Effect.gen(function* () {
            now++;
            yield* TestClock.adjust(1000);
            for (const [key, at] of due) {
              if (at <= now) {
                expected.push([now, key]);
                due.delete(key);
              }
            }
          });
          for (const { key, delay, pause } of calls) {
            yield* addAfter(key, delay * 1000);
            due.set(key, now + delay);
            for (let waited = 0; waited < pause; waited++) yield* second;
          }
          for (let waited = 0; waited < 30; waited++) yield* second;
          const sorted = (list: typeof added) => list.map(([at, key]) => `${key} ${at}`).sort();
          deepStrictEqual(sorted(added), sorted(expected));
        })),
    ),
    { numRuns: 300 },
  ));

Deno.test("delayedKeys() adds every due key although an earlier one is requested meanwhile", () =>
  run(Effect.gen(function* () {
    const added: Array<string> = [];
    const addAfter: (key: string, delayMs: number) => Effect.Effect<void> = yield* delayedKeys((key) =>
      Effect.gen(function* () {
        // Another fiber may run between two keys.
        yield* Effect.yieldNow;
        added.push(key);
        if (key === "a") yield* addAfter("d", 1);
      })
    );
    for (const key of ["a", "b", "c"]) yield* addAfter(key, 1000);
    yield* addAfter("e", 5000);
    yield* TestClock.adjust(1000);
    yield* TestClock.adjust(1);
    deepStrictEqual(added, ["a", "b", "c", "d"]);
    yield* TestClock.adjust(5000);
    deepStrictEqual(added, ["a", "b", "c", "d", "e"]);
  })));
