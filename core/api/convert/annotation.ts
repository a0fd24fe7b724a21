/**
 * The annotations that contain leftovers: one for each field of spec, and one for everything else.
 *
 * One for each field, because server-side apply removes a field of one version from an object with managers in the
 * other version only if its path disappears there, too; in a single annotation it would reappear (observed on
 * Kubernetes 1.36).
 */
import * as Result from "effect/Result";
import { isList, isObject, type Json, type JsonObject, member, objectAt, omitAll } from "../../data/json.ts";
import { type JsonBounds, readExactJson, writeExactJson } from "../../data/json_text.ts";
import {
  ANNOTATION_BYTES_MAX,
  ANNOTATION_DEPTH_MAX,
  LEFTOVER_STEPS_MAX,
  OBJECT_VALUES_MAX,
} from "../../data/limits.ts";
import { fromGoAnnotations } from "./go_annotations.ts";
import type { Leftover, Of } from "./leftovers.ts";

/** Status, and fields whose path is not a valid annotation name. */
export const LEFTOVERS_ANNOTATION = "llamastack.io/conversion-leftovers";

/**
 * On an object whose leftovers do not fit into annotations: the fields that are missing. Admission rejects a write of
 * such an object, because it would remove them.
 */
export const INCOMPLETE_ANNOTATION = "llamastack.io/incomplete-conversion";

/**
 * On an object of which conversion shows the name alone: what it has that cannot be converted. Its spec is a stub that the schema
 * takes, so that finalizers can be removed and the object can be deleted; admission rejects every other write of it, and nothing is
 * made of it.
 */
export const UNCONVERTED_ANNOTATION = "llamastack.io/unconverted";

/** `v1alpha2.leftovers.llamastack.io/spec.providers.inference`. */
export const leftoverPrefix = (of: Of): string => `${of}.leftovers.llamastack.io/`;

/** The leftovers in the annotations of an object. */
export interface Carried {
  readonly leftovers: ReadonlyArray<Leftover>;
  /** All other annotations, unchanged; also values under the operator's keys that conversion did not write. */
  readonly others: Json | undefined;
  /** Fields of v1alpha2 that are read from annotations of the Go operators from now on. */
  readonly moved: ReadonlyArray<ReadonlyArray<string>>;
}

/** Reads the leftovers of `of` from an object of the other version. */
export const carriedBy = (resource: JsonObject, of: Of): Carried => {
  const found = member(member(resource, "metadata"), "annotations");
  if (!isObject(found)) return { leftovers: [], others: found, moved: [] };
  const go = fromGoAnnotations(found, of);
  const main = mainIn(found[LEFTOVERS_ANNOTATION], of);
  const fields = fieldsIn(found, of);
  const read = [...go.read, ...fields.map(({ key }) => key), ...(main === undefined ? [] : [LEFTOVERS_ANNOTATION])];
  const open = read.length === 0 ? found : omitAll(found, new Set(read));
  // A copy takes its time where there are tens of thousands.
  const others = main === undefined ? open : { ...open, ...main.kept };
  return {
    // Annotations of this operator take precedence over those of the Go operators.
    leftovers: [...go.leftovers, ...(main?.leftovers ?? []), ...fields.map(({ leftover }) => leftover)],
    others: Object.keys(others).length === 0 && read.length > 0 ? undefined : others,
    moved: go.moved,
  };
};

/** The annotations of the converted object; undefined: none. */
export const withLeftovers = ({ others }: Carried, of: Of, leftovers: ReadonlyArray<Leftover>): Json | undefined => {
  if (others !== undefined && !isObject(others) && leftovers.length === 0) return others;
  const given = isObject(others) ? others : {};
  // A value that the conversion back would parse as a leftover is wrapped, so that it is preserved.
  const kept = Object.fromEntries(
    Object.keys(given).filter((key) => isOurs(key, given, of)).map((key) => [key, given[key] ?? null]),
  );
  const open = Object.keys(kept).length === 0 ? given : omitAll(given, new Set(Object.keys(kept)));
  const texts = leftovers.flatMap((leftover): ReadonlyArray<[key: string, text: string]> =>
    isNameable(leftover) ? [[keyOf(leftover, of), fieldText(leftover)]] : []
  );
  // If these alone are too long, do not build the rest.
  const shortest = texts.reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  if (shortest > ANNOTATION_BYTES_MAX) return shrunk(open, of, texts, kept);
  const fields = texts.filter(([key]) => !Object.hasOwn(given, key));
  const rest = leftovers.filter((leftover) => !isNameable(leftover) || Object.hasOwn(given, keyOf(leftover, of)));
  const more = { ...Object.fromEntries(fields), ...mainOf(of, rest, kept, given) };
  const made = Object.keys(more).length === 0 ? open : { ...open, ...more };
  // What is unchanged has been measured by the API server.
  if (made !== given && !fits(made)) return shrunk(open, of, texts, kept);
  return Object.keys(made).length === 0 ? others : made;
};

/** For messages: which places of the other version an object carries. */
export const leftoverPaths = (resource: JsonObject, of: Of): ReadonlyArray<string> =>
  leftoversIn(objectAt(resource, "metadata", "annotations"), of).map(({ at }) => at.join("."));

const leftoversIn = (annotations: JsonObject, of: Of): ReadonlyArray<Leftover> => [
  ...(mainIn(member(annotations, LEFTOVERS_ANNOTATION), of)?.leftovers ?? []),
  ...fieldsIn(annotations, of).map(({ leftover }) => leftover),
];

/** True for annotations written by conversion, which people need not read. */
export const isLeftoverAnnotation = (key: string): boolean =>
  key === LEFTOVERS_ANNOTATION ||
  (["v1alpha1", "v1alpha2"] as const).some((of) =>
    key.startsWith(leftoverPrefix(of)) && isName(key.slice(leftoverPrefix(of).length))
  );

const keyOf = ({ at }: Leftover, of: Of): string => `${leftoverPrefix(of)}${at.join(".")}`;

/** The name of an annotation has at most 63 characters of these. */
const isName = (path: string): boolean => path.length <= 63 && /^spec(\.[A-Za-z0-9]+)*$/.test(path);
const isNameable = ({ at }: Leftover): boolean => isName(at.join(".")) && at.every((step) => !step.includes("."));

const fieldText = ({ at: _, ...rest }: Leftover): string => writeExactJson(rest as Json);

/** Of the keys alone, as far as they are of anybody else: an object may have tens of thousands. */
const fieldsIn = (
  annotations: JsonObject,
  of: Of,
): ReadonlyArray<{ readonly key: string; readonly leftover: Leftover }> =>
  Object.keys(annotations).flatMap((key) => {
    const leftover = fieldIn(key, annotations, of);
    return leftover === undefined ? [] : [{ key, leftover }];
  });

const fieldIn = (key: string, annotations: JsonObject, of: Of): Leftover | undefined => {
  if (!key.startsWith(leftoverPrefix(of))) return undefined;
  const path = key.slice(leftoverPrefix(of).length);
  const text = annotations[key];
  const value = typeof text === "string" && isName(path) ? parsed(text) : undefined;
  if (!isObject(value)) return undefined;
  const leftover = { ...value, at: path.split(".") };
  return isLeftover(leftover) && !Object.hasOwn(value, "at") ? leftover as unknown as Leftover : undefined;
};

const isOurs = (key: string, annotations: JsonObject, of: Of): boolean =>
  key === LEFTOVERS_ANNOTATION && mainIn(annotations[key], of) !== undefined ||
  fieldIn(key, annotations, of) !== undefined;

const mainOf = (of: Of, rest: ReadonlyArray<Leftover>, kept: JsonObject, given: JsonObject): JsonObject => {
  const foreign = member(given, LEFTOVERS_ANNOTATION);
  if (rest.length === 0 && Object.keys(kept).length === 0) return {};
  const wrapped = foreign === undefined ? kept : { ...kept, [LEFTOVERS_ANNOTATION]: foreign };
  return {
    [LEFTOVERS_ANNOTATION]: writeExactJson({
      [of]: rest as unknown as Json,
      ...(Object.keys(wrapped).length === 0 ? {} : { kept: wrapped }),
    }),
  };
};

const mainIn = (
  text: Json | undefined,
  of: Of,
): { readonly leftovers: ReadonlyArray<Leftover>; readonly kept: JsonObject } | undefined => {
  const value = typeof text === "string" ? parsed(text) : undefined;
  if (!isObject(value) || Object.keys(value).some((key) => key !== of && key !== "kept")) return undefined;
  const list = member(value, of);
  const kept = member(value, "kept") ?? {};
  return isList(list) && list.every(isLeftover) && isObject(kept) &&
      Object.entries(kept).every(([key, text]) => isLeftoverAnnotation(key) && typeof text === "string")
    ? { leftovers: list as unknown as ReadonlyArray<Leftover>, kept }
    : undefined;
};

const isLeftover = (value: Json): boolean => {
  const path = member(value, "at");
  const bound = member(value, "while");
  return isObject(value) && Object.keys(value).every((key) => ["at", "to", "was", "while"].includes(key)) &&
    isList(path) && path.length <= LEFTOVER_STEPS_MAX && path.every((step) => typeof step === "string") &&
    (path[0] === "spec" || path[0] === "status") &&
    (bound === undefined || isObject(bound));
};

const parsed = (text: string): Json | undefined => Result.getOrUndefined(readExactJson(text, LEFTOVER_BOUNDS));

const LEFTOVER_BOUNDS: JsonBounds = { depth: ANNOTATION_DEPTH_MAX, values: OBJECT_VALUES_MAX };

/** As the API server counts them: keys and values, in bytes. */
export const annotationBytes = (annotations: JsonObject): number =>
  Object.keys(annotations).reduce((sum, key) => sum + bytesOf(key) + bytesOf(String(annotations[key])), 0);

const fits = (annotations: JsonObject): boolean => annotationBytes(annotations) <= ANNOTATION_BYTES_MAX;

/**
 * A conversion that fails would fail every list of resources, so the largest parts are omitted instead. Status is
 * omitted first, because the next reconciliation writes it again.
 */
const shrunk = (
  open: JsonObject,
  of: Of,
  fields: ReadonlyArray<readonly [key: string, text: string]>,
  kept: JsonObject,
): JsonObject => {
  const few: Record<string, Json> = { ...open };
  const wrapped = Object.keys(kept).length === 0
    ? []
    : [[LEFTOVERS_ANNOTATION, writeExactJson({ [of]: [], kept })] as const];
  // Room for the marker, whose text is bounded.
  let bytes = annotationBytes(few) + INCOMPLETE_BYTES;
  for (const [key, text] of [...wrapped, ...fields].sort(([, one], [, other]) => one.length - other.length)) {
    // None of those that are left is shorter.
    if (bytes + text.length > ANNOTATION_BYTES_MAX) break;
    const more = bytesOf(key) + bytesOf(text);
    if (Object.hasOwn(few, key) || bytes + more > ANNOTATION_BYTES_MAX) continue;
    few[key] = text;
    bytes += more;
  }
  const missing = fields.filter(([key]) => !Object.hasOwn(few, key)).map(([key]) =>
    key.slice(leftoverPrefix(of).length)
  );
  if (missing.length > 0) few[INCOMPLETE_ANNOTATION] = missing.join(",").slice(0, INCOMPLETE_CHARACTERS_MAX);
  return few;
};

/** The names that the marker lists, in characters; they are ASCII. */
export const INCOMPLETE_CHARACTERS_MAX = 512;
const INCOMPLETE_BYTES = INCOMPLETE_ANNOTATION.length + INCOMPLETE_CHARACTERS_MAX;

/** Without a copy of the text: there may be tens of thousands of them. */
const bytesOf = (text: string): number => {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    // The two halves of a pair have four bytes together; half of one alone is written as three.
    const isPair = code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    bytes += isPair ? 2 : code < 0x800 ? 1 : 2;
    if (isPair) index++;
  }
  return bytes;
};
