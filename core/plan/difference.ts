/** Whether a write is needed: does a live object match its manifest? */
import { isList, isObject, type Json, type JsonObject, member } from "../data/json.ts";
import { amount } from "../data/quantity.ts";

/** A member of a map, or an item of a list that is known by the field `key`. */
export type PathStep = string | { readonly key: string; readonly item: JsonObject };
export type DifferencePath = ReadonlyArray<PathStep>;

/**
 * True if every field of `wanted` is in `live` with the same meaning. Fields that only `live` has are defaults of the
 * API server, or belong to other managers; a field that the operator no longer sets is detected by the digest of the
 * manifest.
 */
export const matchesDesired = (wanted: Json, live: Json | undefined, isQuantity = false): boolean => {
  if (isObject(wanted)) {
    // The API server drops empty objects such as `annotations: {}`.
    if (!isObject(live)) return live === undefined && Object.keys(wanted).length === 0;
    return Object.entries(wanted).every(([key, value]) =>
      matchesDesired(value, member(live, key), isQuantity || holdsQuantities(key))
    );
  }
  if (isList(wanted)) {
    if (!isList(live)) return live === undefined && wanted.length === 0;
    return keyed(wanted, live) ??
      (wanted.length === live.length && wanted.every((item, index) => matchesDesired(item, live[index])));
  }
  return wanted === live || isQuantity && sameQuantity(wanted, live);
};

/** The fields of `wanted` that are not in `live` with the same meaning. A list whose items have no key is one field. */
export const differences = (
  wanted: Json,
  live: Json | undefined,
  isQuantity = false,
  path: DifferencePath = [],
): ReadonlyArray<DifferencePath> => {
  if (matchesDesired(wanted, live, isQuantity)) return [];
  if (isObject(wanted) && isObject(live)) {
    return Object.entries(wanted).flatMap(([key, value]) =>
      differences(value, member(live, key), isQuantity || holdsQuantities(key), [...path, key])
    );
  }
  const key = isList(wanted) && isList(live) ? keyOfItems(wanted) : undefined;
  if (key === undefined) return [path];
  return (wanted as ReadonlyArray<JsonObject>).flatMap((item) =>
    differences(item, itemLike(live as ReadonlyArray<Json>, item, key), false, [...path, { key, item }])
  );
};

/** `spec.template.spec.containers[llama-stack].image`, as people write it. */
export const pathText = (path: DifferencePath): string =>
  path.map((step, index) => {
    if (typeof step !== "string") return `[${member(step.item, step.key)}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return index === 0 ? step : `.${step}`;
  }).join("");

/** Fields of type `resource.Quantity` that we write, and maps of such. Source: the types of k8s.io/api. */
export const holdsQuantities = (field: string): boolean => QUANTITIES.has(field);

const QUANTITIES: ReadonlySet<string> = new Set(["limits", "requests", "sizeLimit", "divisor", "averageValue"]);

/** The API server merges lists whose items have a name: the operator's items must be among them, in any order. */
const KEYS = ["name", "mountPath", "containerPort", "topologyKey", "uid", "key"];

const keyed = (wanted: ReadonlyArray<Json>, live: ReadonlyArray<Json>): boolean | undefined => {
  const key = keyOfItems(wanted);
  return key === undefined ? undefined : wanted.every((item) => matchesDesired(item, itemLike(live, item, key)));
};

const keyOfItems = (wanted: ReadonlyArray<Json>): string | undefined =>
  KEYS.find((name) =>
    wanted.length > 0 && wanted.every((item) => isObject(item) && member(item, name) !== undefined) &&
    new Set(wanted.map((item) => member(item, name))).size === wanted.length
  );

/** Of several with the same key, Kubernetes uses the last one. */
const itemLike = (items: ReadonlyArray<Json>, item: Json, key: string): Json | undefined =>
  items.findLast((other) => member(other, key) === member(item, key));

/** The API server writes quantities in its own form: 0.5 becomes 500m. */
const sameQuantity = (wanted: Json, live: Json | undefined): boolean => {
  const [a, b] = [amount(wanted), amount(live)];
  return a !== undefined && b !== undefined && Math.abs(a - b) <= Math.abs(a) * 1e-9;
};
