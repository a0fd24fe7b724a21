/** Up to 0.2, every consumer declares its own store in place; there are no backends to refer to. */
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  put,
  stringAt,
} from "../../../data/json.ts";
import type { DataFolders } from "../../data_folders.ts";
import type { Backend, ReferencesOf, StoreShape } from "./family.ts";

/** The stores at top level, and where the server quota keeps its counts. */
const TOP_LEVEL: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly kind: Backend["kind"] }> = [
  { path: ["metadata_store"], kind: "kv" },
  { path: ["inference_store"], kind: "sql" },
  { path: ["conversations_store"], kind: "sql" },
  { path: ["server", "quota", "kvstore"], kind: "kv" },
];

export const STORES_IN_PLACE: StoreShape = {
  place: (config, backend, referencesOf) => {
    const top = TOP_LEVEL.filter(({ path, kind }) =>
      kind === backend.kind && (isNeeded(path) || isObject(objectAtOrNull(config, path)))
    ).reduce(
      (tree, { path }) => put(tree, path, store(backend, path.at(-1) ?? "", stringAt(tree, ...path, "db_path"))),
      config,
    );
    return Object.keys(objectAt(top, "providers")).reduce(
      (tree, api) =>
        put(
          tree,
          ["providers", api],
          listAt(tree, "providers", api).map((entry) => moved(entry, api, backend, referencesOf)),
        ),
      top,
    );
  },
  backends: (config) =>
    TOP_LEVEL.flatMap(({ path }) => {
      const type = stringAt(config, ...path, "type");
      return type === undefined ? [] : [[path.join("."), type]];
    }),
  reference: (kind, { namespace, table }, folders) => ({
    type: "sqlite",
    db_path: sqliteFile(folders, kind === "kv" ? namespace : table),
    ...(kind === "kv" ? { namespace } : {}),
  }),
};

/** Without these two the server takes files below its home folder. */
const isNeeded = (path: ReadonlyArray<string>): boolean => path.length === 1 && path[0] !== "conversations_store";

const objectAtOrNull = (config: JsonObject, path: ReadonlyArray<string>): Json =>
  path.reduce<Json | undefined>((inner, key) => member(inner, key), config) ?? null;

const moved = (entry: Json, api: string, backend: Backend, referencesOf: ReferencesOf): Json => {
  if (!isObject(entry)) return entry;
  const paths = Object.entries(referencesOf(api, stringAt(entry, "provider_type") ?? ""))
    .filter(([, { kind }]) => kind === backend.kind)
    .map(([dotted]) => ["config", ...dotted.split(".")]);
  // A store that is not declared would be a file chosen by the server.
  return paths.reduce(
    (tree, path) =>
      put(
        tree,
        path,
        store(backend, `${api}::${stringAt(entry, "provider_id") ?? ""}`, stringAt(tree, ...path, "db_path")),
      ),
    entry,
  );
};

/** The same backend for one consumer: a file of its own stays its own, keys in a shared place get a namespace. */
const store = ({ kind, value }: Backend, consumer: string, file: string | undefined): JsonObject => {
  const type = (stringAt(value, "type") ?? "").replace(/^(kv|sql)_/, "");
  const own = omit(value, "type", "table_name");
  if (type === "sqlite") {
    const folder = (stringAt(value, "db_path") ?? "").replace(/\/[^/]*$/, "");
    const name = file === undefined ? `${safe(consumer)}.db` : file.split("/").at(-1) ?? "";
    return { type, db_path: `${folder}/${name}` };
  }
  return {
    type,
    ...own,
    ...(kind === "kv" ? { namespace: consumer } : {}),
    ...(kind === "kv" && type === "postgres" ? { table_name: "llamastack_kvstore" } : {}),
  };
};

const sqliteFile = ({ state }: DataFolders, name: string): string =>
  `\${env.SQLITE_STORE_DIR:=${state}}/${safe(name)}.db`;

const safe = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]+/g, "_");
