/** Sentences about a resource for an author who wrote it in v1alpha1: the same fields under the paths that they have there. */
import { FIELD_PAIRS } from "./spec.ts";

const PAIRS: ReadonlyMap<string, string> = new Map([
  ...FIELD_PAIRS.map(({ old, now }) => [`spec.${now.join(".")}`, `spec.${old.join(".")}`] as const),
  ["spec.networking.allowedFrom", "spec.network.allowedFrom"],
  ["spec.networking.expose", "spec.network.exposeRoute"],
]);

/** Longest first, and only whole names: `spec.workload.storage.size` is no `spec.workload.storage`. */
const PATHS = new RegExp(
  `(?:${
    [...PAIRS.keys()].sort((a, b) => b.length - a.length).map((path) => path.replaceAll(".", "\\.")).join("|")
  })(?![A-Za-z0-9_])`,
  "g",
);

/** Fields that v1alpha1 lacks keep the path that they have in v1alpha2. */
export const inV1alpha1Paths = (text: string): string => text.replaceAll(PATHS, (path) => PAIRS.get(path) ?? path);
