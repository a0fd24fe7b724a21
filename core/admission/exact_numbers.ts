/**
 * JSON text of reviews. Kubernetes has 64-bit integers, JavaScript has 53 bits of them: what would be rounded travels as a
 * marked string between reading and writing.
 */
import { EXACT_NUMBERS_DEPTH_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import type { Json } from "../data/json.ts";
import { depthOf } from "./review_slices.ts";

const MARK = "\u0000int:";
/** A run of digits that may be such a number; resource versions are strings and do not count. */
const SUSPECT = /[:[,]\s*-?\d{16,}/;
/** The mark at the start of a string of its own; inside another string its escape has two backslashes. */
const WRITTEN = /(?<!\\)"\\u0000int:(-?\d+)"/g;

export interface Review {
  readonly value: Json;
  /** False if the text already contains the mark: then nothing is marked, and nothing is treated as marked. */
  readonly marked: boolean;
}

export const readReview = (text: string): Result.Result<Review, string> => {
  const marked = text.search(WRITTEN) < 0;
  try {
    // The reviver recurses, the parser does not: deeply nested text is parsed without the reviver.
    const value = marked && SUSPECT.test(text) && depthOf(new TextEncoder().encode(text)) <= EXACT_NUMBERS_DEPTH_MAX
      ? JSON.parse(text, (_key, value, context?: { readonly source?: string }) => exact(value, context?.source)) as Json
      : JSON.parse(text) as Json;
    return Result.succeed({ value, marked });
  } catch (cause) {
    return Result.fail(cause instanceof Error ? cause.message : String(cause));
  }
};

export const writeReview = (value: Json, marked: boolean): string => {
  const text = JSON.stringify(value);
  return marked ? text.replace(WRITTEN, "$1") : text;
};

const exact = (value: unknown, source: string | undefined): unknown =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined &&
    /^-?\d+$/.test(source)
    ? `${MARK}${source}`
    : value;
