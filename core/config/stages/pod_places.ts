/** Addresses and files of a config that are in the pod alone: what answers at localhost, and what no claim keeps. */
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { isOfPod } from "../connections/endpoint.ts";
import { type Declared, entriesOf, type Facts } from "../draft.ts";
import {
  expandedText,
  invalidPlaceholder,
  type KnownVariables,
  LITERAL_PLACEHOLDER,
  mayBeSet,
  readValue,
  stateOf,
  variablesIn,
} from "../known_environment.ts";
import { isInVolume } from "../mounted_files.ts";
import { endpointExpectation, providerType } from "../servers/catalogue.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { unmadeFolders } from "./unmade_folders.ts";

/** Of the places that the server uses, if `whole` is its config. */
export const placeFindings = (
  config: JsonObject,
  facts: Pick<Facts, "spec" | "server" | "folders">,
  known: KnownVariables,
  whole = config,
): ReadonlyArray<EntryFinding> => {
  const { family } = facts.server;
  const isUsed = usedBackends(whole, known);
  const unmade = unmadeFolders(config, whole, facts, known, isUsed);
  const isUnmade = ({ path }: EntryFinding) => unmade.some((other) => formatPath(other.path) === formatPath(path));
  return [
    ...podAddresses(config, facts, known),
    ...filesOutsideClaim(config, facts, known).filter((finding) => !isUnmade(finding)),
    ...literalPlaceholders(config),
    ...unmade,
  ].filter(({ path }) =>
    !family.ignoredKeys.some((key) => key.every((part, index) => part === path[index])) &&
    (path[0] !== "storage" || path[1] !== "backends" || isUsed(String(path[2])))
  );
};

/** In the storage backends; those of providers are judged by the fields of their types. */
const literalPlaceholders = (config: JsonObject): ReadonlyArray<EntryFinding> => {
  const within = (value: Json, path: FieldPath): ReadonlyArray<EntryFinding> => {
    if (isList(value)) return value.flatMap((item, index) => within(item, [...path, index]));
    if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => within(inner, [...path, key]));
    return typeof value === "string" && invalidPlaceholder(value)
      ? [{ path, message: LITERAL_PLACEHOLDER, isFatal: false, code: "VariableUnfit" }]
      : [];
  };
  return within(objectAt(config, "storage", "backends"), ["storage", "backends"]);
};

/**
 * Which storage backends a server connects to: those that something names, and those that stores have by
 * default. Source: StorageConfig in core/storage/datatypes.py.
 */
const usedBackends = (config: JsonObject, known: KnownVariables): (backend: string) => boolean => {
  const named = (value: Json): ReadonlyArray<string> => {
    if (isList(value)) return value.flatMap(named);
    if (!isObject(value) || "provider_id" in value && stateOf(value, known.environment) === "Off") return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key !== "backend" || typeof inner !== "string"
        ? named(inner)
        : String(expandedText(inner, known.valueOf) ?? inner)
    );
  };
  const { storage: _, ...others } = config;
  const names = [...named(others), ...named(objectAt(config, "storage", "stores"))];
  const isOpen = names.some((name) => name.includes("${env."));
  return (backend) => isOpen || DEFAULT_BACKENDS.includes(backend) || names.includes(backend);
};

const DEFAULT_BACKENDS = ["kv_default", "sql_default"];

/** Of providers that are on, and of databases. A host that is left out is localhost, too. */
const podAddresses = (
  config: JsonObject,
  { server: { catalogue } }: Pick<Facts, "server">,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const found = (path: FieldPath, value: Json | undefined): ReadonlyArray<EntryFinding> => {
    const message = ofPod(value === undefined ? "localhost" : typeof value === "string" ? value : "", known);
    return message === undefined ? [] : [{ path, message, isFatal: false, code: "EndpointOfPod" }];
  };
  const databases = (value: Json, path: FieldPath): ReadonlyArray<EntryFinding> => {
    if (isList(value)) return value.flatMap((item, index) => databases(item, [...path, index]));
    if (!isObject(value)) return [];
    if (DATABASE.test(stringAt(value, "type") ?? "")) {
      // Beside a URL, the server rejects a host, also in place of the one that is left out.
      const field = mayBeSet(value.connection_string, known.valueOf) ? "connection_string" : "host";
      return found([...path, field], value[field]);
    }
    return Object.entries(value).flatMap(([key, inner]) => databases(inner, [...path, key]));
  };
  const providers = Object.keys(objectAt(config, "providers")).flatMap((api) =>
    entriesOf(config, api).flatMap((entry, index): ReadonlyArray<EntryFinding> => {
      if (stateOf(entry, known.environment) !== "On") return [];
      const path = ["providers", api, index, "config"];
      const type = stringAt(entry, "provider_type") ?? "";
      const settings = objectAt(entry, "config");
      const endpoint = providerType(catalogue, api, type)?.endpoint;
      const address = endpoint === undefined ? undefined : settings[endpoint];
      // Some servers know a service only as their vendor's cloud, and as localhost.
      const isCloud = endpointExpectation(catalogue, api, type)?.isCloud === true;
      return [
        ...(endpoint === undefined || address === undefined || isCloud ? [] : found([...path, endpoint], address)),
        ...databases(settings, path),
      ];
    })
  );
  const rest = Object.entries(config).filter(([key]) => key !== "providers")
    .flatMap(([key, value]) => databases(value, [key]));
  return [...providers, ...rest];
};

/** The same of what a resource declares: of its providers, and of its databases. */
export const declaredPodAddresses = (
  declared: ReadonlyArray<Declared>,
  { spec, server: { catalogue } }: Pick<Facts, "spec" | "server">,
  known: KnownVariables,
): ReadonlyArray<Warning> => {
  const found = (path: FieldPath, text: string): ReadonlyArray<Warning> => {
    const message = ofPod(text, known);
    return message === undefined ? [] : [warning("EndpointOfPod", path, message)];
  };
  const databases = (value: Json | undefined, path: FieldPath): ReadonlyArray<Warning> => {
    if (isList(value)) return value.flatMap((item, index) => databases(item, [...path, index]));
    return !isObject(value)
      ? []
      : Object.entries(value).flatMap(([key, inner]) =>
        ["endpoint", "host"].includes(key) && typeof inner === "string"
          ? found([...path, key], inner)
          : databases(inner, [...path, key])
      );
  };
  return [
    ...declared.flatMap(({ api, type, config, path }) => {
      const field = providerType(catalogue, api, type)?.endpoint ?? "";
      const entry = listAt(spec as unknown as Json, "providers", String(path[2]))[Number(path[3])];
      const isSetting = at(entry, "settings", field) !== undefined;
      return endpointExpectation(catalogue, api, type)?.isCloud === true
        ? []
        : found([...path, ...(isSetting ? ["settings", field] : ["endpoint"])], stringAt(config, field) ?? "");
    }),
    ...databases(spec.storage as unknown as Json | undefined, ["spec", "storage"]),
  ];
};

const ofPod = (text: string, { environment, valueOf }: KnownVariables): string | undefined => {
  const read = readValue(text, valueOf);
  if (typeof read !== "string" || !isOfPod(read)) return undefined;
  const unset = variablesIn(text).filter((name) => environment(name) === "Unset");
  return `${IN_POD}; ${unset.length === 0 ? "write the host of a Service" : `set ${unset.join(", ")}`}`;
};

/** Nothing can add a container to the pod but a webhook of the cluster. */
const IN_POD = "this host is the pod itself, where nothing answers unless the cluster adds a container to its pods";

const DATABASE = /^((kv|sql)_)?(redis|postgres|mongodb)$/;

/** Databases and folders of a config outside of the claim that the resource asks for. */
const filesOutsideClaim = (
  config: JsonObject,
  { spec, folders }: Pick<Facts, "spec" | "folders">,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  if (spec.workload?.storage === undefined) return [];
  const within = (value: Json, path: FieldPath): ReadonlyArray<EntryFinding> => {
    if (isList(value)) return value.flatMap((item, index) => within(item, [...path, index]));
    if (isObject(value)) {
      if (path[0] === "providers" && path.length === 3 && stateOf(value, known.environment) !== "On") return [];
      return Object.entries(value).flatMap(([key, inner]) => within(inner, [...path, key]));
    }
    if (typeof value !== "string" || !DATA.includes(String(path.at(-1)))) return [];
    const file = readValue(value, known.valueOf);
    // The home folder depends on the image.
    if (typeof file !== "string" || file === "" || /^[~:]/.test(file) || isInVolume(file, { spec, folders })) return [];
    return [{
      path,
      message:
        `the claim is mounted at ${folders.mount}, and what is outside of it is lost with the pod; use a path below ` +
        folders.state,
      isFatal: false,
      code: "DataNotKept",
    }];
  };
  return within(config, []);
};

const DATA = ["db_path", "storage_dir"];
