/** The size of a JSON tree, computed without recursion: a hostile tree must not end the process that measures it. */
import { isList, isObject, type Json } from "./json.ts";

export interface TreeBounds {
  /** Levels of maps and lists; a scalar has none. */
  readonly depth: number;
  /** Maps, lists and scalars together. A value that occurs in several places counts in each. */
  readonly values: number;
}

export interface Excess {
  readonly what: "depth" | "values";
  /** The first steps to the place where the bound was passed. */
  readonly path: ReadonlyArray<string | number>;
}

/** Steps of a path that are remembered on the way; enough to find the place. */
const STEPS_MAX = 6;

/** Undefined when the tree is within the bounds. Stops at the first excess, so an alias bomb ends the count, not the process. */
export const excessOf = (tree: Json, { depth, values }: TreeBounds): Excess | undefined => {
  interface Place {
    readonly value: Json;
    readonly level: number;
    readonly path: ReadonlyArray<string | number>;
  }
  const rest: Array<Place> = [{ value: tree, level: 1, path: [] }];
  // Queued values count as visited: a long list must not be pushed to the stack before it is counted.
  let count = 1;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, level, path } = next;
    if (!isList(value) && !isObject(value)) continue;
    if (level > depth) return { what: "depth", path };
    const step = (key: string | number) => path.length < STEPS_MAX ? [...path, key] : path;
    if (isList(value)) {
      count += value.length;
      if (count > values) return { what: "values", path };
      value.forEach((inner, index) => rest.push({ value: inner, level: level + 1, path: step(index) }));
    } else {
      // Not by its entries: those of a hundred thousand names take longer than all else that is done with the object.
      for (const key in value) {
        if (++count > values) return { what: "values", path };
        rest.push({ value: value[key] ?? null, level: level + 1, path: step(key) });
      }
    }
  }
  return undefined;
};

/** Characters of all texts of a tree; the count stops once it is beyond `max`. */
export const charactersIn = (tree: Json, max: number): number => {
  const rest: Array<Json> = [tree];
  let count = 0;
  for (let value = rest.pop(); value !== undefined && count <= max; value = rest.pop()) {
    if (typeof value === "string") count += value.length;
    else if (isList(value)) rest.push(...value);
    else if (isObject(value)) rest.push(...Object.values(value));
  }
  return count;
};
