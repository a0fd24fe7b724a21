import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { depthOf, slicedReview, withApiVersion } from "./review_slices.ts";

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

Deno.test("slicedReview() reports the nesting depth of each object", () => {
  const found = slicedReview(bytes('{"request":{"objects":[1,[],[{"a":[]}],"[[["]}}'));
  deepStrictEqual(found?.objects.map(({ depth }) => depth), [0, 1, 3, 0]);
});

Deno.test("depthOf() counts levels outside of strings", () => {
  deepStrictEqual(['{"a":[[1]],"b":"[[[["}', "1", '"\\"[["'].map((text) => depthOf(bytes(text))), [3, 0, 0]);
});

Deno.test("withApiVersion() changes the version of the object and of nothing within it", () => {
  const text = '{"spec":{"apiVersion":"x"},"a":"apiVersion","apiVersion" : "old","b":1}';
  const changed = new TextDecoder().decode(withApiVersion(bytes(text), "new"));
  strictEqual(changed, '{"spec":{"apiVersion":"x"},"a":"apiVersion","apiVersion" : "new","b":1}');
});
