/** Objects by age. */
import { type JsonObject, stringAt } from "./json.ts";

export interface Age {
  /** RFC 3339. */
  readonly createdAt: string;
  /** Its resourceVersion; Kubernetes orders those of one kind. NaN if it is not a number. */
  readonly version: number;
}

export const ageOf = (object: JsonObject): Age => ({
  createdAt: stringAt(object, "metadata", "creationTimestamp") ?? "",
  version: versionOf(object),
});

/** The newest first. Those made in one second have one time: of them, the one with the larger resourceVersion. */
export const byAge = (a: Age, b: Age): number => b.createdAt.localeCompare(a.createdAt) || b.version - a.version;

export const newestFirst = (objects: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  objects.toSorted((a, b) => byAge(ageOf(a), ageOf(b)));

/** See `Age`. */
export const versionOf = (object: JsonObject): number => Number(stringAt(object, "metadata", "resourceVersion"));
