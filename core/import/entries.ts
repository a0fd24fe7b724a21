/** The providers of a config that are on, with their settings in a form in which two configs can be compared. */
import { isObject, isSameValue, type Json, type JsonObject, listAt, objectAt, omit, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { entriesOf } from "../config/draft.ts";
import { convertedText, readWholeNumber } from "../config/known_environment.ts";
import { opensAllApis } from "../config/servers/base.ts";
import { type ProviderType, providerType } from "../config/servers/catalogue.ts";
import { apiOn, type Server } from "../config/servers/families/families.ts";
import { flat, type Leaf, leavesOf } from "./leaves.ts";
import { settledMap, settledText, type ValueOf } from "./variables.ts";

/** A config with its server and what is known of its environment. */
export interface Read {
  readonly tree: JsonObject;
  readonly server: Server;
  readonly valueOf: ValueOf;
  readonly isComplete: boolean;
}

export type Fields = ReadonlyMap<string, string>;

/** A provider that is on. */
export interface Entry {
  readonly api: string;
  readonly id: string;
  readonly type: string;
  readonly module: Json | undefined;
  readonly known: ProviderType | undefined;
  readonly leaves: ReadonlyArray<Leaf>;
}

/** APIs that are open, under their names on this server. A table opens with its router, and internal APIs are always open. */
export const servedApis = ({ tree, server }: Read): ReadonlyArray<string> => {
  const listed = listAt(tree, "apis").map(String);
  const all = opensAllApis(tree, server) ? Object.keys(objectAt(tree, "providers")) : listed;
  return [...new Set(all.map((api) => apiOn(server, api) ?? api))].filter((api) => {
    const kind = Object.hasOwn(server.catalogue.apis, api) ? server.catalogue.apis[api]?.kind : "routed";
    return kind === "routed" || kind === "direct" && entriesOf(tree, api).length > 0;
  });
};

/** The id of an entry in this environment; undefined if it is off. */
export const idIn = (entry: JsonObject, valueOf: ValueOf): string | undefined => {
  const id = settledText(String(entry.provider_id ?? ""), valueOf);
  return id === null || id === "" || id === "__disabled__" ? undefined : String(id);
};

const entryIn = (entry: JsonObject, api: string, read: Read): Entry | undefined => {
  const id = idIn(entry, read.valueOf);
  if (id === undefined) return undefined;
  const type = stringAt(entry, "provider_type") ?? "";
  const { module } = entry;
  const known = providerType(read.server.catalogue, api, type);
  const reader = { ...read, catalogue: read.server.catalogue, type, known: known ?? OPEN };
  return { api, id, type, module, known, leaves: leavesOf(objectAt(entry, "config"), reader) };
};

const OPEN: ProviderType = { fields: {}, extra: "allow" };

/** Those that are on; of two with one id the last counts. */
export const entriesIn = (api: string, read: Read): ReadonlyArray<Entry> => allEntries(read).get(api) ?? [];

const allEntries = onceForEach((read: Read): ReadonlyMap<string, ReadonlyArray<Entry>> =>
  new Map(
    Object.keys(objectAt(read.tree, "providers")).map((name) => {
      const api = apiOn(read.server, name) ?? name;
      const entries = entriesOf(read.tree, name).flatMap((entry) => entryIn(entry, api, read) ?? []);
      return [api, [...new Map(entries.map((entry) => [entry.id, entry])).values()]];
    }),
  )
);

/** Everything but the id of the entry. */
export const fieldsOf = ({ type, module, leaves }: Entry, read: Read): Fields =>
  new Map([
    ["type", type],
    ...(module === undefined ? [] : [["module", JSON.stringify(module)]] as const),
    ...leaves.flatMap(({ path, value, kind, reference }): ReadonlyArray<readonly [string, string]> => {
      const name = path.join(".");
      if (kind === "setting") return flat(value, name).map(([key, inner]) => [key, JSON.stringify(inner)] as const);
      if (kind === "secret") return [[name, SECRET]];
      return kind === "store" ? storeFields(name, value, reference?.kind ?? "kv", read) : [];
    }),
  ]);

export const SECRET = "a secret";

/** The settings of a store, and its backend if it is not that of all stores of its kind. */
export const storeFields = (name: string, value: Json, kind: "kv" | "sql", read: Read) => {
  const own = isObject(value) ? settledMap(value, read.valueOf) : {};
  const backend = connectionOf(own, read);
  return [
    ...Object.entries(tuning(own)).map(([key, inner]) => [`${name}.${key}`, JSON.stringify(inner)] as const),
    ...(backend === usualConnection(kind, read) ? [] : [[`${name}.backend`, backend] as const]),
  ];
};

/** The section `server`, with the numbers that are written in quotes: its class converts them. */
export const serverSectionOf = ({ tree, valueOf }: Read): JsonObject =>
  Object.fromEntries(
    Object.entries(settledMap(objectAt(tree, "server"), valueOf)).map(([key, value]) => [
      key,
      SERVER_NUMBERS.has(key) ? readWholeNumber(value, () => undefined) ?? value : value,
    ]),
  );

const SERVER_NUMBERS: ReadonlySet<string> = new Set([
  "port",
  "workers",
  "hsts_max_age",
  "registry_refresh_interval_seconds",
]);

/** Settings of stores, with the defaults of the servers. Source: InferenceStoreReference and SqlStoreReference in core/storage/datatypes.py. */
const STORE: JsonObject = { max_write_queue_size: 10_000, num_writers: 4, enabled: true };

/** What a store says of these, where it is not the default. */
export const tuning = (store: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(store).filter(([key, value]) => Object.hasOwn(STORE, key) && !isSameValue(STORE[key], value)),
  );

/** What a store is connected to, without the file in which SQLite keeps it. */
export const connectionOf = (store: JsonObject, read: Read): string => {
  const { tree, valueOf } = read;
  const name = stringAt(store, "backend");
  const written = name === undefined ? store : settledMap(objectAt(tree, "storage", "backends", name), valueOf);
  const type = (stringAt(written, "type") ?? "sqlite").replace(/^(kv|sql)_/, "");
  if (type === "sqlite") return type;
  const backend = asRead(written, read);
  // What comes from a variable is converted, as the digits of a name; the other side may say the same in plain text.
  const parts = ["host", "port", "db", "user"].map((key) =>
    String(convertedText(
      String(backend[key] ?? DEFAULTS[`${type}.${key}`] ?? "")
        .replace(/^\$\{env\.LLSD_(SQL_[A-Z]+\}$|KV_USERINFO\})/, ""),
    ))
  );
  const others = omit(backend, "type", "table_name", "namespace", "password", "host", "port", "db", "user");
  return [
    type,
    ...parts,
    ...flat(others).map(([key, value]) =>
      `${key}=${JSON.stringify(typeof value === "string" ? convertedText(value) : value)}`
    ),
  ].join(" ");
};

/** What the class of a backend takes of it, without its defaults and with secrets that are equal. */
const asRead = (backend: JsonObject, { server: { catalogue }, valueOf, isComplete }: Read): JsonObject => {
  const type = stringAt(backend, "type") ?? "";
  const known = Object.hasOwn(catalogue.backends, type) ? catalogue.backends[type] : undefined;
  if (known === undefined) return backend;
  const leaves = leavesOf(omit(backend, "type"), { catalogue, type, known, valueOf, isComplete });
  return Object.fromEntries(
    leaves.flatMap(({ path, value, kind }) =>
      kind === "dead" ? [] : [[path.join("."), kind === "secret" ? SECRET : value] as const]
    ),
  );
};

const DEFAULTS: Readonly<Record<string, string>> = {
  "postgres.host": "localhost",
  "postgres.port": "5432",
  "redis.host": "localhost",
  "redis.port": "6379",
};

/** The backend to which all stores of a kind refer, unless they say otherwise; undefined up to 0.2, where there are none. */
export const usualName = (kind: "kv" | "sql", tree: JsonObject): string | undefined => {
  const backends = objectAt(tree, "storage", "backends");
  const first = Object.keys(backends).find((name) => stringAt(backends[name], "type")?.startsWith(`${kind}_`));
  return stringAt(tree, "storage", "stores", kind === "kv" ? "metadata" : "inference", "backend") ?? first;
};

/** Up to 0.2, the store of the registry, and that of the responses, stand for their kind. */
export const usualBackend = (kind: "kv" | "sql", tree: JsonObject): JsonObject => {
  const name = usualName(kind, tree);
  return name === undefined
    ? objectAt(tree, kind === "kv" ? "metadata_store" : "inference_store")
    : objectAt(tree, "storage", "backends", name);
};

export const usualConnection = (kind: "kv" | "sql", read: Read): string =>
  connectionOf(settledMap(usualBackend(kind, read.tree), read.valueOf), read);
