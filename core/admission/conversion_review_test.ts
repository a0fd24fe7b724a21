import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import fc from "fast-check";
import { at, type Json, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { ANNOTATIONS_MAX } from "../data/limits.ts";
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

/** What the answer makes of one object of v1alpha1, given as JSON text. */
const answerFor = (object: string, wanted = "llamastack.io/v1alpha2"): Json => {
  const review = `{"request":{"uid":"r","desiredAPIVersion":"${wanted}","objects":[${object},${JSON.stringify(OLD)}]}}`;
  const made = listAt(JSON.parse(answered(new TextEncoder().encode(review))) as Json, "response", "convertedObjects");
  deepStrictEqual([made.length, at(made[1] ?? null, "apiVersion")], [2, wanted], "the others are converted");
  return made[0] ?? null;
};
const NAMED = '"metadata":{"name":"bad","namespace":"n","uid":"u","labels":{"a":"b"},"annotations":{"c":"d"}}';
const nothingBut = (why: string): Json => ({
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: {
    name: "bad",
    namespace: "n",
    uid: "u",
    labels: { a: "b" },
    annotations: { "llamastack.io/unconverted": why },
  },
  spec: { distribution: { name: "unconverted" }, workload: { replicas: 0 } },
});

Deno.test("conversionAnswer() returns only the name of an object that is nested too deeply, and converts the others", () => {
  const deep = `"spec":${"[".repeat(9000)}12345678901234567890${"]".repeat(9000)}`;
  deepStrictEqual(
    answerFor(`{"apiVersion":"llamastack.io/v1alpha1",${deep},"kind":"LlamaStackDistribution",${NAMED}}`),
    nothingBut("more than 200 levels of maps and lists"),
  );
});

Deno.test("conversionAnswer() returns only the name of an object of too many values, and converts the others", () => {
  const wide = `"spec":[${"{},".repeat(100_000)}1]`;
  deepStrictEqual(
    answerFor(`{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution",${wide},${NAMED}}`),
    nothingBut("more than 100000 values"),
  );
});

Deno.test("conversionAnswer() returns only the name of an object of too many annotations, and converts the others", () => {
  const annotations = Object.fromEntries(Array.from({ length: ANNOTATIONS_MAX + 1 }, (_, index) => [`a${index}`, ""]));
  const { metadata } = JSON.parse(`{${NAMED}}`);
  deepStrictEqual(
    answerFor(JSON.stringify({ ...OLD, metadata: { ...metadata, annotations } })),
    nothingBut("more than 2000 annotations"),
  );
});

Deno.test("conversionAnswer() returns only the name of an object whose annotations have no room for what is left over", () => {
  const full = {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    metadata: { name: "bad", uid: "u", annotations: { "a.example/b": "x".repeat(262_100) } },
    spec: { distribution: { name: "starter" }, providers: { inference: [{ provider: "vllm" }] } },
  };
  const made = answerFor(JSON.stringify(full), "llamastack.io/v1alpha1");
  const marker = at(made, "metadata", "annotations", "llamastack.io/unconverted");
  ok(/^annotations that need 262\d{3} bytes/.test(String(marker)));
  deepStrictEqual(Object.keys(made as JsonObject), ["apiVersion", "kind", "metadata", "spec"]);
  deepStrictEqual(Object.keys(at(made, "metadata") as JsonObject), ["name", "uid", "annotations"]);
});

for (const kept of ["\u0000int:5", "\u0000int:007", "\u0000int:9007199254740993"]) {
  Deno.test(`conversionAnswer() returns an annotation ${JSON.stringify(kept)} among the leftovers as the text that it is`, () => {
    const key = "v1alpha1.leftovers.llamastack.io/spec.replicas";
    const carried = JSON.stringify({ v1alpha2: [], kept: { [key]: kept } });
    const object = {
      ...OLD,
      metadata: { name: "bad", annotations: { "llamastack.io/conversion-leftovers": carried } },
    };
    strictEqual(at(answerFor(JSON.stringify(object)), "metadata", "annotations", key), kept);
  });
}

Deno.test("conversionAnswer() keeps a long integer that v1alpha1 lacks, there and back", () => {
  const review = (wanted: string, object: string): Uint8Array =>
    new TextEncoder().encode(
      `{"request":{"uid":"r","desiredAPIVersion":"llamastack.io/${wanted}","objects":[${object}]}}`,
    );
  const spec = '"spec":{"distribution":{"name":"starter"},"providers":{"inference":[{"provider":"vllm","settings":' +
    '{"n":9007199254740993,"text":"\\u0000int:5"}}]}}';
  const now =
    `{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{"name":"my"},${spec}}`;
  const there = answered(review("v1alpha1", now));
  const object = /"convertedObjects":\[(.*)\]\}\}$/s.exec(there)?.[1] ?? "";
  const back = answered(review("v1alpha2", object));
  ok(back.includes('"settings":{"n":9007199254740993,"text":"\\u0000int:5"}'), back);
});

Deno.test("conversionAnswer() reports the error of a text that is not a review", () => {
  for (const bad of ["", "{", '{"request":{"objects":[', "\u0000"]) {
    ok(Result.isFailure(conversionAnswer(new TextEncoder().encode(bad))), bad);
  }
});

/** More than the annotations of v1alpha1 can hold. */
const LARGE: JsonObject = {
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: { name: "my", namespace: "team", uid: "u" },
  spec: {
    distribution: { name: "starter" },
    disabled: ["safety"],
    providers: {
      inference: Array.from({ length: 32 }, (_, index) => ({
        id: `p-${index}`,
        provider: "vllm",
        settings: { note: "x".repeat(9000) },
      })),
    },
  },
};

const review = (object: Json, version: string): Uint8Array =>
  text({ request: { uid: "r", desiredAPIVersion: `llamastack.io/${version}`, objects: [object] } });
const objectIn = (bytes: Uint8Array): JsonObject => JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;

Deno.test("conversionAnswer() completes what v1alpha1 could not hold from the stored object, and keeps edits", () => {
  const shown = objectIn(Result.getOrThrow(conversionAnswer(review(LARGE, "v1alpha1"))).object(0));
  const marker = stringAt(shown, "metadata", "annotations", "llamastack.io/incomplete-conversion");
  strictEqual(marker, "spec.providers.inference");
  const edited = put(
    put(shown, ["spec", "replicas"], 3),
    ["metadata", "annotations", "v1alpha2.leftovers.llamastack.io/spec.disabled"],
    undefined,
  );
  const answer = Result.getOrThrow(conversionAnswer(review(edited, "v1alpha2")));
  deepStrictEqual(answer.incomplete(0), { namespace: "team", name: "my" });
  const written = objectIn(answer.object(0, LARGE));
  deepStrictEqual(at(written, "spec", "providers"), at(LARGE, "spec", "providers"));
  // What was shown, and is gone, was removed by somebody.
  deepStrictEqual([at(written, "spec", "disabled"), at(written, "spec", "workload", "replicas")], [undefined, 3]);
  strictEqual(at(written, "metadata", "annotations", "llamastack.io/incomplete-conversion"), undefined);
});

Deno.test("conversionAnswer() completes nothing from another object, nor in the other direction", () => {
  const shown = objectIn(Result.getOrThrow(conversionAnswer(review(LARGE, "v1alpha1"))).object(0));
  const answer = Result.getOrThrow(conversionAnswer(review(shown, "v1alpha2")));
  const other = put(LARGE, ["metadata", "uid"], "another");
  strictEqual(at(objectIn(answer.object(0, other)), "spec", "providers"), undefined);
  strictEqual(Result.getOrThrow(conversionAnswer(review(LARGE, "v1alpha1"))).incomplete(0), undefined);
  strictEqual(Result.getOrThrow(conversionAnswer(review(OLD, "v1alpha2"))).incomplete(0), undefined);
});
