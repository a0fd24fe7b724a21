/** What is wrong with the provider entries of a config, whoever wrote it: the rules of `spec.providers`, over entries. */
import { at, isObject, type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import type { SettingInvalid } from "../../failure/failures.ts";
import type { WarningCode } from "../../failure/warning.ts";
import { incompleteAddress } from "../connections/endpoint.ts";
import { entriesOf, type Facts } from "../draft.ts";
import {
  expandedText,
  type KnownEnvironment,
  type KnownVariables,
  mayBeSet,
  readValue,
  stateOf,
  type ValueOf,
  variablesIn,
} from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import { absentFields, endpointExpectation, type ProviderType, providerType } from "../servers/catalogue.ts";
import { unstartableType } from "../servers/families/unstartable_types.ts";
import { unknownBackends } from "./dangling.ts";
import { missingFiles, NOT_MOUNTED, unfitTexts } from "./expanded_texts.ts";
import { brokenRules } from "./provider_rules.ts";
import { type Places, placesInConfig, settingFindings, strayFindings } from "./provider_settings.ts";

export interface EntryFinding {
  /** From the top of the config. */
  readonly path: FieldPath;
  readonly message: string;
  /** Whether the server does not start. */
  readonly isFatal: boolean;
  /** If unset, one that follows from `isFatal`. */
  readonly code?: WarningCode;
}

/** Of entries with these ids nothing is said, e.g. because they are those of the resource, which has stricter rules. */
export const entryFindings = (
  config: JsonObject,
  facts: Facts,
  known: KnownVariables,
  isExcepted: (api: string, id: string | undefined) => boolean,
): ReadonlyArray<EntryFinding> =>
  Object.keys(objectAt(config, "providers")).flatMap((api) =>
    entriesOf(config, api).flatMap((entry, index): ReadonlyArray<EntryFinding> => {
      const type = stringAt(entry, "provider_type") ?? "";
      const described = providerType(facts.server.catalogue, api, type);
      if (described === undefined || stateOf(entry, known.environment) !== "On") return [];
      if (isExcepted(api, baseId(entry))) return [];
      const path: FieldPath = ["providers", api, index];
      return ofEntry(config, objectAt(entry, "config"), { api, type, known: described, path }, facts, known);
    })
  );

/**
 * Addresses that only requests need. Source: moderation.py of the builtin responses, OGX 1.0 on; datasetio.py and nvidia.py of
 * NVIDIA, seen on servers from 0.2 to 0.8.
 */
const READ_LATER: ReadonlySet<string> = new Set([
  "datasetio remote::nvidia datasets_url",
  "responses inline::builtin moderation_endpoint",
  "safety remote::nvidia guardrails_service_url",
]);

/** The only one that starts without its store. Source: initialize in weaviate.py of servers from 0.2 to 1.5. */
const FORGETFUL = "vector_io remote::weaviate";

/** A text that is no address of a cloud: its client looks for the host with the first request. */
const isOfLaterConnection = (
  settings: JsonObject,
  { api, type, known: { endpoint = "" } }: Pick<Entry, "api" | "type" | "known">,
  { server: { catalogue } }: Facts,
): boolean => endpointExpectation(catalogue, api, type)?.isCloud === true && typeof settings[endpoint] === "string";

interface Entry {
  readonly api: string;
  readonly type: string;
  readonly known: ProviderType;
  readonly path: FieldPath;
}

const ofEntry = (
  config: JsonObject,
  settings: JsonObject,
  { api, type, known, path }: Entry,
  facts: Facts,
  { environment, valueOf }: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const unstartable = unstartableType(facts.server, api, type);
  if (unstartable !== undefined) {
    return [{ path, message: `${type}: ${unstartable.reason}; ${unstartable.instead}`, isFatal: true }];
  }
  const below = [...path, "config"];
  const places = { ...placesInConfig(below, known), hasSection: (name: string) => isObject(config[name]) };
  const checked = settingFindings(settings, { api, type }, known, places, facts);
  const stray = strayFindings(settings, type, known, places);
  const fatal = [
    ...checked.failures,
    ...stray.failures.map(({ path: place }) => ({ path: place, detail: `unknown field for provider type "${type}"` })),
    ...surelyBroken(settings, { api, type, path: below }, facts, environment, valueOf),
    ...unknownBackends(config, [{ api, type, config: settings, path: below }], facts, valueOf),
    ...unfitTexts(settings, { api, type, known }, valueOf, facts)
      .map(({ place, expected }) => ({ path: [...below, ...place], detail: expected })),
  ].map(({ path: place, detail }): EntryFinding => {
    const isLate = READ_LATER.has(`${api} ${type} ${place.at(-1)}`) ||
      place.at(-1) === known.endpoint && isOfLaterConnection(settings, { api, type, known }, facts);
    return { path: place, message: detail, isFatal: !isLate, ...(isLate ? { code: "ConfigUnfit" as const } : {}) };
  });
  return [
    ...missingFields(settings, known).map((name): EntryFinding => {
      const place = [...below, ...name.split(".")];
      const end = `${formerName(name, settings, known, places)}${storeToWrite(config, name, known)}`;
      return `${api} ${type}` === FORGETFUL && Object.hasOwn(known.references ?? {}, name)
        ? {
          path: place,
          message: `missing, so that the provider forgets its vector stores when the server restarts${end}`,
          isFatal: false,
          code: "ConfigUnfit",
        }
        : { path: place, message: `required by provider type "${type}"${end}`, isFatal: true };
    }),
    ...missingEndpoint(settings, { api, type, known, path: below }, places, facts, valueOf),
    ...fatal,
    ...[...checked.warnings, ...stray.warnings].map(({ code, path: place, message }) => ({
      path: place,
      message,
      isFatal: false,
      code,
    })),
    ...incomplete(settings, { api, type, known, path: below }, facts, valueOf),
    ...missingFiles(settings, { type, known }, valueOf, facts).map((place) => ({
      path: [...below, ...place],
      message: NOT_MOUNTED,
      isFatal: false,
      code: "FileNotMounted" as const,
    })),
  ];
};

const incomplete = (
  settings: JsonObject,
  { api, type, known: { endpoint = "" }, path }: Entry,
  facts: Facts,
  valueOf: ValueOf,
): ReadonlyArray<EntryFinding> => {
  const text = stringAt(settings, endpoint);
  // One without variables is judged with its type (provider_settings.ts).
  const address = text?.includes("${env.") === true ? readValue(text, valueOf) : undefined;
  const message = typeof address === "string" ? incompleteAddress(address, { api, type }, facts) : undefined;
  return message === undefined
    ? []
    : [{ path: [...path, endpoint], message, isFatal: false, code: "EndpointIncomplete" }];
};

/** What a missing store looks like. Servers without backends have its connection in its place. */
const storeToWrite = (config: JsonObject, name: string, { references = {} }: ProviderType): string => {
  const kind = Object.hasOwn(references, name) ? references[name]?.kind : undefined;
  const backends = Object.entries(objectAt(config, "storage", "backends"));
  if (kind === undefined || backends.length === 0) return "";
  const [backend = "of storage.backends"] = backends.filter(([, entry]) => stringAt(entry, "type")?.startsWith(kind))
    .map(([key]) => key);
  return `; write ${name.split(".").at(-1)}: { backend: ${backend}, ${
    kind === "kv" ? "namespace" : "table_name"
  }: <name> }`;
};

/** A field that the type called otherwise before. */
const formerName = (name: string, settings: JsonObject, known: ProviderType, places: Places): string => {
  const former = Object.keys(settings).find((key) =>
    !Object.hasOwn(known.fields, key) && places.instead(key)?.endsWith(` ${name}`)
  );
  return former === undefined ? "" : `; rename ${former}`;
};

/** Of a value that only the pod knows, both is assumed: that it is there, and that it is not. */
export const surelyBroken = (
  settings: JsonObject,
  { api, type, path }: Pick<Entry, "api" | "type" | "path">,
  { server: { version, catalogue } }: Pick<Facts, "server">,
  environment: KnownEnvironment,
  valueOf: ValueOf,
): ReadonlyArray<SettingInvalid> => {
  const { fields, extra } = providerType(catalogue, api, type) ?? {};
  // What this server does not know, it does not read.
  const isRead = (key: string) => fields === undefined || extra === "allow" || Object.hasOwn(fields, key);
  const broken = (unknown: "set" | "unset") => {
    const config = Object.fromEntries(
      Object.entries(settings).filter(([key]) => isRead(key)).flatMap(([key, value]) => {
        if (typeof value !== "string" || !value.includes("${env.")) return [[key, value]];
        const known = expandedText(value, valueOf);
        // A variable from a Secret has a value, though not one that is known here.
        const isThere = unknown === "set" ||
          variablesIn(value).every((variable) => environment(variable) === "Set");
        return known !== undefined ? [[key, known]] : isThere ? [[key, value]] : [];
      }),
    );
    return brokenRules(api, type, { config, environment, version }, path);
  };
  const others = broken("unset").map(({ path: place }) => formatPath(place));
  return broken("set").filter(({ path: place }) => others.includes(formatPath(place)));
};

/** One that the class of the type does not require, or that becomes empty. */
const missingEndpoint = (
  settings: JsonObject,
  { api, type, known, path }: Entry,
  places: Places,
  { server: { catalogue } }: Facts,
  valueOf: ValueOf,
): ReadonlyArray<EntryFinding> => {
  const { endpoint = "", fields } = known;
  const { needed, startsWithout } = endpointExpectation(catalogue, api, type) ?? {};
  const isRequired = fields[endpoint]?.required === true;
  if (needed !== true || mayBeSet(settings[endpoint], valueOf) || absentFields(fields, settings).includes(endpoint)) {
    return [];
  }
  const message = `required by provider type "${type}"${formerName(endpoint, settings, known, places)}`;
  return startsWithout !== true || isRequired ? [{ path: [...path, endpoint], message, isFatal: true }] : [{
    path: [...path, endpoint],
    message: `${message}; the server starts, and the provider does not answer`,
    isFatal: false,
    code: "EndpointIncomplete",
  }];
};

/** Dotted. */
const missingFields = (settings: JsonObject, { fields, references = {} }: ProviderType): ReadonlyArray<string> => {
  const stores = Object.entries(references)
    .filter(([dotted, reference]) =>
      // Some vector providers crash without it, though their schema does not require it.
      (reference.required === true || dotted === "persistence") && at(settings, ...dotted.split(".")) === undefined
    ).map(([dotted]) => dotted);
  return [...new Set([...absentFields(fields, settings), ...stores])];
};
