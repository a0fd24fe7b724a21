import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import fc from "fast-check";
import { at, type Json, type JsonObject, listAt } from "../data/json.ts";
import { conversionAnswer } from "./conversion_review.ts";

const OLD: JsonObject = {
  apiVersion: "llamastack.io/v1alpha1",
  kind: "LlamaStackDistribution",
  metadata: { name: "my", uid: "u", managedFields: [] },
  spec: { replicas: 1, server: { distribution: { name: "starter" } } },
};

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The whole answer as the API server would read it. */
const answered = (review: Uint8Array): string => {
  const { before, count, object, after } = Result.getOrThrow(conversionAnswer(review));
  const objects = Array.from({ length: count }, (_, index) => new TextDecoder().decode(object(index)));
  return `${before}${objects.join(",")}${after}`;
};
const answerTo = (review: unknown): Json => JSON.parse(answered(text(review))) as Json;

Deno.test("conversionAnswer() returns every object in its order, with its own metadata", () => {
  const objects = ["a", "b", "c"].map((name) => ({ ...OLD, metadata: { name, uid: name } }));
  const answer = answerTo({
    request: {
      uid: "r",
      desiredAPIVersion: "llamastack.io/v1alpha2",
      objects: [...objects, { ...OLD, apiVersion: "llamastack.io/v1alpha2" }],
    },
  });
  strictEqual(at(answer, "response", "uid"), "r");
  deepStrictEqual(at(answer, "response", "result"), { status: "Success" });
  const made = listAt(answer, "response", "convertedObjects");
  deepStrictEqual(made.map((value) => at(value, "metadata")).slice(0, 3), objects.map(({ metadata }) => metadata));
  deepStrictEqual(made.map((value) => at(value, "apiVersion")), made.map(() => "llamastack.io/v1alpha2"));
});

Deno.test("conversionAnswer() answers any request", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (review, object) => {
    answerTo(review);
    const request = {
      uid: 1,
      desiredAPIVersion: "llamastack.io/v1alpha2",
      objects: [object as Json, { ...OLD, spec: object as Json }],
    };
    strictEqual(listAt(answerTo({ request }), "response", "convertedObjects").length, 2);
  }));
});

Deno.test("conversionAnswer() keeps numbers of 64 bits in each object", () => {
  const review =
    `{"request":{"uid":"r","desiredAPIVersion":"llamastack.io/v1alpha2","objects":[ {"a":9007199254740993} , 1]}}`;
  const answer = answered(new TextEncoder().encode(review));
  ok(answer.includes('[{"a":9007199254740993},1]'), answer);
});

Deno.test("conversionAnswer() returns only the name of an object that is nested too deeply, and converts the others", () => {
  const deep = `{"apiVersion":"llamastack.io/v1alpha1","metadata":{"name":"deep"},"spec":${
    "[".repeat(9000)
  }12345678901234567890${"]".repeat(9000)}}`;
  const review = `{"request":{"uid":"r","desiredAPIVersion":"llamastack.io/v1alpha2","objects":[${deep},${
    JSON.stringify(OLD)
  }]}}`;
  const answer = answered(new TextEncoder().encode(review));
  ok(answer.includes(deep.replace("v1alpha1", "v1alpha2")), answer.slice(0, 300));
  const made = listAt(JSON.parse(answer) as Json, "response", "convertedObjects");
  deepStrictEqual([made.length, at(made[1] ?? null, "apiVersion")], [2, "llamastack.io/v1alpha2"]);
});

Deno.test("conversionAnswer() reports the error of a text that is not a review", () => {
  for (const bad of ["", "{", '{"request":{"objects":[', "\u0000"]) {
    ok(Result.isFailure(conversionAnswer(new TextEncoder().encode(bad))), bad);
  }
});
