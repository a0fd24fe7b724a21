/**
 * `/convert`: a ConversionReview, answered object by object. Never judges, and no object makes it fail for the others: a failure
 * here would stop every list and delete.
 */
import * as Result from "effect/Result";
import { INCOMPLETE_ANNOTATION, UNCONVERTED_ANNOTATION } from "../api/convert/annotation.ts";
import { isNamespaceName, isObjectName } from "../api/object_names.ts";
import { UNCONVERTED_SPECS } from "../api/unconverted.ts";
import { API_VERSION } from "../api/v1alpha2.ts";
import { isObject, type JsonObject, stringAt } from "../data/json.ts";
import { ANSWER_BOUNDS, OBJECT_BOUNDS, readExactJson, readJson, writeExactJson } from "../data/json_text.ts";
import { guardedConversion } from "../api/guarded_conversion.ts";
import { membersAt, type Slice, slicedReview } from "./review_slices.ts";

/** An answer in its parts: `before`, the objects with commas between them, `after`. */
export interface ConversionAnswer {
  readonly before: string;
  readonly count: number;
  /**
   * Which stored object the one of that index is to be completed from: it was read in a version that could not hold all of it,
   * and is written back.
   */
  readonly incomplete: (index: number) => StoredName | undefined;
  /** The object of that index in the wanted version, as JSON text. */
  readonly object: (index: number, stored?: JsonObject) => Uint8Array;
  readonly after: string;
}

export interface StoredName {
  readonly namespace: string;
  readonly name: string;
}

/** Fails with what is wrong with the text of the review itself. */
export const conversionAnswer = (bytes: Uint8Array): Result.Result<ConversionAnswer, string> => {
  const sliced = slicedReview(bytes);
  const read = Result.mapError(readJson(sliced?.rest ?? bytes, ANSWER_BOUNDS), ({ message }) => message);
  return Result.map(read, (value) => {
    const wanted = stringAt(value, "request", "desiredAPIVersion") ?? "";
    const objects = sliced?.objects ?? [];
    return {
      before: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":${
        JSON.stringify(stringAt(value, "request", "uid") ?? "")
      },"result":{"status":"Success"},"convertedObjects":[`,
      count: objects.length,
      incomplete: (index) => wanted === API_VERSION ? incompleteIn(bytes, objects[index] ?? NOWHERE) : undefined,
      object: (index, stored) => convertedText(bytes, objects[index] ?? NOWHERE, wanted, stored),
      after: "]}}",
    };
  });
};

const incompleteIn = (review: Uint8Array, { start, end }: Slice): StoredName | undefined => {
  const bytes = review.subarray(start, end);
  const found = membersAt(bytes, ["metadata.annotations", "metadata.namespace", "metadata.name"]);
  const text = (path: string): string => {
    const slice = found.get(path);
    return slice === undefined ? "" : new TextDecoder().decode(bytes.subarray(slice.start, slice.end));
  };
  if (!text("metadata.annotations").includes(INCOMPLETE_ANNOTATION)) return undefined;
  // Both are names, in which JSON escapes nothing.
  const [namespace, name] = ["metadata.namespace", "metadata.name"].map((path) => text(path).replaceAll('"', ""));
  return isNamespaceName(namespace ?? "") && isObjectName(name ?? "")
    ? { namespace: namespace ?? "", name: name ?? "" }
    : undefined;
};

const NOWHERE: Slice = { start: 0, end: 0, depth: 0, values: 0 };

/**
 * Objects are returned in their order, each in the desired version; a value that is not an object is returned unchanged. What the
 * API server would not take, and what is too large to be read, becomes an object with its name only.
 */
const convertedText = (
  review: Uint8Array,
  { start, end }: Slice,
  wanted: string,
  stored: JsonObject | undefined,
): Uint8Array => {
  const bytes = review.subarray(start, end);
  const encoder = new TextEncoder();
  const read = readExactJson(bytes, OBJECT_BOUNDS);
  if (Result.isFailure(read)) {
    const { exceeds, message } = read.failure;
    return exceeds === undefined ? encoder.encode("null") : encoder.encode(nameOnly(bytes, wanted, message));
  }
  const value = read.success;
  if (!isObject(value)) return bytes;
  return Result.match(guardedConversion(value, wanted, stored), {
    onSuccess: (made) => encoder.encode(writeExactJson(made)),
    onFailure: (why) => encoder.encode(nameOnly(bytes, wanted, why)),
  });
};

/**
 * The API server demands kind, name, namespace and uid, restores all other metadata but labels and annotations, and takes labels that
 * are unchanged.
 */
const nameOnly = (bytes: Uint8Array, apiVersion: string, why: string): string => {
  const found = membersAt(bytes, ["kind", ...KEPT.map((name) => `metadata.${name}`)]);
  const text = (path: string): string | undefined => {
    const slice = found.get(path);
    return slice === undefined ? undefined : new TextDecoder().decode(bytes.subarray(slice.start, slice.end));
  };
  const kind = text("kind");
  const metadata = [
    ...KEPT.flatMap((name) => {
      const value = text(`metadata.${name}`);
      return value === undefined ? [] : [`"${name}":${value}`];
    }),
    `"annotations":${JSON.stringify({ [UNCONVERTED_ANNOTATION]: why })}`,
  ];
  return `{"apiVersion":${JSON.stringify(apiVersion)},${kind === undefined ? "" : `"kind":${kind},`}"metadata":{${
    metadata.join(",")
  }},"spec":${JSON.stringify(UNCONVERTED_SPECS[apiVersion] ?? {})}}`;
};

const KEPT = ["name", "namespace", "uid", "labels"];
