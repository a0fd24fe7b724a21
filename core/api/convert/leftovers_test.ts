import { deepStrictEqual, ok } from "node:assert/strict";
import { CONVERSION_SHAPES } from "../../../tests/hostile/conversion_shapes.ts";
import { growsWithSize } from "../../../tests/measured.ts";
import type { JsonObject } from "../../data/json.ts";
import { converted } from "../convert.ts";
import { V1ALPHA1 } from "../v1alpha1.ts";
import { API_VERSION } from "../v1alpha2.ts";
import { applied, same, V1ALPHA2_SHAPE } from "./leftovers.ts";

const otherVersion = ({ apiVersion }: JsonObject): string => apiVersion === V1ALPHA1 ? API_VERSION : V1ALPHA1;

const thereAndBack = (object: JsonObject): JsonObject =>
  converted(converted(object, otherVersion(object)), String(object.apiVersion));

for (const { name, object } of CONVERSION_SHAPES) {
  Deno.test(`converted() takes time proportional to the size of the object: ${name}`, () => {
    const [smaller, larger] = [object(1 / 16), object(1 / 4)];
    growsWithSize(() => thereAndBack(smaller), () => thereAndBack(larger));
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
