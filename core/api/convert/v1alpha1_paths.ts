/** The fields that both versions have, under their paths in each: for messages. */
import type { FieldPath } from "../../data/field_path.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { V1ALPHA1 } from "../v1alpha1.ts";
import { Spec } from "../v1alpha2.ts";
import { BLOCKS, MOVED } from "./spec.ts";

/** Of the spec of v1alpha1; `replicas` is no root of v1alpha2. */
const ROOTS: ReadonlySet<string> = new Set(["server", "network", "replicas"]);

interface Pair {
  readonly old: string;
  readonly now: string;
  /** Whether everything below has the same names in both versions. */
  readonly isWhole: boolean;
}

const spec = (path: ReadonlyArray<string>): string => ["spec", ...path].join(".");

const PAIRS: ReadonlyArray<Pair> = [
  ...MOVED.map(({ old, now }) => ({ old: spec(old), now: spec(now), isWhole: true })),
  ...BLOCKS.map(({ old, now }) => ({ old: spec(old), now: spec(now), isWhole: false })),
  { old: "spec.network.allowedFrom", now: "spec.networking.allowedFrom", isWhole: true },
  { old: "spec.network.exposeRoute", now: "spec.networking.expose", isWhole: false },
  { old: "spec.server.userConfig", now: "spec.overrideConfig", isWhole: false },
];

const OLD_BY_NOW: ReadonlyMap<string, string> = new Map(PAIRS.map(({ old, now }) => [now, old]));

/** Fields inside a pair that v1alpha1 lacks. */
const ONLY_NOW = MOVED.flatMap(({ now, without }) => without === undefined ? [] : [spec([...now, without])]);

const escaped = (path: string): string => path.replaceAll(".", "\\.");
const alternatives = (paths: ReadonlyArray<string>): string =>
  [...paths].sort((a, b) => b.length - a.length).map(escaped).join("|");
const nows = (isWhole: boolean): ReadonlyArray<string> =>
  PAIRS.filter((pair) => pair.isWhole === isWhole).map(({ now }) => now);

/** Only whole names: `spec.workload.storage.size` is no `spec.workload.storage`. */
const PATHS = new RegExp(
  `(?!(?:${alternatives(ONLY_NOW)})(?![A-Za-z0-9_]))` +
    `(?:(?:${alternatives(nows(true))})(?![A-Za-z0-9_])|(?:${alternatives(nows(false))})(?!\\.?[A-Za-z0-9_]))`,
  "g",
);

/** Paths of fields that v1alpha1 lacks, once all others are replaced. */
const LACKING = new RegExp(
  `(spec\\.(?:${Object.keys(Spec.fields).filter((field) => !ROOTS.has(field)).join("|")})\\b` +
    `(?:\\.[A-Za-z0-9_]+|\\[[^\\]\\s]*\\])*)(?: \\(v1alpha2\\))?`,
  "g",
);

/** A sentence for an author of v1alpha1. Fields that v1alpha1 lacks keep the path that they have in v1alpha2, which is named. */
export const inV1alpha1Paths = (text: string): string =>
  text.replaceAll(PATHS, (path) => OLD_BY_NOW.get(path) ?? path).replaceAll(
    LACKING,
    // The path at the beginning of a message is where it was found; the object may have it in an annotation.
    (found, path: string, offset: number) => offset === 0 ? found : `${path} (v1alpha2)`,
  );

/** For the author of a resource: its messages with the paths of the version in which the spec was written last. */
export const wordsFor = (resource: JsonObject): (text: string) => string =>
  isWrittenInV1alpha1(resource) ? inV1alpha1Paths : (text) => text;

/** As its field managers say: each is recorded with the version that it wrote. Nobody else but authors writes the spec. */
export const isWrittenInV1alpha1 = (resource: JsonObject): boolean => {
  const writers = listAt(resource, "metadata", "managedFields")
    .filter((entry) =>
      Object.hasOwn(objectAt(entry, "fieldsV1"), "f:spec") && stringAt(entry, "subresource") === undefined
    )
    .toSorted((a, b) => (stringAt(b, "time") ?? "").localeCompare(stringAt(a, "time") ?? ""));
  return stringAt(writers[0], "apiVersion") === V1ALPHA1;
};

/** The path that a field of v1alpha2 has in v1alpha1; unchanged for those that v1alpha1 lacks. */
export const v1alpha1Path = (path: FieldPath): FieldPath => {
  const isIn = (fields: string) => fields.split(".").every((step, index) => path[index] === step);
  const length = (fields: string) => fields.split(".").length;
  if (ONLY_NOW.some(isIn)) return path;
  const [pair] = PAIRS.filter(({ now, isWhole }) => isIn(now) && (isWhole || path.length === length(now)))
    .sort((a, b) => length(b.now) - length(a.now));
  return pair === undefined ? path : [...pair.old.split("."), ...path.slice(length(pair.now))];
};

/** Whether the other version has a place for the field of this version, or for fields in it. */
export const hasCounterpart = (path: string, version: "v1alpha1" | "v1alpha2"): boolean =>
  PAIRS.map(({ old, now }) => version === "v1alpha1" ? old : now)
    .some((known) => known === path || known.startsWith(`${path}.`));
