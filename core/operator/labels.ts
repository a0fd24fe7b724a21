/** Labels of Kubernetes, as a setting may list them. */
import { LABELS_MAX } from "../data/limits.ts";
import type { JsonObject } from "../data/json.ts";

/** A label or annotation key. */
export const isLabelKey = (key: string): boolean => KEY.test(key);
export const isLabelValue = (value: string): boolean => VALUE.test(value);

const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Undefined where one of them is no label, or there are too many. */
export const labelsIn = (map: JsonObject): Readonly<Record<string, string>> | undefined => {
  const labels = Object.entries(map).flatMap(([key, value]): ReadonlyArray<[string, string]> =>
    KEY.test(key) && typeof value === "string" && VALUE.test(value) ? [[key, value]] : []
  );
  return labels.length === Object.keys(map).length && labels.length <= LABELS_MAX
    ? Object.fromEntries(labels)
    : undefined;
};
