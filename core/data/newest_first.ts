/** Objects by age. */
import { type JsonObject, stringAt } from "./json.ts";

/** The newest first. Those made in one second have one time: of them, the one with the larger resourceVersion. */
export const newestFirst = (objects: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  objects.toSorted((a, b) => madeAt(b).localeCompare(madeAt(a)) || versionOf(b) - versionOf(a));

/** Kubernetes orders the resourceVersions of one kind; NaN if it is not a number. */
export const versionOf = (object: JsonObject): number => Number(stringAt(object, "metadata", "resourceVersion"));

const madeAt = (object: JsonObject): string => stringAt(object, "metadata", "creationTimestamp") ?? "";
