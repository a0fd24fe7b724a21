/** Resources of a config whose provider or model is not in it, and for which the server does not start. */
import type { FieldPath } from "../../data/field_path.ts";
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { entriesOf, entryOf } from "../draft.ts";
import { type KnownVariables, stateOf, variablesIn } from "../known_environment.ts";
import { baseId, conditionOf } from "../servers/base.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import { isRouted } from "./api_findings.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { API_OF, hasProvider, isRegistering, mayBeLeftOut, readId, registeredIn } from "./registering.ts";
import { isFirstProvider, modelKey } from "./models.ts";
import { targetsOf } from "./shields.ts";

/**
 * Resources whose provider is not in the config, or off. Others come from the environment, and those of an API that the server
 * does not open are not registered. Source: register_resources in core/stack.py, register_object in
 * core/routing_tables/common.py.
 */
export const orphanedResources = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const { family, version } = server;
  return Object.entries(API_OF).flatMap(([section, api]) => {
    // 0.3 registers none, whatever its config has.
    const isUnread = section === "vector_stores" && isOlderMinor(version, "0.4");
    // Of datasets the servers choose the provider by the source of the data.
    if (isUnread || section === "datasets" || !isRegistering(config, server, section)) return [];
    return registeredIn(config, family, section, known).flatMap(({ resource, path }): ReadonlyArray<EntryFinding> => {
      const id = stringAt(resource, "provider_id");
      // Shields without a provider are in configs of servers.
      if (id === undefined && section === "models" && !mayBeLeftOut(resource, known)) {
        return unowned(config, api, [...path, "provider_id"]);
      }
      if (id === undefined || ["", "__disabled__"].includes(id) || variablesIn(id).length > 0) return [];
      if (mayBeLeftOut(resource, known) || isFirstProvider(id, version)) return [];
      const missing = missingProvider(config, api, id, known);
      if (missing !== undefined) return [{ path: [...path, "provider_id"], message: missing, isFatal: true }];
      const refused = section === "shields" ? refusedTarget(config, resource, id) : undefined;
      return refused === undefined ? [] : [{ path, message: refused, isFatal: true }];
    });
  });
};

/** The server looks for no provider, even if there is only one. */
const unowned = (config: JsonObject, api: string, path: FieldPath): ReadonlyArray<EntryFinding> => {
  const ids = entriesOf(config, api).flatMap((entry) => baseId(entry) ?? []).filter((id) => !id.includes("${env."));
  const way = ids.length === 0 ? "the id of a provider" : ids.slice(0, 5).map((id) => `"${id}"`).join(" or ");
  return [{
    path,
    message: `missing, and the server registers nothing without it; write ${way}`,
    isFatal: false,
    code: "ResourceNotRegistered",
  }];
};

/** Some types have shields of fixed names. Source: register_shield of these types. */
const refusedTarget = (config: JsonObject, shield: JsonObject, providerId: string): string | undefined => {
  const [target = ""] = ["provider_shield_id", "shield_id"].flatMap((key) => stringAt(shield, key) || []);
  const type = stringAt(entryOf(config, "safety", providerId), "provider_type") ?? "";
  const targets = targetsOf(type);
  return targets === undefined || targets.includes(target) || isOfEnvironment(shield)
    ? undefined
    : `provider type "${type}" has no shield "${target}", only ${targets.join(" and ")}`;
};

/** Undefined if there is one with this id, or may be. Of a provider that is off, nothing can be registered. */
const missingProvider = (config: JsonObject, api: string, id: string, known: KnownVariables): string | undefined => {
  const entries = entriesOf(config, api);
  const isPresent = entries.some((entry) => {
    if (stateOf(entry, known.environment) === "Off") return false;
    const other = idOf(entry, known);
    return other === undefined || other === id;
  });
  if (isPresent) return undefined;
  const variable = entries.filter((entry) => baseId(entry) === id).map(conditionOf)[0];
  return variable === undefined
    ? `no ${api} provider of the config has this id`
    : `the ${api} provider "${id}" is disabled unless ${variable} is set; set ${variable} in spec.workload.overrides.env`;
};

/** Undefined if only the pod knows it. */
const idOf = (entry: JsonObject, known: KnownVariables): string | undefined =>
  conditionOf(entry) === undefined ? readId(baseId(entry), known) : baseId(entry);

/** Whether the value of an id is not known. */
const isOfEnvironment = (resource: JsonObject): boolean =>
  Object.entries(resource).some(([key, value]) =>
    (key.endsWith("_id") || key === "embedding_model") && typeof value === "string" &&
    variablesIn(value).length > 0
  );

/** The model that is expected at each place, and the minor version from which on the server looks for it. */
export const MODELS_OF_VECTOR_STORES: ReadonlyArray<
  readonly [place: ReadonlyArray<string>, type: string, since: string]
> = [
  [["default_embedding_model"], "embedding", "0.3"],
  [["default_reranker_model"], "rerank", "0.7"],
  [["rewrite_query_params", "model"], "llm", "0.4"],
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
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const models = registeredIn(config, family, "models", known).map(({ resource }) => resource);
  const isOpen = models.some(isOfEnvironment);
  return MODELS_OF_VECTOR_STORES.flatMap(([place, type, since]): ReadonlyArray<EntryFinding> => {
    if (isOlderMinor(version, since)) return [];
    const named = objectAt(config, "vector_stores", ...place);
    const [provider, model] = ["provider_id", "model_id"].map((key) => readId(stringAt(named, key), known));
    if (provider === undefined || model === undefined || provider === "" || model === "") return [];
    const path = ["vector_stores", ...place];
    if (!isRouted(config, "inference")) {
      return [{ path, message: "names a model, and apis does not list inference", isFatal: true }];
    }
    const missing = missingProvider(config, "inference", provider, known);
    if (missing !== undefined) return [{ path: [...path, "provider_id"], message: missing, isFatal: true }];
    const types = models.filter((one) =>
      stringAt(one, "provider_id") === provider && modelKey(one, family) === `${provider}/${model}`
    ).map((one) => stringAt(one, "model_type") ?? "llm");
    if (types.length > 0) {
      return types.some((one) => one === type || one.includes("${env.")) ? [] : [{
        path: [...path, "model_id"],
        message: `this model is registered with model_type ${types[0]}, not ${type}`,
        isFatal: true,
      }];
    }
    if (isOpen) return [];
    if (isListedByService(config, provider)) {
      return [{
        path: [...path, "model_id"],
        message: unregistered(type, family.resourcesAt),
        isFatal: false,
        code: "ConfigUnfit",
      }];
    }
    const own = ownModels(config, provider, type, version, known);
    return own === undefined || own.includes(model) ? [] : [{
      path: [...path, "model_id"],
      message: `not registered, and provider "${provider}" has ${
        own.length === 0 ? `no model of type ${type}` : `only ${own.join(", ")}`
      } of its own; add it to ${[...family.resourcesAt, "models"].join(".")} with model_type ${type}`,
      isFatal: true,
    }];
  });
};

/** Requests that name no provider go to it. Source: openai_create_vector_store in core/routers/vector_io.py. */
export const lostVectorProvider = (
  config: JsonObject,
  { catalogue: { models, config: { class: whole } } }: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const section = models[models[whole]?.fields.vector_stores?.model ?? ""];
  if (section?.fields.default_provider_id === undefined) return [];
  const id = readId(stringAt(config, "vector_stores", "default_provider_id"), known);
  if (id === undefined || id === "" || !isRouted(config, "vector_io")) return [];
  const missing = missingProvider(config, "vector_io", id, known);
  return missing === undefined ? [] : [{
    path: ["vector_stores", "default_provider_id"],
    message: `${missing}; the server starts, and creates no vector store unless a request names a provider`,
    isFatal: false,
    code: "DefaultMissing",
  }];
};

/**
 * Models that types have without being registered, in order of the minor version from which on they have them. Source: list_models in
 * providers/inline/inference.
 */
const OWN_MODELS: Readonly<
  Record<string, ReadonlyArray<readonly [since: string, type: string, models: ReadonlyArray<string>]>>
> = {
  "inline::sentence-transformers": [
    ["0.3", "embedding", ["nomic-ai/nomic-embed-text-v1.5"]],
    ["1.2", "rerank", ["Qwen/Qwen3-Reranker-0.6B"]],
  ],
  "inline::transformers": [["0.7", "rerank", ["Qwen/Qwen3-Reranker-0.6B"]]],
};

/** Undefined where they are not known. */
const ownModels = (
  config: JsonObject,
  provider: string,
  type: string,
  version: string,
  known: KnownVariables,
): ReadonlyArray<string> | undefined => {
  const entries = entriesOf(config, "inference").filter((entry) => stateOf(entry, known.environment) !== "Off");
  // Of others the id may be the same.
  if (entries.some((entry) => idOf(entry, known) === undefined)) return undefined;
  const own = stringAt(entries.findLast((entry) => idOf(entry, known) === provider), "provider_type") ?? "";
  return !Object.hasOwn(OWN_MODELS, own)
    ? undefined
    : OWN_MODELS[own]?.flatMap(([since, of, models]) => of === type && !isOlderMinor(version, since) ? models : []);
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
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const isLegacy = isOlderMinor(version, "0.3");
  // 0.3 looks for none.
  if (!isLegacy && isOlderMinor(version, "0.4") || !isRouted(config, "vector_io")) return [];
  const models = registeredIn(config, family, "models", known).map(({ resource }) => resource);
  if (models.some(isOfEnvironment)) return [];
  const idsOf = (model: JsonObject) => ["model_id", "provider_model_id"].flatMap((key) => stringAt(model, key) ?? []);
  const keysOf = (model: JsonObject) => isLegacy ? idsOf(model) : [modelKey(model, family)];
  const section = isLegacy ? "vector_dbs" : "vector_stores";
  return registeredIn(config, family, section, known).flatMap(({ resource: store, path }) => {
    const [provider, name = ""] = [stringAt(store, "provider_id"), stringAt(store, "embedding_model")];
    if (!hasProvider(store) || provider === "all" || name === "" || isOfEnvironment(store)) return [];
    if (models.some((model) => keysOf(model).includes(name))) return [];
    const meant = models.find((model) =>
      idsOf(model).some((id) => [id, `${stringAt(model, "provider_id")}/${id}`].includes(name))
    );
    return [{
      path: [...path, "embedding_model"],
      message: meant === undefined
        ? `not a model of ${
          [...family.resourcesAt, "models"].join(".")
        }, and no other one is known that early; register it`
        : `the server does not find the model under this name; write ${quoted(keysOf(meant)[0] ?? "")}`,
      isFatal: true,
    }];
  });
};
