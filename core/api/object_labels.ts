/** Labels and annotations of Kubernetes, as settings and resources may list them. */
import * as Schema from "effect/Schema";
import { isObjectName } from "./object_names.ts";
import { LABELS_MAX } from "../data/limits.ts";
import type { JsonObject } from "../data/json.ts";

export const isLabelKey = (key: string): boolean => {
  const slash = key.indexOf("/");
  return NAME.test(key.slice(slash + 1)) && (slash < 0 || isObjectName(key.slice(0, slash)));
};
/** As a label key, with the domain in upper case letters as well. */
export const isAnnotationKey = (key: string): boolean => isLabelKey(key.toLowerCase());
export const isLabelValue = (value: string): boolean => VALUE.test(value);

/** The part of a key after its domain. */
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Undefined where one of them is no label, or there are too many. */
export const labelsIn = (map: JsonObject): Readonly<Record<string, string>> | undefined => {
  const labels = Object.entries(map).flatMap(([key, value]): ReadonlyArray<[string, string]> =>
    isLabelKey(key) && typeof value === "string" && VALUE.test(value) ? [[key, value]] : []
  );
  return labels.length === Object.keys(map).length && labels.length <= LABELS_MAX
    ? Object.fromEntries(labels)
    : undefined;
};

/** Labels of a map: the API server rejects objects with others. */
export const LABELS = Schema.makeFilter((labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).filter(([key, value]) => !isLabelKey(key) || !isLabelValue(value)).map(([key]) => ({
    path: [key],
    issue: "Expected a label: letters, digits, -, _ and . in key and value, and a domain before a / in the key",
  }))
);
