/** What is wrong with the section `storage` of a config, whoever wrote it: the rules of `spec.storage.backends`, over entries. */
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { Facts } from "../draft.ts";
import { absentFields, type Catalogue, type CatalogueModel } from "../servers/catalogue.ts";
import { expandedText, type KnownVariables, readValue, type ValueOf } from "../known_environment.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { type Misfit, ruleMisfits } from "../servers/class_misfits.ts";
import { isRouted } from "./api_findings.ts";
import { type BackendTypes, backendTypes, unfitBackend } from "./dangling.ts";
import { type EntryFinding, surelyBroken } from "./entry_findings.ts";
import { unfitTexts } from "./expanded_texts.ts";
import { placesInConfig, settingFindings, strayFindings } from "./provider_settings.ts";

/** Servers without backends say nothing of the section, which they do not read. */
export const storageFindings = (
  config: JsonObject,
  facts: Facts,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  Object.keys(facts.server.catalogue.backends).length === 0 ? [] : [
    ...Object.entries(objectAt(config, "storage", "backends")).flatMap(([name, backend]) =>
      ofBackend(backend, ["storage", "backends", name], facts, known)
    ),
    ...storeFindings(config, facts, known.valueOf),
  ];

/** Classes that take any text leave the error to the client of the database. */
export const isWord = (port: Json | undefined): boolean =>
  typeof port === "string" && !port.includes("${env.") && !/^\s*[0-9]+\s*$/.test(port);

/** Those that are written, and those that the server has without. */
const storeFindings = (
  config: JsonObject,
  { server: { catalogue } }: Facts,
  valueOf: ValueOf,
): ReadonlyArray<EntryFinding> => {
  const { config: { class: whole }, models } = catalogue;
  const storage = models[models[whole]?.fields.storage?.model ?? ""]?.fields ?? {};
  const written = objectAt(config, "storage");
  const backends = backendTypes(config, catalogue, valueOf);
  const stores = objectAt(written, "stores");
  const { fields = {}, converted = false } = models[storage.stores?.model ?? ""] ?? {};
  return [
    ...Object.entries(fields).flatMap(([name, { model = "" }]) =>
      Object.hasOwn(stores, name)
        ? ofStore(name, stores[name] ?? null, backends, models[model]?.fields ?? {}, {
          isConverted: converted,
          valueOf,
        })
        : []
    ),
    ...missingStores(config, fields, models),
    ...(Object.hasOwn(written, "backends") ? lostBackends(fields, stores, backends) : []),
  ];
};

/**
 * Stores without which a server ends, as far as its class has them. Source: core/stack.py, core/routers/__init__.py, and the modules
 * of conversations, prompts and connectors in core.
 */
const NEEDED = ["metadata", "inference", "conversations", "prompts", "connectors"];

const missingStores = (
  config: JsonObject,
  fields: CatalogueModel["fields"],
  models: Catalogue["models"],
): ReadonlyArray<EntryFinding> => {
  const stores = objectAt(config, "storage", "stores");
  return NEEDED.flatMap((name) => {
    const field = fields[name];
    const isThere = Object.hasOwn(stores, name) ? stores[name] !== null : field?.default !== undefined;
    if (field === undefined || isThere || name === "inference" && !isRouted(config, "inference")) return [];
    const place = models[field.model ?? ""]?.fields.namespace === undefined
      ? `{backend: sql_default, table_name: ${name}}`
      : `{backend: kv_default, namespace: ${name}}`;
    return [fatal(["storage", "stores", name], `required by the server, as ${place}`)];
  });
};

/** Backends of the stores that the server has where none are written. */
const lostBackends = (
  fields: CatalogueModel["fields"],
  stores: JsonObject,
  backends: BackendTypes,
): ReadonlyArray<EntryFinding> => {
  const own = Object.entries(fields).flatMap(([name, { default: store }]) => {
    const backend = Object.hasOwn(stores, name) ? undefined : stringAt(store as Json | undefined, "backend");
    return backend === undefined || Object.hasOwn(backends, backend) ? [] : [{ name, backend }];
  });
  return Object.entries(Object.groupBy(own, ({ backend }) => backend)).map(([backend, found = []]) =>
    fatal(
      ["storage", "backends", backend],
      `missing, and the server has ${found.map(({ name }) => name).join(", ")} in it unless storage.stores says ` +
        "otherwise; add it, or write these stores there with a backend that is here",
    )
  );
};

const fatal = (path: FieldPath, message: string): EntryFinding => ({ path, message, isFatal: true });

/** What a backend cannot hold of the values that its texts read from variables. */
export const unfitBackendTexts = (
  backend: Json,
  path: FieldPath,
  facts: Facts,
  valueOf: ValueOf,
): ReadonlyArray<Required<Misfit>> => {
  const { backends } = facts.server.catalogue;
  const { type, ...settings } = isObject(backend) ? backend : {};
  const known = typeof type === "string" && Object.hasOwn(backends, type) ? backends[type] : undefined;
  if (known === undefined) return [];
  const { port } = settings;
  const read = typeof port === "string" && known.fields.port?.type === "any" ? expandedText(port, valueOf) : undefined;
  return [
    ...unfitTexts(settings, { api: "storage", type: String(type), known }, valueOf, facts)
      .map(({ place, expected, text }) => ({ path: [...path, ...place], message: expected, text })),
    ...(typeof read === "string" ? [{ path: [...path, "port"], message: NO_PORT, text: String(port) }] : []),
  ];
};

export const NO_PORT = "not a number, with which no connection is made; write the number of the port";

const ofBackend = (
  backend: Json,
  path: FieldPath,
  facts: Facts,
  { environment, valueOf }: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const { backends } = facts.server.catalogue;
  if (!isObject(backend)) return [fatal(path, "expected a map")];
  const { type: written, ...settings } = backend;
  const type = readValue(written, valueOf);
  // Only the pod knows it.
  if (type === undefined && written !== undefined) return [];
  const known = typeof type === "string" && Object.hasOwn(backends, type) ? backends[type] : undefined;
  if (known === undefined) return [fatal([...path, "type"], `expected one of ${Object.keys(backends).join(", ")}`)];
  const whose = `backend type "${type}"`;
  const missing = absentFields(known.fields, settings)
    .map((field) => fatal([...path, field], `required by ${whose}`));
  const places = { ...placesInConfig(path, known), instead: (key: string) => insteadOf(String(type), key) };
  const { failures, warnings } = settingFindings(
    settings,
    { api: "storage", type: String(type) },
    known,
    places,
    facts,
    whose,
  );
  const stray = strayFindings(settings, String(type), known, places, whose);
  return [
    ...missing,
    ...ruleMisfits(known, settings, path, (text) => expandedText(text, valueOf))
      .map(({ path: place, message }) => fatal(place, message)),
    ...surelyBroken(settings, { api: "storage", type: String(type), path }, facts, environment, valueOf)
      .map(({ path: place, detail }) => late(fatal(place, detail), String(type), facts)),
    ...failures.map(({ path: place, detail }) => fatal(place, detail)),
    ...unfitBackendTexts(backend, path, facts, valueOf).map(({ path: place, message }) =>
      fatal(place, place.at(-1) === "password" ? `${message}, or set PGPASSWORD and write an empty text here` : message)
    ),
    ...stray.failures.map(({ path: place }) => fatal(place, `unknown field for ${whose}`)),
    // Of files and variables more is known elsewhere.
    ...[
      ...warnings.filter(({ code, path: place }) => code === "CredentialInSettings" || place.at(-1) === "host"),
      ...stray.warnings,
    ].map((
      { code, path: place, message },
    ) => ({
      path: place,
      message,
      isFatal: false,
      code,
    })),
    ...(isWord(settings.port) && known.fields.port?.type === "any"
      ? [late(fatal([...path, "port"], NO_PORT), String(type), facts)]
      : []),
  ];
};

/** Llama Stack 0.7 and OGX 0.8 connect to a SQL database with the first request, and start without it. */
const late = (finding: EntryFinding, type: string, { server: { version } }: Facts): EntryFinding =>
  type === "sql_postgres" && ["host", "port"].includes(String(finding.path.at(-1))) &&
    !isOlderMinor(version, "0.7") && isOlderMinor(version, "1.0")
    ? { ...finding, isFatal: false, code: "ConfigUnfit" }
    : finding;

/** Continues "it has no effect". */
const insteadOf = (type: string, key: string): string | undefined =>
  type === "kv_redis" && key === "password"
    ? "; the password of Redis is part of the host, as in user:password@host"
    : undefined;

/** Source: ServerStoresConfig in core/storage/datatypes.py, since 1.0. */
const CONVERTED = ["prompts", "connectors"];

const ofStore = (
  name: string,
  store: Json,
  backends: BackendTypes,
  fields: CatalogueModel["fields"],
  { isConverted, valueOf }: { readonly isConverted: boolean; readonly valueOf: ValueOf },
): ReadonlyArray<EntryFinding> => {
  const path = ["storage", "stores", name];
  if (store === null) return [];
  if (!isObject(store)) return [fatal(path, "expected a map")];
  const isOfKeys = isConverted && CONVERTED.includes(name) && Object.hasOwn(store, "namespace") &&
    !Object.hasOwn(store, "table_name");
  const missing = isOfKeys ? [] : absentFields(fields, store).map((key) => fatal([...path, key], "required here"));
  const written = readValue(stringAt(store, "backend") ?? (isOfKeys ? "sql_default" : undefined), valueOf);
  if (typeof written !== "string") return missing;
  // What was written for a key-value store becomes a table, of a backend whose name the server makes of the written one.
  const backend = isOfKeys ? written.replaceAll("kv_", "sql_") : written;
  const unfit = unfitBackend(backend, fields.namespace === undefined ? "sql" : "kv", backends);
  if (unfit === undefined) return missing;
  return [
    ...missing,
    fatal(
      [...path, "backend"],
      backend === written ? unfit : `this server has the store in SQL, and takes it for "${backend}": ${unfit}`,
    ),
  ];
};
