/** Labels, annotations and selectors. Source: ValidateLabels, ValidateAnnotations and ValidateLabelSelector of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { isList, isObject, type Json, type JsonObject, member, objectAt } from "../../data/json.ts";
import { isAnnotationKey, isLabelKey, isLabelValue } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, inside, itemsOf } from "./broken.ts";

const KEY = 'use letters, digits, "-", "_" and ".", up to 63 characters, as in team or example.com/team';
const VALUE = 'use letters, digits, "-", "_" and ".", up to 63 characters, with a letter or digit at both ends';

export function* labelKey(key: Json | undefined): Generator<Broken> {
  if (typeof key === "string" && !isLabelKey(key)) yield broken(`not a label key: ${quoted(key)}; ${KEY}`);
}

export function* labelValue(value: Json | undefined): Generator<Broken> {
  if (typeof value === "string" && !isLabelValue(value)) yield broken(`not a label value: ${quoted(value)}; ${VALUE}`);
}

export function* labels(value: Json): Generator<Broken> {
  if (!isObject(value)) return;
  for (const [key, own] of Object.entries(value)) {
    if (!isLabelKey(key)) yield broken(`not a label key: ${quoted(key)}; ${KEY}`, key);
    else yield* inside([key], labelValue(own));
  }
}

export function* annotationKeys(value: Json): Generator<Broken> {
  for (const key of isObject(value) ? Object.keys(value) : []) {
    if (!isAnnotationKey(key)) {
      yield broken(`not an annotation key: ${quoted(key)}; use a key such as example.com/name`, key);
    }
  }
}

const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";

/** Of pods, whose annotations for AppArmor name a container. Source: ValidateAppArmorPodAnnotations. */
export const podAnnotationKeys = (containers: ReadonlyArray<string>) =>
  function* (value: Json): Generator<Broken> {
    yield* annotationKeys(value);
    for (const key of isObject(value) ? Object.keys(value) : []) {
      const name = key.startsWith(APPARMOR) ? key.slice(APPARMOR.length) : undefined;
      if (name !== undefined && !containers.includes(name)) {
        yield broken(`no container is named ${quoted(name)}; use ${containers.join(" or ")}`, key);
      }
    }
  };

/** A label selector of pods or namespaces. */
export function* selector(value: JsonObject): Generator<Broken> {
  yield* inside(["matchLabels"], labels(objectAt(value, "matchLabels")));
  yield* each(value, "matchExpressions", (expression) => requirement(expression, ["Exists", "DoesNotExist"]));
}

/** `bare`: the operators without values. `lax`: values need not be label values. */
export function* requirement(
  expression: JsonObject,
  bare: ReadonlyArray<string>,
  single: ReadonlyArray<string> = [],
  lax = false,
): Generator<Broken> {
  const { operator } = expression;
  const values = itemsOf(member(expression, "values"));
  const known = ["In", "NotIn", ...bare, ...single];
  if (typeof operator === "string" && !known.includes(operator)) {
    yield broken(`unknown operator: ${quoted(operator)}; use one of ${known.join(", ")}`, "operator");
  } else if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) yield broken(`operator ${operator} needs values; add at least one`, "values");
  } else if (single.includes(String(operator))) {
    if (values.length !== 1) yield broken(`operator ${operator} needs exactly one value`, "values");
  } else if (values.length > 0) {
    yield broken(`operator ${operator} has no values; remove them`, "values");
  }
  yield* inside(["key"], labelKey(member(expression, "key")));
  if (lax) return;
  for (const [index, value] of values.entries()) yield* inside(["values", index], labelValue(value));
}

/** Keys of labels whose values are taken from the pod. Source: ValidateMatchLabelKeysAndMismatchLabelKeys. */
export function* labelKeyLists(term: JsonObject): Generator<Broken> {
  const listed = itemsOf(member(term, "matchLabelKeys"));
  const other = itemsOf(member(term, "mismatchLabelKeys"));
  for (const [field, keys] of [["matchLabelKeys", listed], ["mismatchLabelKeys", other]] as const) {
    if (keys.length === 0) continue;
    if (!isObject(member(term, "labelSelector"))) yield broken("needs a labelSelector beside it; add one", field);
    else for (const [index, key] of keys.entries()) yield* inside([field, index], labelKey(key));
  }
  // Deployments may have such a key since Kubernetes 1.34, but their pods are rejected.
  const selected = selectorKeys(member(term, "labelSelector"));
  const doubled = listed.findIndex((key) => selected.has(key));
  if (doubled >= 0) {
    yield broken(
      `also a key of labelSelector: ${quoted(String(listed[doubled]))}; remove it from one of them`,
      "matchLabelKeys",
      doubled,
    );
  }
  const twice = listed.findIndex((key) => other.includes(key));
  if (twice >= 0) {
    yield broken(
      `also in mismatchLabelKeys: ${quoted(String(listed[twice]))}; remove it from one of them`,
      "matchLabelKeys",
      twice,
    );
  }
}

const selectorKeys = (value: Json | undefined): ReadonlySet<Json | undefined> =>
  new Set([
    ...Object.keys(objectAt(value, "matchLabels")),
    ...itemsOf(member(value, "matchExpressions")).map((expression) => member(expression, "key")),
  ]);

export const isEmptyList = (value: Json | undefined): boolean =>
  value === undefined || isList(value) && value.length === 0;
