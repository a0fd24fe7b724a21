/** Resources of a config that the server refuses when it registers them, and with which it does not start. */
import { type KnownVariables } from "../known_environment.ts";
import { isObject, isSameValue, type Json, type JsonObject, member, stringAt } from "../../data/json.ts";
import { formatPath } from "../../data/field_path.ts";
import { isOlderMinor, type Server, serverName } from "../servers/families/families.ts";
import { isRouted } from "./api_findings.ts";
import { datasetsWithRows } from "./datasets_of_nvidia.ts";
import { unfitCollection } from "./collection_names.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { llamaFindings } from "./llama_models.ts";
import { modelKey } from "./models.ts";
import { builtInFunctions, FUNCTIONS_SINCE, hasFixedFunctions, TYPES_TAKING_FUNCTIONS } from "./scoring_functions.ts";
import { entryOf } from "../draft.ts";
import { isUnaddressed } from "./tools.ts";
import { hasProvider, isRegistering, mayBeLeftOut, registeredIn } from "./registering.ts";

export const registrationFindings = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => [
  ...(isRouted(config, "inference")
    ? [...withoutDimension(config, server, known), ...llamaFindings(config, server, known)]
    : []),
  ...(isRouted(config, "vector_io") ? unfitCollections(config, server, known) : []),
  ...(isRegistering(config, server, "datasets") ? datasetsWithRows(config, server, known) : []),
  ...doubledResources(config, server, known),
  ...(isRegistering(config, server, "scoring_fns") ? unregistrableFunctions(config, server, known) : []),
  ...(server.family.toolGroups && isRouted(config, "tool_runtime") ? withoutAddress(config, server, known) : []),
];

/** Groups of providers that ask an MCP server for its tools. */
const withoutAddress = (config: JsonObject, server: Server, known: KnownVariables): ReadonlyArray<EntryFinding> =>
  surelyRegistered(config, "tool_groups", server, known).filter(({ resource }) => isUnaddressed(config)(resource))
    .map(({ path }) => ({
      path: [...path, "mcp_endpoint"],
      message: "missing, and its provider asks the MCP server for its tools; write mcp_endpoint: { uri: <address> }",
      isFatal: true,
    }));

type Registered = ReturnType<typeof registeredIn>;

/** Those that the server surely registers. */
const surelyRegistered = (config: JsonObject, section: string, server: Server, known: KnownVariables): Registered =>
  registeredIn(config, server.family, section, known).filter(({ resource }) =>
    hasProvider(resource) && !mayBeLeftOut(resource, known)
  );

const unfitCollections = (config: JsonObject, server: Server, known: KnownVariables): ReadonlyArray<EntryFinding> =>
  surelyRegistered(config, "vector_stores", server, known).flatMap(({ resource, path }) => {
    const [name, provider] = [stringAt(resource, "vector_store_id"), stringAt(resource, "provider_id") ?? ""];
    const type = stringAt(entryOf(config, "vector_io", provider), "provider_type") ?? "";
    const message = name === undefined ? undefined : unfitCollection(type, name);
    return message === undefined ? [] : [{ path: [...path, "vector_store_id"], message, isFatal: true }];
  });

/** Source: register_model in core/routing_tables/models.py. From 0.8 on, an error about a model of all providers is logged only. */
const withoutDimension = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  surelyRegistered(config, "models", server, known).flatMap(({ resource, path }): ReadonlyArray<EntryFinding> => {
    const metadata = member(resource, "metadata") ?? {};
    const isEmbedding = stringAt(resource, "model_type") === "embedding";
    if (!isEmbedding || !isObject(metadata) || Object.hasOwn(metadata, "embedding_dimension")) return [];
    const isLogged = stringAt(resource, "provider_id") === "all" && !isOlderMinor(server.version, "0.8");
    return [{
      path: [...path, "metadata", "embedding_dimension"],
      message: `missing, and without it the server registers no embedding model; write the number of dimensions`,
      isFatal: !isLogged,
      ...(isLogged ? { code: "ResourceNotRegistered" as const } : {}),
    }];
  });

/** Source: _register_resources in core/stack.py, and register_scoring_function of each type of provider. */
const unregistrableFunctions = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  const taken = builtInFunctions(config);
  return surelyRegistered(config, "scoring_fns", server, known).flatMap(({ resource, path }) => {
    const fatal = (key: string, message: string): EntryFinding => ({ path: [...path, key], message, isFatal: true });
    const [id, provider] = [stringAt(resource, "scoring_fn_id") ?? "", stringAt(resource, "provider_id") ?? ""];
    const type = stringAt(entryOf(config, "scoring", provider), "provider_type") ?? "";
    if (isOlderMinor(server.version, FUNCTIONS_SINCE)) {
      const way = `remove it, or use ${
        serverName(FUNCTIONS_SINCE)
      } or newer; the functions of its providers need no entry`;
      return [{ path, message: `this server registers no scoring function; ${way}`, isFatal: true }];
    }
    return [
      ...(hasFixedFunctions(type)
        ? [
          fatal("provider_id", `${type} takes no functions beside its own; use ${TYPES_TAKING_FUNCTIONS.join(" or ")}`),
        ]
        : taken.includes(id)
        ? [fatal("scoring_fn_id", "the function of a provider has this id; choose another one")]
        : []),
      ...(stringAt(resource, "description") === undefined
        ? [fatal("description", "missing, and the server registers no function without it")]
        : []),
    ];
  });
};

/** What the server compares of two resources with one id, where it is not written too. */
const DEFAULTS: Readonly<Record<string, (resource: JsonObject) => JsonObject>> = {
  models: (model) => ({ provider_model_id: model.model_id ?? null, model_type: "llm", metadata: {} }),
  shields: (shield) => ({ provider_shield_id: shield.shield_id ?? null, params: {} }),
  vector_stores: (store) => ({ provider_vector_store_id: store.vector_store_id ?? null }),
  datasets: () => ({ metadata: {} }),
  benchmarks: (benchmark) => ({ metadata: {}, provider_benchmark_id: benchmark.benchmark_id ?? null }),
  tool_groups: () => ({}),
};

const ID_OF: Readonly<Record<string, string>> = { tool_groups: "toolgroup_id" };

/** Source: register in core/store/registry.py. Servers before 0.3 keep the first. */
const doubledResources = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  isOlderMinor(server.version, "0.3") ? [] : Object.entries(DEFAULTS).flatMap(([section, defaults]) => {
    if (!isRegistering(config, server, section)) return [];
    const all = surelyRegistered(config, section, server, known)
      .filter(({ resource }) => stringAt(resource, "provider_id") !== "all");
    const keyOf = ({ resource }: Registered[number]) =>
      section === "models"
        ? modelKey(resource, server.family)
        : stringAt(resource, ID_OF[section] ?? `${section.slice(0, -1)}_id`);
    return all.flatMap((one, index): ReadonlyArray<EntryFinding> => {
      const first = all.slice(0, index).find((other) => keyOf(other) === keyOf(one));
      if (first === undefined || keyOf(one) === undefined) return [];
      const [read, before] = [one, first].map(({ resource }) => ({ ...defaults(resource), ...written(resource) }));
      const unlike = Object.keys({ ...read, ...before }).filter((key) =>
        key !== "model_id" && !isAlike(read?.[key], before?.[key])
      );
      return unlike.length === 0 ? [] : [{
        path: one.path,
        message: `the same id as ${formatPath(first.path)}, but another ${
          unlike.join(" and ")
        }, and the server registers one id once; remove one of the two, or choose another id`,
        isFatal: true,
      }];
    });
  });

const written = (resource: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== null));

/** What comes from a variable may be the same. */
const isAlike = (one: Json | undefined, other: Json | undefined): boolean =>
  isSameValue(one, other) || [one, other].some((value) => JSON.stringify(value ?? null).includes("${env."));
