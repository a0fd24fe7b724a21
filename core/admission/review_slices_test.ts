import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { membersAt, slicedReview } from "./review_slices.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The rest of the review, and the texts of its objects. */
const sliced = (text: string) => {
  const found = slicedReview(bytes(text));
  return found === undefined ? undefined : {
    rest: JSON.parse(found.rest),
    objects: found.objects.map(({ start, end }) =>
      JSON.parse(new TextDecoder().decode(bytes(text).subarray(start, end)))
    ),
  };
};

Deno.test("slicedReview() finds the objects of every review that JSON can say", () => {
  fc.assert(fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.boolean(), (objects, other, isSpaced) => {
    const request = { uid: 'a"]\\', other, objects, last: "}" };
    const review = { kind: "ConversionReview", objects: [1, 2], response: { objects: [3] }, request, more: other };
    // Values that JSON cannot represent, such as -0, are lost in the conversion.
    const plain = JSON.parse(JSON.stringify(review));
    deepStrictEqual(sliced(JSON.stringify(review, null, isSpaced ? 2 : 0)), {
      rest: { ...plain, request: { ...plain.request, objects: [] } },
      objects: plain.request.objects,
    });
  }));
});

Deno.test("slicedReview() finds nothing without a complete list of objects", () => {
  for (
    const text of [
      "",
      "{}",
      '{"request":{"objects":{}}}',
      '{"objects":[1]}',
      '{"request":{"objects":[1',
      '[{"objects":[1]}]',
    ]
  ) {
    strictEqual(slicedReview(bytes(text)), undefined, text);
  }
});

Deno.test("slicedReview() reports the size of each object", () => {
  const found = slicedReview(bytes('{"request":{"objects":[1,[],[{"a":[]}],"[[["]}}'));
  deepStrictEqual(found?.objects.map(({ depth }) => depth), [0, 1, 3, 0]);
  deepStrictEqual(found?.objects.map(({ values }) => values), [1, 2, 4, 1]);
});

Deno.test("slicedReview() cuts no list of more objects than a real one has", () => {
  const review = (count: number) => bytes(`{"request":{"objects":[${"{},".repeat(count)}{}]}}`);
  strictEqual(slicedReview(review(99_999))?.objects.length, 100_000);
  strictEqual(slicedReview(review(100_000)), undefined);
});

Deno.test("membersAt() finds members by their path and looks into nothing else", () => {
  const text =
    '{ "spec":{"metadata":{"name":"x"}},"kind" : "K","metadata":{"labels":{"name":"y","a":["}"]},"name":"my"},"a":1}';
  const found = membersAt(bytes(text), ["kind", "metadata.name", "metadata.labels", "metadata.uid"]);
  const texts = [...found].map(([path, { start, end }]) => [path, text.slice(start, end)]);
  deepStrictEqual(Object.fromEntries(texts), {
    kind: '"K"',
    "metadata.labels": '{"name":"y","a":["}"]}',
    "metadata.name": '"my"',
  });
});

Deno.test("membersAt() ends with every text", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ a1') }), (text) => {
    membersAt(bytes(text), ["a", "a.a"]);
    slicedReview(bytes(`{"request":{"objects":${text}`));
  }));
});
