import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { TestClock } from "effect/testing";
import { REST_LOOK_MS, REST_PASSES_MAX } from "../limits.ts";
import { collectAtRest, ownMemory } from "./rest.ts";

const MIB = 1024 * 1024;

/** What is used at each look, in MiB, and the passes that ended since the look before; the looks at which it did something. */
const collections = (looks: ReadonlyArray<readonly [mib: number, passes?: number]>): Promise<Array<string>> => {
  const found: Array<string> = [];
  let look = 0;
  let passes = 0;
  const memory = {
    used: () => looks[look]![0] * MIB,
    collect: () => void found.push(`${look} collect`),
    giveBack: () => void found.push(`${look} give back`),
  };
  return Effect.runPromise(
    Effect.scoped(Effect.gen(function* () {
      yield* Effect.forkScoped(collectAtRest(memory, Effect.sync(() => passes)));
      yield* Effect.yieldNow;
      for (look = 1; look < looks.length; look++) {
        passes += looks[look]![1] ?? 0;
        yield* TestClock.adjust(REST_LOOK_MS);
      }
      return found;
    })).pipe(Effect.provide(TestClock.layer())),
  );
};

Deno.test("collectAtRest() collects and releases pages once when much more memory is used than before", async () => {
  deepStrictEqual(await collections([[20], [20.5], [30], [29], [22], [22], [23], [23]]), ["2 collect", "3 give back"]);
});

Deno.test("collectAtRest() measures against what was needed after the last time", async () => {
  const found = await collections([[20], [60], [60], [50], [54], [56], [57]]);
  deepStrictEqual(found, ["1 collect", "2 give back", "6 collect"]);
});

Deno.test("collectAtRest() leaves an operator alone that works", async () => {
  const busy = REST_PASSES_MAX + 1;
  const found = await collections([[20], [40, busy], [60, busy], [60, REST_PASSES_MAX], [60], [25]]);
  deepStrictEqual(found, ["3 collect", "4 give back"]);
});

Deno.test("ownMemory() is undefined if V8 offers no way to collect", () => strictEqual(ownMemory(), undefined));
