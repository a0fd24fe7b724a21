/** Variants of an object as one tree, whose parts carry the conditions under which they exist. */
import { isList, isObject, type Json, type JsonObject, stringAt } from "../../../core/data/json.ts";
import { type Combination, conditionFor } from "./combinations.ts";

export type Tree =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "map"; readonly parts: ReadonlyArray<Part> }
  | { readonly kind: "list"; readonly parts: ReadonlyArray<Part> }
  | { readonly kind: "alternatives"; readonly parts: ReadonlyArray<Part> };

export interface Part {
  /** Of a map. */
  readonly key: string;
  /** Undefined: always. */
  readonly when: string | undefined;
  readonly tree: Tree;
}

/** A value, and the combinations of choices that have it. */
export interface Variant {
  readonly value: Json;
  readonly combinations: ReadonlyArray<Combination>;
}

export const merged = (variants: ReadonlyArray<Variant>): Tree => {
  const different = distinct(variants);
  const [first] = different;
  if (first === undefined) throw new Error("Nothing to merge");
  if (different.length === 1) return { kind: "value", value: first.value };
  if (different.every(({ value }) => isObject(value) && Object.keys(value).length > 0)) {
    return { kind: "map", parts: partsOf(different, ({ value }) => Object.entries(value as JsonObject)) };
  }
  if (different.every(({ value }) => isList(value) && value.length > 0)) {
    return { kind: "list", parts: partsOf(different, ({ value }) => named(value as ReadonlyArray<Json>)) };
  }
  const within = different.flatMap(({ combinations }) => combinations);
  return {
    kind: "alternatives",
    parts: different.map(({ value, combinations }) => ({
      key: "",
      when: conditionFor(within, combinations),
      tree: { kind: "value", value },
    })),
  };
};

/** Those with the same value as one. */
const distinct = (variants: ReadonlyArray<Variant>): ReadonlyArray<Variant> => {
  const byText = new Map<string, Variant>();
  for (const variant of variants) {
    const text = JSON.stringify(variant.value);
    const combinations = [...byText.get(text)?.combinations ?? [], ...variant.combinations];
    byText.set(text, { value: variant.value, combinations });
  }
  return [...byText.values()];
};

const partsOf = (
  variants: ReadonlyArray<Variant>,
  entriesOf: (variant: Variant) => ReadonlyArray<readonly [key: string, value: Json]>,
): ReadonlyArray<Part> => {
  const within = variants.flatMap(({ combinations }) => combinations);
  const entries = variants.map((variant) => ({ variant, values: new Map(entriesOf(variant)) }));
  return orderOf(entries.map(({ values }) => [...values.keys()])).map((key) => {
    const having = entries.flatMap(({ variant: { combinations }, values }) => {
      const value = values.get(key);
      return value === undefined ? [] : [{ value, combinations }];
    });
    const when = conditionFor(within, having.flatMap(({ combinations }) => combinations));
    return { key, when, tree: merged(having) };
  });
};

/** Entries of a list by their names, as server-side apply knows those of containers; without names, by their contents. */
const named = (list: ReadonlyArray<Json>): ReadonlyArray<readonly [string, Json]> => {
  const names = list.map((entry) => stringAt(entry, "name") ?? JSON.stringify(entry));
  if (new Set(names).size === list.length) return list.map((entry, index) => [names[index] ?? "", entry]);
  return list.map((entry) => [JSON.stringify(entry), entry]);
};

/** One order that contains all of them. */
export const orderOf = (orders: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const before = new Map<string, Set<string>>();
  for (const order of orders.toSorted((one, other) => other.length - one.length)) {
    order.forEach((key, index) => {
      before.set(key, (before.get(key) ?? new Set()).union(new Set(order.slice(0, index))));
    });
  }
  const all = new Set<string>();
  while (all.size < before.size) {
    const next = [...before].find(([key, keys]) => !all.has(key) && keys.isSubsetOf(all));
    if (next === undefined) throw new Error(`Variants have another order of ${[...before.keys()].join(", ")}`);
    all.add(next[0]);
  }
  return [...all];
};
