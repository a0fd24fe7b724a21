/** Where a config keeps its data: this changes no answer of the server, but a new one starts without it. */
import { isOlderMinor } from "../config/servers/families/families.ts";
import { isObject, type Json, objectAt, stringAt } from "../data/json.ts";
import type { Entry, Fields, Read } from "./entries.ts";
import { settled, settledMap } from "./variables.ts";

/** Files, tables and namespaces of every store. */
export const placesOf = (read: Read, entries: ReadonlyArray<Entry>): Fields => {
  const { tree, server } = read;
  const isBefore = isOlderMinor(server.version, "0.3");
  const stores = isBefore
    ? ["metadata_store", "inference_store"].map((key) => [key, objectAt(tree, key)] as const)
    : Object.entries(objectAt(tree, "storage", "stores"));
  return new Map([
    ...stores.flatMap(([name, store]) => placeFields(`store ${name}`, store, read)),
    ...entries.flatMap(({ api, id, leaves }) =>
      leaves.flatMap(({ path, value, kind }) => {
        const name = `${path.join(".")} of ${api} provider ${id}`;
        return kind === "store"
          ? placeFields(name, value, read)
          : kind === "place"
          ? [[name, fileOf(value, read)] as const]
          : [];
      })
    ),
  ]);
};

const placeFields = (name: string, store: Json, read: Read): ReadonlyArray<readonly [string, string]> => {
  if (!isObject(store)) return [];
  const own = settledMap(isObject(store.sql_store_config) ? store.sql_store_config : store, read.valueOf);
  const backend = settledMap(objectAt(read.tree, "storage", "backends", stringAt(own, "backend") ?? ""), read.valueOf);
  const place = ["namespace", "table_name"].map((key) => String(own[key] ?? "")).join("");
  const file = backend.db_path ?? own.db_path;
  const isFile = (stringAt(backend, "type") ?? stringAt(own, "type") ?? "sqlite").endsWith("sqlite");
  const medium = file !== undefined
    ? fileOf(file, read)
    : isFile
    ? "the file that the server chooses"
    : String(backend.table_name ?? "the database");
  return [[name, `${place} in ${medium}`.trim()]];
};

/** Files of a home are in the volume of the operator. */
export const foldersOf = ({ tree, valueOf }: Read, entries: ReadonlyArray<Entry>): ReadonlySet<string> => {
  const files = [
    ...Object.values(objectAt(tree, "storage", "backends")).map((backend) => objectAt(backend).db_path),
    ...entries.flatMap(({ leaves }) => leaves.filter(({ kind }) => kind === "place").map(({ value }) => value)),
  ];
  return new Set(
    files.flatMap((file) => {
      const [, folder] = /^(\/.*)\/[^/]+$/.exec(String(settled(file ?? null, valueOf))) ?? [];
      return folder === undefined ? [] : [folder];
    }),
  );
};

/** The last part of a path: the folder is that of the volume. */
const fileOf = (path: Json, { valueOf }: Read): string => String(settled(path, valueOf)).split("/").at(-1) ?? "";
