/** Entries of one API with the same id: the server takes the last of them. Source: validate_and_prepare_providers in core/resolver.py. */
import { isList, isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../../data/json.ts";

/** The indexes of entries by an id that several have. Ids of variables are the same if their texts are. */
const placesById = (entries: ReadonlyArray<Json>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const places = new Map<string, Array<number>>();
  entries.forEach((entry, index) => {
    const id = isObject(entry) ? stringAt(entry, "provider_id") ?? "" : "";
    if (id !== "" && id !== "__disabled__") places.set(id, [...places.get(id) ?? [], index]);
  });
  return new Map([...places].filter(([, indexes]) => indexes.length > 1));
};

/** Of each such id, the indexes of its entries. */
export const doubledProviders = (
  tree: JsonObject,
): ReadonlyArray<{ readonly api: string; readonly indexes: ReadonlyArray<number> }> =>
  Object.entries(objectAt(tree, "providers")).flatMap(([api, entries]) =>
    isList(entries) ? [...placesById(entries).values()].map((indexes) => ({ api, indexes })) : []
  );

/** The same for the server: the last entry in the place of the first. A config without such entries stays the same object. */
export const withoutReplaced = (tree: JsonObject): JsonObject =>
  Object.entries(objectAt(tree, "providers")).reduce((config, [api, entries]) => {
    const places = isList(entries) ? [...placesById(entries).values()] : [];
    return places.length === 0 || !isList(entries) ? config : put(
      config,
      ["providers", api],
      entries.flatMap((entry, index) => {
        const same = places.find((indexes) => indexes.includes(index));
        if (same === undefined) return [entry];
        return index === same[0] ? [entries[same.at(-1) ?? index] ?? null] : [];
      }),
    );
  }, tree);
