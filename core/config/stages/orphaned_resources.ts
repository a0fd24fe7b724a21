/** Resources of a config whose provider or model is not in it, and for which the server does not start. */
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { entriesOf, entryOf } from "../draft.ts";
import { type KnownEnvironment, stateOf } from "../known_environment.ts";
import { baseId, isConditional } from "../servers/base.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import { isRouted } from "./api_findings.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { isFirstProvider, modelKey } from "./models.ts";
import { targetsOf } from "./shields.ts";

/** Without datasets, whose provider the servers choose by the source of the data. */
const API_OF: Readonly<Record<string, string>> = {
  models: "inference",
  shields: "safety",
  vector_stores: "vector_io",
  vector_dbs: "vector_io",
  scoring_fns: "scoring",
  benchmarks: "eval",
  tool_groups: "tool_runtime",
};

/**
 * Resources whose provider is not in the config. Others come from the environment, and those of an API that the server
 * does not open are not registered. Source: register_resources in core/stack.py, register_object in
 * core/routing_tables/common.py.
 */
export const orphanedResources = (
  config: JsonObject,
  { family, version }: Server,
  /** Undefined: providers behind a variable count as there. */
  environment: KnownEnvironment | undefined,
  isProvided: (api: string, id: string) => boolean = () => false,
): ReadonlyArray<EntryFinding> => {
  const dead = [...family.ignoredKeys, ...family.droppedKeys].map((path) => path.join("."));
  return Object.entries(API_OF).flatMap(([section, api]) => {
    const place = [...family.resourcesAt, section];
    if (dead.includes(place.join(".")) || !isRouted(config, api)) return [];
    const ids = providersOf(config, api, environment);
    return listAt(config, ...place).flatMap((resource, index): ReadonlyArray<EntryFinding> => {
      const id = stringAt(resource, "provider_id");
      const refused = section === "shields" ? refusedTarget(config, resource) : undefined;
      if (refused !== undefined) return [{ path: [...place, index], message: refused, isFatal: true }];
      if (id === undefined || ["", "__disabled__"].includes(id) || isOfEnvironment(resource)) return [];
      if (isFirstProvider(id, version)) return [];
      if (ids.includes(id) || isProvided(api, id)) return [];
      return [{
        path: [...place, index, "provider_id"],
        message: `no ${api} provider of the config has this id`,
        isFatal: true,
      }];
    });
  });
};

/** Some types have shields of fixed names. Source: register_shield of these types. */
const refusedTarget = (config: JsonObject, shield: Json): string | undefined => {
  const named = stringAt(shield, "provider_id");
  const [target = ""] = ["provider_shield_id", "shield_id"].flatMap((key) => stringAt(shield, key) || []);
  const provider = named === undefined ? undefined : entryOf(config, "safety", named);
  const type = stringAt(provider, "provider_type") ?? "";
  const targets = targetsOf(type);
  if (provider === undefined || targets === undefined || targets.includes(target)) return undefined;
  if (isOfEnvironment(shield) || isConditional(provider)) return undefined;
  return `provider type "${type}" has no shield "${target}", only ${targets.join(" and ")}`;
};

/** Of a provider that is off, nothing can be registered. */
const providersOf = (config: JsonObject, api: string, environment: KnownEnvironment | undefined) =>
  entriesOf(config, api).filter((entry) => environment === undefined || stateOf(entry, environment) !== "Off")
    .map(baseId);

/** Whether a variable decides about the resource: its id, or that of its provider. */
const isOfEnvironment = (resource: unknown): boolean =>
  isObject(resource as JsonObject) &&
  Object.entries(resource as JsonObject).some(([key, value]) =>
    key.endsWith("_id") && typeof value === "string" && value.includes("${env.")
  );

/** The model that is expected at each place, and the minor version from which on the server looks for it. */
export const DEFAULT_MODELS: ReadonlyArray<readonly [place: ReadonlyArray<string>, type: string, since: string]> = [
  [["default_embedding_model"], "embedding", "0.4"],
  [["default_reranker_model"], "rerank", "0.7"],
  [["rewrite_query_params", "model"], "llm", "0.6"],
];

/**
 * Models that the section `vector_stores` names, and that the server cannot have, because their provider is not there or they
 * are registered as something else; or that it has only while the service of their provider answers. All others are
 * listed by the server itself. Source: validate_vector_stores_config
 * in core/stack.py.
 */
export const orphanedDefaults = (
  config: JsonObject,
  { family, version }: Server,
  environment: KnownEnvironment,
): ReadonlyArray<EntryFinding> => {
  const ids = providersOf(config, "inference", environment);
  return DEFAULT_MODELS.flatMap(([place, type, since]): ReadonlyArray<EntryFinding> => {
    if (isOlderMinor(version, since)) return [];
    const named = objectAt(config, "vector_stores", ...place);
    const [provider, model] = [stringAt(named, "provider_id"), stringAt(named, "model_id")];
    if (provider === undefined || model === undefined || `${provider}${model}`.includes("${env.")) return [];
    const path = ["vector_stores", ...place];
    if (!isRouted(config, "inference")) {
      return [{ path, message: "names a model, and apis does not list inference", isFatal: true }];
    }
    if (!ids.includes(provider)) {
      return [{
        path: [...path, "provider_id"],
        message: "no inference provider of the config has this id",
        isFatal: true,
      }];
    }
    const types = listAt(config, ...family.resourcesAt, "models").filter((one) =>
      isObject(one) && stringAt(one, "provider_id") === provider && modelKey(one, family) === `${provider}/${model}`
    ).map((one) => stringAt(one, "model_type") ?? "llm");
    if (types.length > 0) {
      return types.some((one) => one === type || one.includes("${env.")) ? [] : [{
        path: [...path, "model_id"],
        message: `this model is registered with model_type ${types[0]}, not ${type}`,
        isFatal: true,
      }];
    }
    return isListedByService(config, provider)
      ? [{ path: [...path, "model_id"], message: unregistered(type, family.resourcesAt), isFatal: false }]
      : [];
  });
};

const isListedByService = (config: JsonObject, provider: string): boolean =>
  entriesOf(config, "inference").some((entry) =>
    baseId(entry) === provider && (stringAt(entry, "provider_type") ?? "").startsWith("remote::")
  );

/** What a service lists has the type embedding or rerank only if the adapter knows the model, or its name says so. */
const unregistered = (type: string, resourcesAt: ReadonlyArray<string>): string =>
  `this model is not registered, so that the server starts only while the provider answers and lists ${
    type === "llm" ? "it" : `it as a model of type ${type}`
  }; add it to ${[...resourcesAt, "models"].join(".")} with model_type ${type}`;

/**
 * Embedding models of vector stores that are not registered: the server registers stores before it asks providers for
 * their models. Source: Stack.initialize in core/stack.py, register_vector_store in core/routing_tables/vector_stores.py.
 */
export const orphanedEmbeddings = (
  config: JsonObject,
  { family, version }: Server,
): ReadonlyArray<EntryFinding> => {
  if (isOlderMinor(version, "0.6") || !isRouted(config, "vector_io")) return [];
  const names = listAt(config, ...family.resourcesAt, "models").flatMap((model) => {
    const ids = [stringAt(model, "model_id"), stringAt(model, "provider_model_id")];
    return ids.flatMap((id) => id === undefined ? [] : [id, `${stringAt(model, "provider_id")}/${id}`]);
  });
  if (names.some((name) => name.includes("${env."))) return [];
  const place = [...family.resourcesAt, "vector_stores"];
  return listAt(config, ...place).flatMap((store, index): ReadonlyArray<EntryFinding> => {
    const [provider, model] = [stringAt(store, "provider_id"), stringAt(store, "embedding_model")];
    const isSkipped = provider === undefined || ["", "all", "__disabled__"].includes(provider);
    return isSkipped || model === undefined || isOfEnvironment(store) || model.includes("${env.") ||
        names.includes(model)
      ? []
      : [{
        path: [...place, index, "embedding_model"],
        message: `not a model of ${
          family.resourcesAt.join(".")
        }.models, and no other one is known that early; register it`,
        isFatal: true,
      }];
  });
};
