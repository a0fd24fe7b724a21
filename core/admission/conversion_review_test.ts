import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { at, type Json, type JsonObject, listAt } from "../json.ts";
import { conversionAnswer } from "./conversion_review.ts";

const OLD: JsonObject = {
  apiVersion: "llamastack.io/v1alpha1",
  kind: "LlamaStackDistribution",
  metadata: { name: "my", uid: "u", managedFields: [] },
  spec: { replicas: 1, server: { distribution: { name: "starter" } } },
};

Deno.test("conversionAnswer() gives every object back in its order, with its own metadata", () => {
  const objects = ["a", "b", "c"].map((name) => ({ ...OLD, metadata: { name, uid: name } }));
  const answer = conversionAnswer({
    request: {
      uid: "r",
      desiredAPIVersion: "llamastack.io/v1alpha2",
      objects: [...objects, { ...OLD, apiVersion: "llamastack.io/v1alpha2" }],
    },
  });
  strictEqual(at(answer, "response", "uid"), "r");
  deepStrictEqual(at(answer, "response", "result"), { status: "Success" });
  const made = listAt(answer, "response", "convertedObjects");
  deepStrictEqual(made.map((one) => at(one, "metadata")).slice(0, 3), objects.map(({ metadata }) => metadata));
  deepStrictEqual(made.map((one) => at(one, "apiVersion")), made.map(() => "llamastack.io/v1alpha2"));
});

Deno.test("FR-081 conversionAnswer() answers whatever it is asked", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (review, object) => {
    conversionAnswer(review as Json);
    const request = {
      uid: 1,
      desiredAPIVersion: "llamastack.io/v1alpha2",
      objects: [object as Json, { ...OLD, spec: object as Json }],
    };
    strictEqual(listAt(conversionAnswer({ request }), "response", "convertedObjects").length, 2);
  }));
});
