/** JSON trees: base configs, `settings` and manifests. Read-only; every change creates a new tree. */

export type Json = string | number | boolean | null | JsonList | JsonObject;
export type JsonList = ReadonlyArray<Json>;
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is JsonList => Array.isArray(value);

/** The own member `key`, else undefined: `constructor` or `__proto__` of a hostile document is data like any other key. */
export const member = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The member at a path of keys, else undefined. */
export const at = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined => {
  let inner = value;
  for (const key of path) inner = member(inner, key);
  return inner;
};

/** The member as an object; an absent or other value reads as empty. */
export const objectAt = (value: Json | undefined, ...path: ReadonlyArray<string>): JsonObject => {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
};

/** The member as a list; an absent or other value reads as empty. */
export const listAt = (value: Json | undefined, ...path: ReadonlyArray<string>): JsonList => {
  const found = at(value, ...path);
  return isList(found) ? found : [];
};

export const stringAt = (value: Json | undefined, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
};

/** A copy of `tree` with `value` at `path`; missing objects on the way are created, and undefined removes the key. */
export const put = (tree: JsonObject, path: ReadonlyArray<string>, value: Json | undefined): JsonObject => {
  const [key, ...rest] = path;
  if (key === undefined) return tree;
  const inner = rest.length === 0 ? value : put(objectAt(tree, key), rest, value);
  return inner === undefined ? omit(tree, key) : withMember(tree, key, inner);
};

/** As `put` one after the other, but what is changed is copied once: costs what the tree and the changes are large. */
export const putAll = (
  tree: JsonObject,
  changes: ReadonlyArray<readonly [path: ReadonlyArray<string>, value: Json | undefined]>,
): JsonObject => {
  // Copies that were made here; they alone may be changed.
  const copies = new Set<Json>();
  const copyOf = (value: Json | undefined): JsonObject => {
    if (isObject(value) && copies.has(value)) return value;
    const copy: JsonObject = isObject(value) ? { ...value } : {};
    copies.add(copy);
    return copy;
  };
  const root = copyOf(tree);
  for (const [path, value] of changes) {
    const last = path[path.length - 1];
    if (last === undefined) continue;
    let place = root;
    for (const key of path.slice(0, -1)) {
      const inner = copyOf(member(place, key));
      define(place, key, inner);
      place = inner;
    }
    define(place, last, value);
  }
  return root;
};

/** An own property, so that `__proto__` stays data; undefined removes it. */
const define = (object: JsonObject, key: string, value: Json | undefined): void => {
  if (value === undefined) Reflect.deleteProperty(object, key);
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
};

/** A copy with one member set; a computed key defines an own property, so `__proto__` stays data. */
export const withMember = (tree: JsonObject, key: string, value: Json): JsonObject => ({ ...tree, [key]: value });

export const omit = (tree: JsonObject, ...keys: ReadonlyArray<string>): JsonObject => omitAll(tree, new Set(keys));

export const omitAll = (tree: JsonObject, keys: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(tree).filter(([key]) => !keys.has(key)));

/** The list with `entry` in the place of those that are the same, or at its end when none is. */
export const upsert = <A extends Json>(
  list: ReadonlyArray<A>,
  entry: A,
  same: (other: A) => boolean,
): ReadonlyArray<A> => list.some(same) ? list.map((other) => same(other) ? entry : other) : [...list, entry];

/** The same tree with the keys of every map in order, so that equal trees have equal texts. */
export const sortedKeys = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value).sort().map((key): [string, Json] => [key, sortedKeys(member(value, key) ?? null)]),
  );
};

/** Equal as JSON, whatever the order of keys; what is absent equals null. */
export const isSameValue = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(sortedKeys(one ?? null)) === JSON.stringify(sortedKeys(other ?? null));
