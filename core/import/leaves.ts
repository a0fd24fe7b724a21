/** The config of one provider as its type reads it: each value at its place, without defaults and without keys that nobody reads. */
import {
  isList,
  isObject,
  isSameValue,
  type Json,
  type JsonObject,
  member,
  sortedKeys,
  stringAt,
} from "../data/json.ts";
import type { Catalogue, CatalogueField, ProviderType, StorageReference } from "../config/servers/catalogue.ts";
import { settled, type ValueOf } from "./variables.ts";

export interface Leaf {
  readonly path: ReadonlyArray<string>;
  readonly value: Json;
  /**
   * place: where data is kept, which changes no answer of the server; store: a reference to a backend; dead: nobody reads it.
   */
  readonly kind: "setting" | "secret" | "place" | "store" | "dead";
  readonly reference?: StorageReference;
}

interface Reader {
  readonly catalogue: Catalogue;
  readonly type: string;
  readonly known: ProviderType;
  readonly valueOf: ValueOf;
  /** Whether a variable that is not known is not set; else a key may come from one. */
  readonly isComplete: boolean;
}

export const leavesOf = (config: JsonObject, reader: Reader): ReadonlyArray<Leaf> =>
  inMap(config, [], reader.known.fields, reader.known.extra ?? "ignore", reader);

const inMap = (
  map: JsonObject,
  above: ReadonlyArray<string>,
  fields: Readonly<Record<string, CatalogueField>>,
  extra: "ignore" | "forbid" | "allow",
  reader: Reader,
): ReadonlyArray<Leaf> =>
  Object.entries(map).flatMap(([key, value]): ReadonlyArray<Leaf> => {
    const name = nameOf(fields, key);
    const path = [...above, name ?? key];
    const dotted = path.join(".");
    const references = reader.known.references ?? {};
    const reference = Object.hasOwn(references, dotted) ? references[dotted] : undefined;
    if (reference !== undefined) return isObject(value) ? [{ path, value, kind: "store", reference }] : [];
    if (Object.keys(references).some((other) => other.startsWith(`${dotted}.`)) && isObject(value)) {
      const model = name === undefined ? undefined : modelOf(fields[name], value, reader);
      return inMap(value, path, model?.fields ?? {}, model?.extra ?? "ignore", reader);
    }
    const field = name === undefined ? undefined : fields[name];
    if (field === undefined) {
      return extra === "allow" ? [{ path, value: settled(value, reader.valueOf), kind: "setting" }] : [
        { path, value, kind: "dead" },
      ];
    }
    if (LOCAL.has(dotted) && reader.type.startsWith("inline::")) return [{ path, value, kind: "place" }];
    if (field.secret === true) return secretLeaf(value, path, reader);
    if (isObject(value)) {
      const model = modelOf(field, value, reader);
      if (model !== undefined) {
        const { type } = value;
        const inner = inMap(value, path, model.fields, model.extra, reader);
        return field.variants === undefined || typeof type !== "string"
          ? inner
          : [...inner.filter((leaf) => leaf.path.join(".") !== `${dotted}.type`), {
            path: [...path, "type"],
            value: type,
            kind: "setting",
          }];
      }
    }
    const read = coerced(field, settled(value, reader.valueOf));
    return isDefault(field, read) && !OVERRIDING.has(dotted) ? [] : [{ path, value: read, kind: "setting" }];
  });

/** Written, these keep spec.vectorStores.chunking away from a provider, whatever their value. */
const OVERRIDING: ReadonlySet<string> = new Set(["default_chunk_size_tokens", "default_chunk_overlap_tokens"]);

/** Files of the server's own. */
export const LOCAL: ReadonlySet<string> = new Set(["db_path", "path", "storage_dir", "sqlite_db_path"]);

const nameOf = (fields: Readonly<Record<string, CatalogueField>>, key: string): string | undefined =>
  Object.hasOwn(fields, key) ? key : Object.entries(fields).find(([, { aliases = [] }]) => aliases.includes(key))?.[0];

const modelOf = (field: CatalogueField | undefined, value: JsonObject, { catalogue }: Reader) => {
  const chosen = stringAt(value, "type") ?? "";
  const variants = field?.variants ?? {};
  const name = field?.model ?? (Object.hasOwn(variants, chosen) ? variants[chosen] : undefined);
  return name === undefined ? undefined : catalogue.models[name];
};

/** `${env.KEY:=fake}` is a setting; a key that is not set is none. */
const secretLeaf = (
  value: Json,
  path: ReadonlyArray<string>,
  { valueOf, isComplete }: Reader,
): ReadonlyArray<Leaf> => {
  if (value === null || value === "" || isComplete && settled(value, valueOf) === null) return [];
  if (typeof value !== "string") return [{ path, value, kind: "secret" }];
  const harmless = /^\$\{env\.([A-Z0-9_]+):=(.+)\}$/.exec(value);
  if (harmless !== null && valueOf(harmless[1] ?? "") === "") return [{ path, value, kind: "setting" }];
  return [{ path, value, kind: "secret" }];
};

/** As the class of the type converts it. */
const coerced = ({ type }: CatalogueField, value: Json): Json => {
  if (typeof value === "string" && (type === "integer" || type === "number") && /^\s*-?[0-9.]+\s*$/.test(value)) {
    return Number(value);
  }
  if (typeof value === "string" && type === "boolean" && /^(true|false)$/i.test(value)) {
    return value.toLowerCase() === "true";
  }
  return (type === "string" || type === "url") && (typeof value === "number" || typeof value === "boolean")
    ? String(value)
    : value;
};

const isDefault = (field: CatalogueField, value: Json): boolean => {
  const usual = (field.default ?? null) as Json;
  return field.required !== true &&
    (isSameValue(value, usual) || value === null && field.nullable === true && usual === null);
};

/** The scalars and lists of a map by dotted path; equal lists have equal texts, whatever the order of keys in their items. */
export const flat = (value: Json | undefined, path = ""): ReadonlyArray<readonly [string, Json]> => {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) return isList(value) && value.length === 0 ? [] : [[path, sortedKeys(value)]];
  return Object.keys(value).flatMap((key) => flat(member(value, key), path === "" ? key : `${path}.${key}`));
};
