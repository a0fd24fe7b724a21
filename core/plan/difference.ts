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
export const matchesDesired = (wanted: Json, live: Json | undefined, of?: Comparison): boolean => {
  if (isObject(wanted)) {
    // The API server drops empty objects such as `annotations: {}`.
    if (!isObject(live)) return live === undefined && Object.keys(wanted).length === 0;
    if (of === "whole" && Object.keys(live).some((key) => !Object.hasOwn(wanted, key))) return false;
    return Object.entries(wanted).every(([key, value]) =>
      matchesDesired(value, member(live, key), of ?? comparisonOf(key))
    );
  }
  if (isList(wanted)) {
    if (!isList(live)) return live === undefined && wanted.length === 0;
    return (of === "whole" ? undefined : keyed(wanted, live)) ??
      (wanted.length === live.length &&
        wanted.every((item, index) => matchesDesired(item, live[index], of === "whole" ? of : undefined)));
  }
  return wanted === live || of === "quantity" && sameQuantity(wanted, live);
};

/** How a field is compared, with all that is in it. */
export type Comparison = "quantity" | "whole" | undefined;

export const comparisonOf = (field: string): Comparison =>
  QUANTITIES.has(field) ? "quantity" : WHOLE.has(field) ? "whole" : undefined;

/** Fields of type `resource.Quantity` that we write, and maps of such. Source: the types of k8s.io/api. */
const QUANTITIES: ReadonlySet<string> = new Set(["limits", "requests", "sizeLimit", "divisor", "averageValue"]);

/**
 * Fields of NetworkPolicies, Ingresses, HTTPRoutes, BackendTLSPolicies, PodMonitors and PrometheusRules that an apply replaces
 * as a whole, so that whatever is added in them is a change, as a peer that may connect. The manifests write out each default
 * within. Sources: `x-kubernetes-list-type` and `x-kubernetes-map-type` in the OpenAPI of Kubernetes 1.36, and the definitions
 * of the Gateway API 1.6 and the Prometheus Operator 0.85. Groups of a PrometheusRule are merged by their names.
 */
const WHOLE: ReadonlySet<string> = new Set([
  ...["egress", "ingress", "podSelector", "policyTypes"],
  ...["caCertificateRefs", "hostnames", "parentRefs", "rules", "targetRefs"],
  ...["podMetricsEndpoints", "podTargetLabels"],
]);

/** The fields of `wanted` that are not in `live` with the same meaning. A list whose items have no key is one field, and so is what is applied as a whole. */
export const differences = (
  wanted: Json,
  live: Json | undefined,
  path: DifferencePath = [],
  of?: Comparison,
): ReadonlyArray<DifferencePath> => {
  if (matchesDesired(wanted, live, of)) return [];
  if (of === "whole") return [path];
  if (isObject(wanted) && isObject(live)) {
    return Object.entries(wanted).flatMap(([key, value]) =>
      differences(value, member(live, key), [...path, key], of ?? comparisonOf(key))
    );
  }
  const key = isList(wanted) && isList(live) ? keyOfItems(wanted) : undefined;
  if (key === undefined) return [path];
  return (wanted as ReadonlyArray<JsonObject>).flatMap((item) =>
    differences(item, itemLike(live as ReadonlyArray<Json>, item, key), [...path, { key, item }])
  );
};

/** `spec.template.spec.containers[llama-stack].image`, as people write it. */
export const pathText = (path: DifferencePath): string =>
  path.map((step, index) => {
    if (typeof step !== "string") return `[${member(step.item, step.key)}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return index === 0 ? step : `.${step}`;
  }).join("");

/** The API server merges lists whose items have a name: the operator's items must be among them, in any order. */
const KEYS: ReadonlyArray<string> = ["name", "mountPath", "containerPort", "topologyKey", "uid", "key"];

const keyed = (wanted: ReadonlyArray<Json>, live: ReadonlyArray<Json>): boolean | undefined => {
  const key = keyOfItems(wanted);
  return key === undefined ? undefined : wanted.every((item) => matchesDesired(item, itemLike(live, item, key)));
};

/** The field that all items have, each with another value. */
export const keyOfItems = (wanted: ReadonlyArray<Json>, keys = KEYS): string | undefined =>
  keys.find((name) =>
    wanted.length > 0 && wanted.every((item) => isObject(item) && member(item, name) !== undefined) &&
    new Set(wanted.map((item) => member(item, name))).size === wanted.length
  );

/** Of several with the same key, Kubernetes uses the last one. */
export const itemLike = (items: ReadonlyArray<Json>, item: Json, key: string): Json | undefined =>
  items.findLast((other) => member(other, key) === member(item, key));

/** The API server writes quantities in its own form: 0.5 becomes 500m. */
const sameQuantity = (wanted: Json, live: Json | undefined): boolean => {
  const [a, b] = [amount(wanted), amount(live)];
  return a !== undefined && b !== undefined && Math.abs(a - b) <= Math.abs(a) * 1e-9;
};
