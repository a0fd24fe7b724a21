/**
 * Items of a pod template that occur twice, such as a variable that another operator set before the author did. Kubernetes
 * accepts them and uses the last one, but no server-side apply may contain them. One that names such an item replaces all of
 * its copies; one that leaves it out, and does not own it, keeps them all (observed on Kubernetes 1.36).
 */
import { isObject, type Json, type JsonObject, member, objectAt } from "../data/json.ts";
import { sha256Hex } from "../data/digest.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { itemWith, keyedItems } from "../snapshot/list_keys.ts";
import type { FieldSteps } from "../snapshot/field_set.ts";
import { recordIn } from "../snapshot/record.ts";

/** Once each. */
export const duplicatesIn = (value: Json | undefined, path: FieldSteps = []): ReadonlyArray<FieldSteps> => {
  if (isObject(value ?? null)) {
    return Object.entries(value as JsonObject).flatMap(([key, inner]) => duplicatesIn(inner, [...path, key]));
  }
  const items = Map.groupBy(keyedItems(path.at(-1), value) ?? [], ({ keys }) => JSON.stringify(keys));
  return [...items.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const inner = [...path, first.keys];
    return others.length > 0 ? [inner] : duplicatesIn(first.item, inner);
  });
};

/** Without any copy of them. */
export const withoutDuplicates = <A extends Json>(value: A): A => filtered(value, undefined, () => false) as A;

/** With the last copy of each, which is the one that counts. */
export const withLastOfEach = <A extends Json>(value: A): A =>
  filtered(value, undefined, (index, last) => index === last) as A;

/**
 * Duplicates that were left in a Deployment when it was adopted, and that the manifest no longer has: the operator takes
 * ownership of them, so that its apply removes them.
 */
export const leftDuplicates = (manifest: Manifest, live: JsonObject | undefined): ReadonlyArray<FieldSteps> => {
  if (manifest.kind !== "Deployment" || live === undefined) return [];
  const template = objectAt(live, "spec", "template");
  const found = duplicatesIn(template, ["spec", "template"]);
  if (found.length === 0) return [];
  const recorded = recordIn(live).template;
  const isAsAdopted = recorded === undefined || recorded === sha256Hex(JSON.stringify(withoutDuplicates(template)));
  return isAsAdopted ? found.filter((path) => !holds(manifest, path)) : [];
};

const holds = (value: Json | undefined, [step, ...rest]: FieldSteps): boolean => {
  if (step === undefined) return value !== undefined;
  const next = typeof step === "string" ? member(value, step) : itemWith(step, value);
  return next !== undefined && holds(next, rest);
};

const filtered = (
  value: Json,
  list: string | undefined,
  keeps: (index: number, last: number) => boolean,
): Json => {
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filtered(inner, key, keeps)]));
  }
  const items = keyedItems(list, value);
  if (items === undefined) return value;
  const keys = items.map((item) => JSON.stringify(item.keys));
  return items.flatMap(({ item }, index) => {
    const [first, last] = [keys.indexOf(keys[index] ?? ""), keys.lastIndexOf(keys[index] ?? "")];
    return first === last || keeps(index, last) ? [filtered(item, undefined, keeps)] : [];
  });
};
