/**
 * SQL databases in files whose folder nothing makes, and key-value databases in folders that the server may not make. The server makes the folders of its key-value databases, before it opens those of SQL,
 * and no others. Source: initialize in kvstore/sqlite/sqlite.py, seen on servers from 0.2 to 1.5.
 */
import type { FieldPath } from "../../data/field_path.ts";
import { at, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import { knownEnvironment, knownValues, type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { deniedFolder, folderIn, isFolder, unmadeFolder } from "../mounted_files.ts";
import { providerType } from "../servers/catalogue.ts";
import type { EntryFinding } from "./entry_findings.ts";

type Surroundings = Pick<Facts, "spec" | "server" | "folders">;

/** `isUsed` says it of a storage backend of `whole`, the config that the server has. */
export const unmadeFolders = (
  config: JsonObject,
  whole: JsonObject,
  facts: Surroundings,
  known: KnownVariables,
  isUsed: (backend: string) => boolean,
): ReadonlyArray<EntryFinding> => {
  const isOpened = ({ path }: Database) => path[1] !== "backends" || isUsed(String(path[2]));
  const made = databasesIn(whole, facts, known).filter((database) => database.kind === "kv" && isOpened(database))
    .map(({ file }) => folderIn(file));
  return databasesIn(config, facts, known).flatMap(({ kind, file, path }) => {
    const message = isFolder(file, facts)
      ? `${quoted(file)} is a folder in the pod, and the server does not start; write the path of a file in it`
      : kind === "sql"
      ? unmadeFolder(file, facts, made)
      : deniedFolder(folderIn(file), facts);
    return message === undefined ? [] : [{ path, message, isFatal: false, code: "FileNotMounted" }];
  });
};

/** The same of the storage backends that a resource declares. */
export const unmadeFoldersOfResource = ({ config, env }: Draft, facts: Facts): ReadonlyArray<Warning> => {
  const declared = (facts.spec.storage?.backends ?? []).map(({ name }) => name);
  if (declared.length === 0) return [];
  const environment = knownEnvironment(facts, env);
  const known = { environment, valueOf: knownValues(environment, facts) };
  return unmadeFolders(config, config, facts, known, () => true)
    .filter(({ path }) => path[1] === "backends" && declared.includes(String(path[2])))
    .map(({ path: [, , name, field = ""], message }) =>
      warning(
        "FileNotMounted",
        ["spec", "storage", "backends", declared.indexOf(String(name)), "settings", field],
        message,
      )
    );
};

interface Database {
  readonly kind: "kv" | "sql";
  /** What the server opens, as far as it is known. */
  readonly file: string;
  readonly path: FieldPath;
}

const databasesIn = (
  config: JsonObject,
  { server: { catalogue } }: Surroundings,
  known: KnownVariables,
): ReadonlyArray<Database> => {
  const found = (value: Json | undefined, path: FieldPath, kind?: "kv" | "sql"): ReadonlyArray<Database> => {
    if (!isObject(value)) return [];
    const type = /^(?:(kv|sql)_)?sqlite$/.exec(stringAt(value, "type") ?? "");
    const opened = type?.[1] as "kv" | "sql" | undefined ?? kind;
    const file = opened === undefined ? undefined : fileOf(stringAt(value, "db_path"), opened, known);
    return type === null || opened === undefined || file === undefined
      ? []
      : [{ kind: opened, file, path: [...path, "db_path"] }];
  };
  return [
    ...Object.entries(objectAt(config, "storage", "backends"))
      .flatMap(([name, backend]) => found(backend, ["storage", "backends", name])),
    // Servers without backends have their databases in place.
    ...found(config.metadata_store, ["metadata_store"], "kv"),
    ...found(config.inference_store, ["inference_store"], "sql"),
    ...Object.keys(objectAt(config, "providers")).flatMap((api) =>
      entriesOf(config, api).flatMap((entry, index) =>
        stateOf(entry, known.environment) !== "On" ? [] : Object
          .entries(providerType(catalogue, api, stringAt(entry, "provider_type") ?? "")?.references ?? {})
          .flatMap(([dotted, { kind }]) => {
            const place = ["config", ...dotted.split(".")];
            return found(at(entry, ...place), ["providers", api, index, ...place], kind);
          })
      )
    ),
  ];
};

/** The home folder in a text is that of the user where a variable gives it, and for databases of SQL. */
const fileOf = (text: string | undefined, kind: "kv" | "sql", { valueOf }: KnownVariables): string | undefined => {
  const read = readValue(text, valueOf);
  if (typeof read !== "string") return undefined;
  const isExpanded = kind === "sql" || read !== text;
  return isExpanded && /^~(?=$|[/])/.test(read) ? `${valueOf("HOME") ?? ""}${read.slice(1)}` : read;
};
