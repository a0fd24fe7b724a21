/** Parts of a config that have another form than the servers read: nothing of them could be compared. */
import type { Server } from "../config/servers/families/families.ts";
import { at, isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { REGISTERED } from "./meaning.ts";

/** Each begins with the place. */
export const shapeFaults = (tree: JsonObject, { family }: Server): ReadonlyArray<string> => [
  ...listFaults("apis", tree.apis, (api, path) => typeof api === "string" ? [] : [`${path}: expected a name`]),
  ...mapFaults("providers", tree.providers, (api, entries) => listFaults(`providers.${api}`, entries, providerFaults)),
  ...mapFaults(
    "storage",
    tree.storage,
    (key, part) =>
      key !== "backends" && key !== "stores"
        ? []
        : mapFaults(`storage.${key}`, part, (name, inner) => mapFaults(`storage.${key}.${name}`, inner)),
  ),
  ...mapFaults(
    "server",
    tree.server,
    (key, part) =>
      key !== "auth" && key !== "tenancy"
        ? []
        : mapFaults(`server.${key}`, part, (inner, value) =>
          inner === "provider_config"
            ? mapFaults("server.auth.provider_config", value)
            : inner.endsWith("_policy")
            ? listFaults(`server.auth.${inner}`, value, (rule, path) =>
              mapFaults(path, rule))
            : []),
  ),
  ...["vector_stores", "safety", ...family.resourcesAt].flatMap((key) => mapFaults(key, tree[key])),
  ...listFaults("connectors", tree.connectors, (connector, path) => mapFaults(path, connector)),
  ...REGISTERED.flatMap(({ list, key }) => {
    // At the top as well, where the lists of other servers are.
    const places = family.resourcesAt.length === 0 ? [[list]] : [[...family.resourcesAt, list], [list]];
    return places.filter((place) => place.length > 1 || list !== "vector_stores").flatMap((place) =>
      listFaults(
        place.join("."),
        at(tree, ...place),
        (entry, path) => isObject(entry) ? missing(entry, [key], path) : mapFaults(path, entry),
      )
    );
  }),
];

const mapFaults = (
  path: string,
  value: Json | undefined,
  within: (key: string, value: Json) => ReadonlyArray<string> = () => [],
): ReadonlyArray<string> => {
  if (value === undefined || value === null) return [];
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => within(key, inner))
    : [`${path}: expected a map`];
};

const listFaults = (
  path: string,
  value: Json | undefined,
  within: (item: Json, path: string) => ReadonlyArray<string>,
): ReadonlyArray<string> => {
  if (value === undefined || value === null) return [];
  return isList(value)
    ? value.flatMap((item, index) => item === null ? [`${path}[${index}]: empty`] : within(item, `${path}[${index}]`))
    : [`${path}: expected a list`];
};

const providerFaults = (entry: Json, path: string): ReadonlyArray<string> =>
  isObject(entry)
    ? [...missing(entry, ["provider_id", "provider_type"], path), ...mapFaults(`${path}.config`, entry.config)]
    : mapFaults(path, entry);

/** An empty text is how a config switches an entry off. */
const missing = (entry: JsonObject, keys: ReadonlyArray<string>, path: string): ReadonlyArray<string> =>
  keys.filter((key) => !["string", "number"].includes(typeof entry[key])).map((key) => `${path}: without ${key}`);
