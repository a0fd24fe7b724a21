/** One provider of a config as an item of `spec.providers`. */
import { addressFields, MCP_TYPE } from "../config/connections/endpoint.ts";
import { factsOf } from "../config/draft.ts";
import { fullType } from "../config/stages/known_provider.ts";
import { isObject, isSameValue, type Json, type JsonObject, objectAt, put, stringAt } from "../data/json.ts";
import { connectionOf, entriesIn, type Entry, tuning, usualConnection } from "./entries.ts";
import { type Leaf } from "./leaves.ts";
import { settledMap } from "./variables.ts";
import type { SecretOf, Wanted } from "./wanted.ts";

export const itemOf = (entry: Entry, isOneOfSeveral: boolean, wanted: Wanted, secretOf: SecretOf): JsonObject => {
  const { api, id, type, known } = entry;
  const { catalogue } = wanted.own.server;
  const short = type.split("::").at(-1) ?? type;
  const provider = fullType(catalogue, api, short) === type ? short : type;
  const settings = entry.leaves.filter((leaf) => leaf.kind === "setting");
  const valueAt = (name: string | undefined) =>
    settings.find(({ path }) => name !== undefined && path.join(".") === name)?.value;
  const endpoint = endpointOf(entry, valueAt, wanted);
  const secrets = entry.leaves.filter(({ kind }) => kind === "secret").map(({ path, value }) => ({
    path,
    value,
    variable: variableIn(value),
  }));
  const typed = new Set(endpoint === undefined ? [] : [known?.endpoint, known?.endpointPort]);
  const key = secrets.find(({ path, variable }) => variable !== undefined && path.join(".") === known?.key);
  const refs = secrets.filter((secret) => secret !== key && secret.variable !== undefined && secret.path.length === 1);
  const rest = [
    ...settings.filter(({ path }) => !typed.has(path.join("."))),
    ...secrets.filter((secret) => secret !== key && !refs.includes(secret)),
    ...storesOf(entry, wanted),
  ];
  return {
    ...(id === short && !isOneOfSeveral ? {} : { id }),
    provider,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(key === undefined ? {} : { apiKey: secretOf(key.variable ?? "") }),
    ...(refs.length === 0 ? {} : {
      secretRefs: Object.fromEntries(refs.map(({ path, variable }) => [path[0] ?? "", secretOf(variable ?? "")])),
    }),
    ...(rest.length === 0
      ? {}
      : { settings: rest.reduce<JsonObject>((map, { path, value }) => put(map, path, value), {}) }),
  };
};

/** The address, unless the field would make another one of it. */
const endpointOf = (
  { api, type, known }: Entry,
  valueAt: (name: string | undefined) => Json | undefined,
  { own: { server } }: Wanted,
): string | undefined => {
  const [address, port] = [valueAt(known?.endpoint), valueAt(known?.endpointPort)];
  if (known === undefined || type === MCP_TYPE || typeof address !== "string" || address === "") return undefined;
  const host = known.endpointPort !== undefined && /^[0-9a-f.]*:[0-9a-f:.]*$/i.test(address) ? `[${address}]` : address;
  const endpoint = port === undefined ? host : `${host}:${port}`;
  const { config } = addressFields(endpoint, { api, type }, known, [], factsOf("", { distribution: {} }, server));
  const wanted = {
    [known.endpoint ?? ""]: address,
    ...(port === undefined ? {} : { [known.endpointPort ?? ""]: port }),
  };
  return isSameValue(config, wanted) ? endpoint : undefined;
};

export const variableIn = (value: Json): string | undefined =>
  typeof value === "string" ? /^\$\{env\.([A-Z0-9_]+)(?::=)?\}$/.exec(value)?.[1] : undefined;

/** Where data is, as the config has it; without `keepData` only for stores with more settings, where the base config has it. */
const storesOf = (entry: Entry, wanted: Wanted): ReadonlyArray<Pick<Leaf, "path" | "value">> => {
  const { api, id, leaves } = entry;
  if (wanted.keepData) {
    return leaves.filter(({ kind }) => kind === "store" || kind === "place")
      .map(({ path, value, kind }) => ({ path, value: kind === "store" ? knownBackend(value, wanted) : value }));
  }
  const stores = leaves.filter(({ kind }) => kind === "store").map(({ path, value }) => ({
    path,
    value: isObject(value) ? settledMap(value, wanted.own.valueOf) : {},
  }));
  // The others of the same map are required beside it.
  const apart = furtherBackends(wanted);
  const isApart = ({ backend }: JsonObject) => typeof backend === "string" && apart.includes(backend);
  const tuned = new Set(
    stores.filter(({ value }) => Object.keys(tuning(value)).length > 0 || isApart(value)).map(({ path }) => path[0]),
  );
  const known = entriesIn(api, wanted.base).find((other) => other.id === id)?.leaves ?? [];
  return stores.filter(({ path }) => tuned.has(path[0])).map(({ path, value }) => {
    if (isApart(value)) return { path, value };
    const before = known.find((leaf) => isSameValue([...leaf.path], [...path]))?.value;
    return {
      path,
      value: {
        ...(isObject(before ?? null) ? objectAt(before) : objectAt(knownBackend(value, wanted))),
        ...tuning(value),
      },
    };
  });
};

/** Backends of single providers, which are in another database than all stores of their kind. */
export const furtherBackends = ({ own }: Wanted): ReadonlyArray<string> => {
  const stores = Object.keys(objectAt(own.tree, "providers")).flatMap((api) =>
    entriesIn(api, own).flatMap(({ leaves }) =>
      leaves.flatMap(({ kind, value, reference }) =>
        kind === "store" && isObject(value)
          ? [{ store: settledMap(value, own.valueOf), of: reference?.kind ?? "kv" }]
          : []
      )
    )
  );
  const backends = objectAt(own.tree, "storage", "backends");
  return [
    ...new Set(stores.flatMap(({ store, of }) => {
      const name = stringAt(store, "backend");
      const isApart = name !== undefined && Object.hasOwn(backends, name) &&
        connectionOf(store, own) !== usualConnection(of, own);
      return isApart ? [name] : [];
    })),
  ];
};

/** A store in a second file goes to the first. */
const knownBackend = (value: Json, wanted: Wanted): Json => {
  if (!isObject(value) || typeof value.backend !== "string") return value;
  const backends = objectAt(wanted.base.tree, "storage", "backends");
  if (Object.hasOwn(backends, value.backend) || furtherBackends(wanted).includes(value.backend)) return value;
  const kind = Object.hasOwn(value, "table_name") ? "sql" : "kv";
  const found = Object.keys(backends).find((name) => stringAt(backends[name], "type")?.startsWith(`${kind}_`));
  return found === undefined ? value : { ...value, backend: found };
};

/** Whether the entry of the base config keeps its data elsewhere. */
export const movesData = (entry: Entry, { keepData, base }: Wanted): boolean => {
  if (!keepData) return false;
  const other = entriesIn(entry.api, base).find(({ id }) => id === entry.id);
  const stores = ({ leaves }: Entry) =>
    leaves.filter(({ kind }) => kind === "store" || kind === "place").map(({ path, value }) => [[...path], value]);
  return other !== undefined && !isSameValue(stores(entry) as Json, stores(other) as Json);
};
