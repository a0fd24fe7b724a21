/**
 * A converted object as the API server would judge it, before it does: one that it refuses would fail the whole list.
 * Source: validateConvertedObject and restoreObjectMeta of k8s.io/apiextensions-apiserver, ValidateAnnotations of k8s.io/apimachinery.
 */
import * as Result from "effect/Result";
import { annotationBytes, INCOMPLETE_ANNOTATION } from "./convert/annotation.ts";
import { same } from "./convert/leftovers.ts";
import { completed, converted, withoutCarriedStatus } from "./convert.ts";
import { hasSoundStatus } from "./status_of.ts";
import { V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION } from "./v1alpha2.ts";
import { at, isObject, type Json, type JsonObject, member, objectAt, stringAt } from "../data/json.ts";
import { ANNOTATION_BYTES_MAX, ANNOTATIONS_MAX } from "../data/limits.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { isOversized } from "./decode.ts";
import { isAnnotationKey } from "./object_labels.ts";

/**
 * The object in another version; fails with what it has that prevents this, without quoting it. `stored`: what the API server stores
 * under its name, where the object says that it lacks something.
 */
export const guardedConversion = (
  object: JsonObject,
  apiVersion: string,
  stored?: JsonObject,
): Result.Result<JsonObject, string> => {
  if (hasTooManyAnnotations(object)) return Result.fail(`more than ${ANNOTATIONS_MAX} annotations`);
  return Result.flatMap(
    Result.try({
      try: () =>
        stored !== undefined && isSameObject(object, stored) && object.apiVersion === V1ALPHA1
          ? completed(object, stored)
          : converted(object, apiVersion),
      catch: () => "content that cannot be converted",
    }),
    (whole) => {
      // Authors write annotations too: a status that does not have the shape of one would stop every client that reads it.
      const made = apiVersion === API_VERSION && whole !== object && !hasSoundStatus(whole)
        ? withoutCarriedStatus(object)
        : whole;
      const problem = made === object ? undefined : rejection(object, made, apiVersion);
      return problem === undefined ? Result.succeed(made) : Result.fail(problem);
    },
  );
};

/** Beyond, an object is neither converted nor judged: each of them would be looked at a dozen times. */
export const hasTooManyAnnotations = (object: JsonObject): boolean =>
  Object.keys(objectAt(object, "metadata", "annotations")).length > ANNOTATIONS_MAX;

const isSameObject = (one: JsonObject, other: JsonObject): boolean =>
  one.kind === other.kind && other.apiVersion === API_VERSION &&
  ["name", "namespace", "uid"].every((name) => at(one, "metadata", name) === at(other, "metadata", name));

/** Continues the sentence "the object has …"; undefined: the API server takes what was made of it. */
export const rejection = (before: JsonObject, made: JsonObject, apiVersion: string): string | undefined => {
  if (made.apiVersion !== apiVersion) return "an unknown version";
  const isSame = (...path: ReadonlyArray<string>): boolean => at(before, ...path) === at(made, ...path);
  const isItself = isSame("kind") && ["name", "namespace", "uid"].every((name) => isSame("metadata", name));
  if (!isItself || !isObject(made.metadata)) return "no usable metadata";
  return mapProblem(member(before.metadata, "labels"), member(made.metadata, "labels")) ??
    mapProblem(member(before.metadata, "annotations"), member(made.metadata, "annotations"));
};

const mapProblem = (before: Json | undefined, made: Json | undefined): string | undefined => {
  if (made === undefined || made === null || same(before, made)) return undefined;
  if (!isObject(made)) return "labels or annotations that are no map";
  const entries = Object.entries(made);
  if (entries.some(([, value]) => typeof value !== "string")) return "labels or annotations that are no text";
  if (entries.some(([key]) => !isAnnotationKey(key))) return "annotations with keys that are none";
  const bytes = annotationBytes(made);
  return bytes > ANNOTATION_BYTES_MAX
    ? `annotations that need ${bytes} bytes together with the fields that the other version lacks, of ` +
      `${ANNOTATION_BYTES_MAX} that are allowed`
    : undefined;
};

/** What the resource has that clients of v1alpha1 do not see; their writes of it keep that, or are rejected. */
export const hiddenFromV1alpha1 = (object: JsonObject): ReadonlyArray<Warning> => {
  const lost = lostInV1alpha1(object);
  return lost === undefined ? [] : [
    warning(
      "TooLargeForV1alpha1",
      ["spec"],
      `use v1alpha2 for it, or shorten texts: clients of v1alpha1 ${lost}, as what v1alpha1 has no field for is in annotations ` +
        `there, which may take ${ANNOTATION_BYTES_MAX} bytes`,
    ),
  ];
};

/** Continues "clients of v1alpha1"; undefined: they see all of it. */
const lostInV1alpha1 = (object: JsonObject): string | undefined => {
  // What v1alpha1 cannot hold is a part of spec, and in annotations some of it is written with more characters.
  const length = (value: Json): number => JSON.stringify(value).length;
  if (isOversized(object)) return undefined;
  if (length(object.spec ?? null) + length(objectAt(object, "metadata", "annotations")) < ANNOTATION_BYTES_MAX / 8) {
    return undefined;
  }
  return Result.match(guardedConversion(object, V1ALPHA1), {
    onSuccess: (shown) => {
      const missing = stringAt(shown, "metadata", "annotations", INCOMPLETE_ANNOTATION);
      return missing === undefined ? undefined : `do not see ${missing}`;
    },
    onFailure: (why) => `see nothing but its name, because it has ${why}`,
  });
};
