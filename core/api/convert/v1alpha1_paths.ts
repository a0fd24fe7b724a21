/** The fields that both versions have, under their paths in each: for messages. */
import type { FieldPath } from "../../data/field_path.ts";
import { BLOCKS, MOVED } from "./spec.ts";

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

/** A sentence for an author of v1alpha1. Fields that v1alpha1 lacks keep the path that they have in v1alpha2. */
export const inV1alpha1Paths = (text: string): string => text.replaceAll(PATHS, (path) => OLD_BY_NOW.get(path) ?? path);

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
