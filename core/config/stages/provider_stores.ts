/** What a provider needs and the resource does not set: stores, local paths, nulls. */
import { MissingSetting } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { at, isObject, type Json, type JsonObject, put, stringAt, withMember } from "../../data/json.ts";
import { type Catalogue, endpointExpectation, isDirect, type ProviderType } from "../servers/catalogue.ts";
import { classMisfits, classOf, unknownVariant } from "../servers/class_misfits.ts";
import type { Facts } from "../draft.ts";
import { knownEnvironment, knownValues, mayBeSet } from "../known_environment.ts";
import type { KnownProvider } from "./known_provider.ts";

/** The stores that the type needs and the resource does not set. */
export const withReferences = (
  config: JsonObject,
  { api, id, known, base, replaced }: KnownProvider,
  { server: { catalogue, family }, folders }: Facts,
): JsonObject =>
  Object.entries(known.references ?? {}).reduce((filled, [dotted, reference]) => {
    const path = dotted.split(".");
    const before = at(replaced, ...path);
    if (at(filled, ...path) === undefined && isObject(before) && isFit(before, dotted, known, catalogue)) {
      return put(filled, path, before);
    }
    if (at(filled, ...path) !== undefined || reference.required !== true && !ALWAYS_WRITTEN.has(dotted)) return filled;
    // Of an API with one provider, another id is no other data.
    const names = isDirect(catalogue, api)
      ? { namespace: api, table: api === "files" ? "files_metadata" : api }
      : { namespace: `${api}::${id}`, table: `${api}_${id.replaceAll(/[^A-Za-z0-9]/g, "_")}` };
    return put(filled, path, family.stores.reference(reference.kind, names, folders, base));
  }, config);

/** Whether a server takes the store that a base config has: data of one that it does not take are none. */
const isFit = (store: JsonObject, dotted: string, { fields }: ProviderType, catalogue: Catalogue): boolean => {
  const field = fields[dotted];
  if (field === undefined) return true;
  const model = classOf(field, store, catalogue);
  return (field.variants === undefined || unknownVariant(field, store, []).length === 0) &&
    (model === undefined || classMisfits(model, store, [], catalogue).length === 0);
};

/** Optional by the schema of some vector providers, which crash without it. */
const ALWAYS_WRITTEN = new Set(["persistence"]);

/**
 * Required fields that are unset: local paths are set to the data directory, a required nullable field to null; any
 * other is a failure.
 */
export const withRequired = (
  config: JsonObject,
  { provider, api, id, type, known, path, replaced }: KnownProvider,
  facts: Facts,
): { readonly config: JsonObject; readonly failures: ReadonlyArray<MissingSetting> } => {
  const missing = Object.entries(known.fields).filter(([name, field]) =>
    field.required === true && !Object.hasOwn(config, name)
  );
  const local = (name: string): Json | undefined => {
    const before = stringAt(replaced, name);
    // A path without the variable of the data folder is not on the volume.
    if (before?.startsWith("${env.SQLITE_STORE_DIR") === true) return before;
    if (name === "storage_dir") return facts.folders.files;
    const file = `\${env.SQLITE_STORE_DIR:=${facts.folders.state}}/${id.replaceAll(/[^A-Za-z0-9._-]/g, "_")}`;
    if (name === "db_path" && type !== "inline::chromadb") return `${file}.db`;
    return name === "db_path" || name === "path" ? file : undefined;
  };
  const expected = endpointExpectation(facts.server.catalogue, api, type)?.needed === true ? known.endpoint : undefined;
  const filled = missing.reduce((draft, [name, field]) => {
    // A null passes the schema, but a required address is not replaced by null.
    const value = local(name) ?? (field.nullable === true && name !== expected ? null : undefined);
    return value === undefined ? draft : withMember(draft, name, value);
  }, config);
  const written = provider.endpoint ?? (provider.settings as JsonObject | undefined)?.[expected ?? ""];
  const needsEndpoint = expected !== undefined && ((filled[expected] ?? null) === null || isEmptied(written, facts));
  const absent = missing.map(([name]) => name).filter((name) => !Object.hasOwn(filled, name));
  const failures = [
    ...(needsEndpoint && !absent.includes(known.endpoint ?? "") ? [known.endpoint ?? ""] : []),
    ...absent,
  ].map((name) => new MissingSetting({ path: [...path, ...fieldFor(name, known)], type }));
  return { config: filled, failures };
};

/** Of variables, with which the server has no address. */
const isEmptied = (text: Json | undefined, facts: Facts): boolean =>
  typeof text === "string" && text.includes("${env.") &&
  !mayBeSet(text, knownValues(knownEnvironment(facts, []), facts));

/** Where the author sets the field: endpoint, apiKey, a secret reference or a setting. */
const fieldFor = (name: string, known: ProviderType): FieldPath => {
  if (name === known.endpoint) return ["endpoint"];
  if (name === known.key) return ["apiKey"];
  return [known.fields[name]?.secret === true ? "secretRefs" : "settings", name];
};
