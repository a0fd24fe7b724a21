/**
 * `/convert`: a ConversionReview, answered object by object. Never judges, and no object makes it fail for the others: a failure
 * here would stop every list and delete.
 */
import { CONVERSION_DEPTH_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import { converted } from "../api/convert.ts";
import { isObject, type Json, type JsonObject, stringAt } from "../data/json.ts";
import { readReview, writeReview } from "./exact_numbers.ts";
import { type Slice, slicedReview, withApiVersion } from "./review_slices.ts";

/** An answer in its parts: `before`, the objects with commas between them, `after`. */
export interface ConversionAnswer {
  readonly before: string;
  readonly count: number;
  /** The object of that index in the wanted version, as JSON text. */
  readonly object: (index: number) => Uint8Array;
  readonly after: string;
}

/** Fails with what is wrong with the text of the review itself. */
export const conversionAnswer = (bytes: Uint8Array): Result.Result<ConversionAnswer, string> => {
  const sliced = slicedReview(bytes);
  return Result.map(readReview(sliced?.rest ?? new TextDecoder().decode(bytes)), ({ value }) => {
    const wanted = stringAt(value, "request", "desiredAPIVersion") ?? "";
    const objects = sliced?.objects ?? [];
    return {
      before: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":${
        JSON.stringify(stringAt(value, "request", "uid") ?? "")
      },"result":{"status":"Success"},"convertedObjects":[`,
      count: objects.length,
      object: (index) => convertedText(bytes, objects[index] ?? NOWHERE, wanted),
      after: "]}}",
    };
  });
};

const NOWHERE: Slice = { start: 0, end: 0, depth: 0 };

/**
 * Objects are returned in their order, each in the desired version; a value that is not an object is returned
 * unchanged. If the conversion of one object fails because of a bug or of its nesting, only that object is not
 * converted: it is returned with its name only.
 */
const convertedText = (review: Uint8Array, { start, end, depth }: Slice, wanted: string): Uint8Array => {
  const bytes = review.subarray(start, end);
  if (depth > CONVERSION_DEPTH_MAX) return withApiVersion(bytes, wanted);
  const read = readReview(new TextDecoder().decode(bytes));
  if (Result.isFailure(read)) return new TextEncoder().encode("null");
  const { value, marked } = read.success;
  return new TextEncoder().encode(writeReview(isObject(value) ? surely(value, wanted) : value, marked));
};

const surely = (object: JsonObject, wanted: string): Json => {
  try {
    return converted(object, wanted);
  } catch {
    return { ...object, apiVersion: wanted };
  }
};
