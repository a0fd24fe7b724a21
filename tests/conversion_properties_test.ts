/**
 * What holds for the conversion of every object. `PROPERTY_RUNS` sets how many are tried (1,000 where it is
 * not set); `deno task properties` tries 100,000.
 */
import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { AS_WRITTEN, converted, FILLED, type Filling } from "../core/api/convert.ts";
import { API_VERSION } from "../core/api/v1alpha2.ts";
import { V1ALPHA1 } from "../core/api/v1alpha1.ts";
import type { JsonObject } from "../core/data/json.ts";
import { arbitraryNonsense, arbitraryV1alpha1, arbitraryV1alpha2 } from "./arbitrary_versions.ts";

const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 1000);

const thereAndBack = (resource: JsonObject, filling: Filling): void => {
  const other = resource.apiVersion === V1ALPHA1 ? API_VERSION : V1ALPHA1;
  const before = structuredClone(resource);
  const there = converted(resource, other, filling);
  deepStrictEqual(there.apiVersion, other);
  // Through text, as between API server and webhook.
  const back = converted(JSON.parse(JSON.stringify(there)), String(resource.apiVersion), filling);
  // The API server gives and takes objects with their defaults only.
  deepStrictEqual(back, filling(resource));
  deepStrictEqual(resource, before);
};

for (const [version, objects] of [["v1alpha1", arbitraryV1alpha1], ["v1alpha2", arbitraryV1alpha2]] as const) {
  for (const [what, filling] of [["with the API server's defaults", FILLED], ["as written", AS_WRITTEN]] as const) {
    Deno.test(`${RUNS} objects of ${version} are the same after there and back, ${what}`, () => {
      fc.assert(fc.property(objects, (resource) => thereAndBack(resource, filling)), { numRuns: RUNS });
    });
  }
}

Deno.test("no object is too strange to be converted without loss", () => {
  fc.assert(
    fc.property(arbitraryNonsense, fc.constantFrom(FILLED, AS_WRITTEN), thereAndBack),
    { numRuns: RUNS },
  );
});
