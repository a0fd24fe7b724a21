/** APIs of a config that no provider serves, or that a provider of it needs, and for which the server does not start. */
import { isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { entriesOf } from "../draft.ts";
import { type KnownEnvironment, type KnownVariables, readValue, stateOf, type ValueOf } from "../known_environment.ts";
import { providerType } from "../servers/catalogue.ts";
import { isOlderMinor, type Server, serverName } from "../servers/families/families.ts";
import type { EntryFinding } from "./entry_findings.ts";

/** Whether the server routes this API: one that is not in a list of APIs has neither router nor registry. */
export const isRouted = (config: JsonObject, api: string): boolean => {
  const listed = listAt(config, "apis");
  return listed.length === 0 || listed.includes(api);
};

/** With the names of the APIs that the server reads, as far as the variables in them are known. */
export const withReadApis = (config: JsonObject, valueOf: ValueOf): JsonObject => {
  const apis = listAt(config, "apis");
  if (!apis.some(hasVariable)) return config;
  return put(config, ["apis"], apis.map((api) => readValue(api, valueOf) ?? api)) as JsonObject;
};

const hasVariable = (api: Json): boolean => typeof api === "string" && api.includes("${env.");

/** Names that come of variables. The others are judged with the shape of the config (base.ts). */
export const foreignApisOfVariables = (
  config: JsonObject,
  { catalogue, version }: Server,
  { valueOf }: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  ![undefined, ""].includes(stringAt(config, "external_apis_dir"))
    ? []
    : listAt(config, "apis").flatMap((api, index): ReadonlyArray<EntryFinding> => {
      const read = hasVariable(api) ? readValue(api, valueOf) : undefined;
      return typeof read !== "string" || Object.hasOwn(catalogue.apis, read) ? [] : [{
        path: ["apis", index],
        message: `becomes ${quoted(read)}, and ${serverName(version)} has no API of this name`,
        isFatal: true,
      }];
    });

/** Source: resolve_impls and instantiate_providers in core/resolver.py, and the loop over the APIs in core/server/server.py. */
export const apiFindings = (
  config: JsonObject,
  { catalogue, version }: Server,
  environment: KnownEnvironment,
): ReadonlyArray<EntryFinding> => {
  const kindOf = (api: string) => Object.hasOwn(catalogue.apis, api) ? catalogue.apis[api] : undefined;
  const isServed = (api: string) => entriesOf(config, api).some((entry) => stateOf(entry, environment) !== "Off");
  /** What is to be done for an API that is not there; undefined if it is, or may be. */
  const way = (api: string): string | undefined => {
    if (api === "connectors" && isOlderMinor(version, "0.5")) {
      return "which this server does not have yet; use 0.5 or newer";
    }
    const { kind, router = api } = kindOf(api) ?? { kind: "internal" };
    if (kind === "direct") return isServed(api) ? undefined : `which no provider serves; add one to providers.${api}`;
    return kind === "internal" || isRouted(config, router) || listAt(config, "apis").some(hasVariable)
      ? undefined
      : `which the server does not open; add ${router} to apis`;
  };
  // From 1.5 on, the server leaves out what it does not have.
  const listed = isOlderMinor(version, "1.5") ? listAt(config, "apis").map(String) : [];
  return [
    ...listed.flatMap((api, index): ReadonlyArray<EntryFinding> => {
      const found = way(api);
      return found === undefined
        ? []
        : [{ path: ["apis", index], message: `names the API ${api}, ${found}, or remove the name`, isFatal: true }];
    }),
    ...Object.keys(objectAt(config, "providers")).filter((api) => kindOf(api)?.kind === "table")
      .map((api): EntryFinding => ({
        path: ["providers", api],
        message: `the server provides the API ${api} itself; remove the key`,
        isFatal: true,
      })),
    ...(isServed("vector_io") ? unownedStores(config, version) : []),
    ...Object.keys(objectAt(config, "providers")).flatMap((api) =>
      entriesOf(config, api).flatMap((entry, index): ReadonlyArray<EntryFinding> => {
        if (stateOf(entry, environment) !== "On") return [];
        const type = stringAt(entry, "provider_type") ?? "";
        return (providerType(catalogue, api, type)?.requires ?? []).flatMap((name): ReadonlyArray<EntryFinding> => {
          const found = way(name);
          return found === undefined ? [] : [{
            path: ["providers", api, index],
            message: `${type} requires the API ${name}, ${found}`,
            isFatal: true,
          }];
        });
      })
    ),
  ];
};

/** Source: initialize_openai_vector_stores in providers/utils/memory/openai_vector_store_mixin.py, since 1.1. */
const unownedStores = (config: JsonObject, version: string): ReadonlyArray<EntryFinding> => {
  const stores = objectAt(config, "storage", "stores");
  const hasPolicy = listAt(config, "server", "auth", "access_policy").length > 0;
  const hasTenants = !isOlderMinor(version, "1.2") && stringAt(config, "server", "tenancy", "mode") === "multi";
  if (isOlderMinor(version, "1.1") || !hasPolicy && !hasTenants || isObject(stores.vector_stores)) return [];
  return [{
    path: ["storage", "stores", "vector_stores"],
    message: `required beside server.${hasPolicy ? "auth.access_policy" : "tenancy.mode multi"}, as ` +
      "{backend: sql_default, table_name: vector_store_metadata}",
    isFatal: true,
  }];
};
