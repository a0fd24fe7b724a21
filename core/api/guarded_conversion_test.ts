import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import type { JsonObject } from "../data/json.ts";
import { guardedConversion } from "./guarded_conversion.ts";

Deno.test("guardedConversion() takes no status from an annotation that does not have the shape of one", () => {
  const forged = (to: unknown, at: ReadonlyArray<string> = ["status", "conditions"]): JsonObject => ({
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: {
      name: "my",
      annotations: { "llamastack.io/conversion-leftovers": JSON.stringify({ v1alpha2: [{ at, to }] }) },
    },
    spec: { server: { distribution: { name: "starter" } } },
  });
  const statusOf = (object: JsonObject) =>
    Result.getOrThrow(guardedConversion(object, "llamastack.io/v1alpha2")).status;
  for (const to of ["x", [5, null, "x"], [{}], {}]) {
    deepStrictEqual(statusOf(forged(to)), { observedGeneration: -1 }, JSON.stringify(to));
  }
  deepStrictEqual(statusOf(forged("x", ["status"])), { observedGeneration: -1 });
  deepStrictEqual(statusOf(forged("x", ["status", "models"])), { observedGeneration: -1 });
});
