import { deepStrictEqual, fail, ok } from "node:assert/strict";
import { CONVERSION_SHAPES } from "../../../tests/hostile/conversion_shapes.ts";
import type { JsonObject } from "../../data/json.ts";
import { converted } from "../convert.ts";
import { V1ALPHA1 } from "../v1alpha1.ts";
import { API_VERSION } from "../v1alpha2.ts";
import { applied, same, V1ALPHA2_SHAPE } from "./leftovers.ts";

const otherVersion = ({ apiVersion }: JsonObject): string => apiVersion === V1ALPHA1 ? API_VERSION : V1ALPHA1;

/** Milliseconds there and back: the shortest of some, since the machine does other things too. */
const conversionMs = (object: JsonObject): number =>
  Math.min(...Array.from({ length: 3 }, () => {
    const startedMs = performance.now();
    converted(converted(object, otherVersion(object)), String(object.apiVersion));
    return performance.now() - startedMs;
  }));

/** Four times the size: 4 where the time grows with it, 16 where it grows with its square. */
const GROWTH_MAX = 9;
/** The machine may be busy during one of the two times; a square fails each time. */
const TRIES = 5;
/** Shorter times are not significant, in milliseconds. */
const NOISE_MS = 40;

for (const { name, object } of CONVERSION_SHAPES) {
  Deno.test(`converted() takes time proportional to the size of the object: ${name}`, () => {
    const tries: Array<string> = [];
    while (tries.length < TRIES) {
      const [quarter, whole] = [conversionMs(object(1 / 16)), conversionMs(object(1 / 4))];
      if (whole < Math.max(NOISE_MS, GROWTH_MAX * quarter)) return;
      tries.push(`${quarter.toFixed(1)} ms, then ${whole.toFixed(1)} ms`);
    }
    fail(tries.join("; "));
  });
}

Deno.test("applied() changes neither the object nor the leftovers", () => {
  const made: JsonObject = { spec: { workload: { a: 1 } } };
  const leftovers = [
    { at: ["spec", "x"], to: { y: { z: 1 } } },
    { at: ["spec", "x", "y", "w"], to: 2 },
    { at: ["spec", "workload", "b"], to: 3 },
    { at: ["spec", "workload", "a"], was: 1 },
  ];
  const before = JSON.stringify([made, leftovers]);
  deepStrictEqual(applied(made, leftovers, V1ALPHA2_SHAPE), {
    spec: { workload: { b: 3 }, x: { y: { z: 1, w: 2 } } },
  });
  deepStrictEqual(JSON.stringify([made, leftovers]), before);
});

Deno.test("same() compares as JSON, whatever the order of keys", () => {
  ok(same({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] }));
  for (
    const [one, other] of [
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: 1, b: 2 }, { a: 1 }],
      [{ a: 1 }, { b: 1 }],
      [[1], [1, 2]],
      [{}, []],
      [{}, null],
      [undefined, null],
    ] as const
  ) ok(!same(one, other) && !same(other, one), JSON.stringify([one, other]));
});
