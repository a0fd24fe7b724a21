/** `metadata` of a manifest, as the API server checks it. A stored object always passes. */
import { didYouMean } from "../data/closest.ts";
import { isObject, type Json, type JsonObject, member, objectAt } from "../data/json.ts";
import type { FieldPath } from "../data/field_path.ts";
import { quoted } from "../data/printable.ts";
import { isAnnotationKey, isLabelKey, isLabelValue } from "./object_labels.ts";
import { isNamespaceName } from "./object_names.ts";
import { isUsableName, NAME_MESSAGE } from "./rules.ts";

/** Fields of ObjectMeta. */
const KNOWN = [
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
];

/** The API server completes `generateName` with as many letters and digits, after at most so many characters. */
const RANDOM_CHARACTERS = 5;
const PREFIX_CHARACTERS_MAX = 58;

/** A name such as the API server makes of `generateName`: letters for its random ones. Undefined if there is none. */
export const generatedName = (resource: Json): string | undefined => {
  const prefix = objectAt(resource, "metadata").generateName;
  return typeof prefix === "string" && prefix !== ""
    ? `${prefix.slice(0, PREFIX_CHARACTERS_MAX)}${"x".repeat(RANDOM_CHARACTERS)}`
    : undefined;
};

export interface MetadataFinding {
  readonly path: FieldPath;
  readonly detail: string;
}

export const metadataFindings = (resource: JsonObject): ReadonlyArray<MetadataFinding> => {
  const metadata = objectAt(resource, "metadata");
  const { name, namespace } = metadata;
  const generated = generatedName(resource);
  return [
    ...Object.keys(metadata).filter((key) => !KNOWN.includes(key))
      .map((key) => mismatch([key], `Unknown field${didYouMean(key, KNOWN)}`)),
    ...(name === undefined && generated !== undefined && !isUsableName(generated)
      ? [mismatch(["generateName"], `too long or malformed for a name with five more characters: ${NAME_MESSAGE}`)]
      : []),
    ...(namespace === undefined || typeof namespace === "string" && isNamespaceName(namespace) ? [] : [mismatch(
      ["namespace"],
      typeof namespace === "string"
        ? `not the name of a namespace: ${quoted(namespace)}; use lower-case letters, digits and "-"`
        : "Expected a string; put the name in quotes",
    )]),
    ...texts(metadata, "labels", labelProblem),
    ...texts(
      metadata,
      "annotations",
      (key) => isAnnotationKey(key) ? undefined : `not an annotation key: ${quoted(key)}`,
    ),
  ];
};

const labelProblem = (key: string, value: string): string | undefined =>
  !isLabelKey(key)
    ? `not a label key: ${quoted(key)}; use letters, digits, "-", "_" and "."`
    : isLabelValue(value)
    ? undefined
    : `not a label value: ${quoted(value)}; use up to 63 letters, digits, "-", "_" and "."`;

/** The entries of a map of texts that are none, or that have a problem. */
const texts = (
  metadata: JsonObject,
  field: string,
  problem: (key: string, value: string) => string | undefined,
): ReadonlyArray<MetadataFinding> => {
  const map = member(metadata, field);
  if (map === undefined) return [];
  if (!isObject(map)) return [mismatch([field], "Expected an object")];
  const found: Array<MetadataFinding> = [];
  for (const [key, value] of Object.entries(map)) {
    if (value !== null && typeof value !== "string") {
      found.push(mismatch([field, key], `Expected a string${isObject(value) ? "" : "; put the value in quotes"}`));
      continue;
    }
    const detail = problem(key, value ?? "");
    if (detail !== undefined) found.push(mismatch([field, key], detail));
  }
  return found;
};

const mismatch = (at: ReadonlyArray<string>, detail: string): MetadataFinding => ({
  path: ["metadata", ...at],
  detail,
});
