/**
 * What holds for the conversion of every object. `PROPERTY_RUNS` sets how many are tried (1,000 where it is
 * not set); `deno task properties` tries 100,000.
 */
import { Buffer } from "node:buffer";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import fc from "fast-check";
import { conversionAnswer } from "../core/admission/conversion_review.ts";
import { AS_WRITTEN, converted, FILLED, type Filling } from "../core/api/convert.ts";
import { API_VERSION } from "../core/api/v1alpha2.ts";
import { V1ALPHA1 } from "../core/api/v1alpha1.ts";
import { isList, isObject, type Json, type JsonObject, listAt, member, objectAt } from "../core/data/json.ts";
import { arbitraryNonsense, arbitraryV1alpha1, arbitraryV1alpha2, hostileAnnotations } from "./arbitrary_versions.ts";

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

/** Whether Go's encoding/json takes each of the numbers. */
const hasFiniteNumbers = (value: Json): boolean =>
  isList(value) || isObject(value)
    ? Object.values(value).every((inner) => hasFiniteNumbers(inner as Json))
    : typeof value !== "number" || Number.isFinite(value);

const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Source: IsQualifiedName of k8s.io/apimachinery. */
const isQualified = (key: string): boolean => {
  const parts = key.split("/");
  const [name = ""] = parts.slice(-1);
  const [domain] = parts.length === 2 ? parts : [undefined];
  return parts.length <= 2 && name.length <= 63 && NAME.test(name) &&
    (domain === undefined || domain.length <= 253 && SUBDOMAIN.test(domain));
};

/**
 * Why the API server would fail the whole review. Written from its source apart from the operator's own guard:
 * getConvertedObjectsFromResponse, validateConvertedObject and restoreObjectMeta of k8s.io/apiextensions-apiserver.
 */
const rejectionOf = (original: JsonObject, made: Json | undefined, wanted: string): string | undefined => {
  if (!isObject(made)) return "not an object";
  if (!hasFiniteNumbers(made)) return "a number that Go cannot read";
  if (made.apiVersion !== wanted) return "another version";
  if (made.kind !== original.kind) return "another kind";
  const [before, after] = [objectAt(original, "metadata"), made.metadata];
  if (!isObject(after)) return "no metadata";
  const other = ["name", "namespace", "uid"].find((name) => (before[name] ?? "") !== (after[name] ?? ""));
  if (other !== undefined) return `another ${other}`;
  for (const field of ["labels", "annotations"]) {
    const map = member(after, field) ?? null;
    if (map === null) continue;
    if (!isObject(map)) return `${field} that are no map`;
    const [entries, old] = [Object.entries(map), objectAt(before, field)];
    if (entries.some(([, value]) => typeof value !== "string")) return `${field} that are no strings`;
    const isChanged = entries.length !== Object.keys(old).length ||
      entries.some(([key, value]) => member(old, key) !== value);
    if (!isChanged) continue;
    if (entries.some(([key]) => !isQualified(key.toLowerCase()))) return `${field} with a key that is none`;
    const bytes = entries.reduce(
      (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
      0,
    );
    if (field === "annotations" && bytes > 256 * 1024) return `annotations of ${bytes} bytes`;
  }
  return undefined;
};

const answerTo = (objects: ReadonlyArray<JsonObject>, wanted: string): ReadonlyArray<Json> => {
  const review = JSON.stringify({ request: { uid: "u", desiredAPIVersion: wanted, objects } });
  const { before, count, object, after } = Result.getOrThrow(conversionAnswer(new TextEncoder().encode(review)));
  const texts = Array.from({ length: count }, (_, index) => new TextDecoder().decode(object(index)));
  return listAt(JSON.parse(`${before}${texts.join(",")}${after}`), "response", "convertedObjects");
};

Deno.test(`the API server takes the conversion of each of ${RUNS} objects with hostile annotations, and back`, () => {
  let named = 0;
  const objects = fc.oneof(arbitraryV1alpha1, arbitraryV1alpha2);
  fc.assert(
    fc.property(objects, hostileAnnotations, (resource, annotations) => {
      // As the API server has read it from its own storage.
      const stored = JSON.parse(JSON.stringify({ ...resource, metadata: { name: "my", uid: "u", annotations } }));
      const wanted = stored.apiVersion === V1ALPHA1 ? API_VERSION : V1ALPHA1;
      const good = { ...stored, metadata: { name: "good" } };
      const [first, there, last] = answerTo([good, stored, good], wanted);
      for (const made of [first, last]) {
        strictEqual(rejectionOf(good, made, wanted), undefined, "a neighbor in the list");
      }
      strictEqual(rejectionOf(stored, there, wanted), undefined);
      if (!isObject(there)) return;
      const isNamed = member(objectAt(there, "metadata", "annotations"), "llamastack.io/unconverted") !== undefined;
      if (isNamed) named++;
      const [back] = answerTo([there], String(stored.apiVersion));
      strictEqual(rejectionOf(there, back, String(stored.apiVersion)), undefined);
    }),
    { numRuns: RUNS },
  );
  ok(named > RUNS / 1000 && named < RUNS / 2, `${named} were served with their name only`);
});
