/** What is wrong with the section `storage` of a config, whoever wrote it: the rules of `spec.storage.backends`, over entries. */
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { Facts } from "../draft.ts";
import { absentFields } from "../servers/catalogue.ts";
import { ruleMisfits } from "../servers/class_misfits.ts";
import { unfitBackend } from "./dangling.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { placesInConfig, settingFindings } from "./provider_settings.ts";

/** Servers without backends say nothing of the section, which they do not read. */
export const storageFindings = (config: JsonObject, facts: Facts): ReadonlyArray<EntryFinding> =>
  Object.keys(facts.server.catalogue.backends).length === 0 ? [] : [
    ...Object.entries(objectAt(config, "storage", "backends")).flatMap(([name, backend]) =>
      ofBackend(backend, ["storage", "backends", name], facts)
    ),
    ...Object.entries(objectAt(config, "storage", "stores")).flatMap(([name, store]) => ofStore(name, store, config)),
  ];

const fatal = (path: FieldPath, message: string): EntryFinding => ({ path, message, isFatal: true });

const ofBackend = (backend: Json, path: FieldPath, facts: Facts): ReadonlyArray<EntryFinding> => {
  const { backends } = facts.server.catalogue;
  if (!isObject(backend)) return [fatal(path, "expected a map")];
  const { type, ...settings } = backend;
  if (typeof type === "string" && type.includes("${env.")) return [];
  const known = typeof type === "string" && Object.hasOwn(backends, type) ? backends[type] : undefined;
  if (known === undefined) return [fatal([...path, "type"], `expected one of ${Object.keys(backends).join(", ")}`)];
  const whose = `backend type "${type}"`;
  const missing = absentFields(known.fields, settings)
    .map((field) => fatal([...path, field], `required by ${whose}`));
  const { failures } = settingFindings(
    settings,
    { api: "storage", type: String(type) },
    known,
    placesInConfig(path, known),
    facts,
    whose,
  );
  return [
    ...missing,
    ...ruleMisfits(known, settings, path).map(({ path: place, message }) => fatal(place, message)),
    ...failures.map(({ path: place, detail }) => fatal(place, detail)),
  ];
};

/** Stores that have one kind on every server, with the field that is required beside the backend. */
const KINDS: Readonly<Record<string, readonly [kind: "kv" | "sql", field: string]>> = {
  metadata: ["kv", "namespace"],
  inference: ["sql", "table_name"],
  conversations: ["sql", "table_name"],
  responses: ["sql", "table_name"],
};

const ofStore = (name: string, store: Json, config: JsonObject): ReadonlyArray<EntryFinding> => {
  const path = ["storage", "stores", name];
  const kinds = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (store === null || kinds === undefined) return [];
  if (!isObject(store)) return [fatal(path, "expected a map")];
  const [kind, field] = kinds;
  const missing = ["backend", field].filter((key) => !Object.hasOwn(store, key))
    .map((key) => fatal([...path, key], "required here"));
  const backend = stringAt(store, "backend");
  if (backend === undefined || backend.includes("${env.")) return missing;
  const backends = objectAt(config, "storage", "backends");
  // Without any, the server has two of its own.
  if (Object.keys(backends).length === 0) return missing;
  const unfit = unfitBackend(backend, kind, backends);
  return unfit === undefined ? missing : [...missing, fatal([...path, "backend"], unfit)];
};
