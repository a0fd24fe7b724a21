/**
 * The names of the server's APIs, of every supported server family, and the names under which the custom resource knows them.
 *
 * Source: the `Api` enum of the published server packages, Llama Stack 0.2.13 to OGX 1.5.
 */

/** snake_case, as `apis` and `providers` of config.yaml write them. */
export const API_NAMES = [
  "admin",
  "agents",
  "batches",
  "benchmarks",
  "connectors",
  "container_runtime",
  "containers",
  "conversations",
  "datasetio",
  "datasets",
  "eval",
  "file_processors",
  "files",
  "inference",
  "inspect",
  "interactions",
  "messages",
  "models",
  "post_training",
  "prompts",
  "providers",
  "responses",
  "safety",
  "scoring",
  "scoring_functions",
  "shields",
  "skills",
  "telemetry",
  "tool_groups",
  "tool_runtime",
  "vector_dbs",
  "vector_io",
  "vector_stores",
] as const;

/** Fields of spec that make a config, which `overrideConfig` replaces. */
export const CONFIG_FIELDS = [
  "baseConfig",
  "providers",
  "resources",
  "connectors",
  "vectorStores",
  "storage",
  "disabled",
  "externalProviders",
  "auth",
  "tenancy",
] as const;

/** As the lists of the spec are called: the name of one API does not show where its second word begins. */
export const camelCase = (name: string): string =>
  name === "datasetio" ? "datasetIo" : name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Both spellings, as `spec.disabled` accepts them, sorted. */
export const DISABLED_NAMES: ReadonlyArray<string> = [...new Set(API_NAMES.flatMap((name) => [name, camelCase(name)]))]
  .sort();

/** An API, one provider of it in the base config, or all of them. */
export const DISABLED_PATTERN = new RegExp(
  `^(${DISABLED_NAMES.join("|")})(/([*]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?))?$`,
  "u",
);
export const DISABLED_EXPECTED = "an API, or <API>/<id of a provider>";

/** Servers from 0.7 on call the agents API responses. */
const RENAMED: Readonly<Record<string, string>> = { agents: "responses", responses: "agents" };

/** Every name of an API, in both spellings of `spec.disabled` and before it was renamed. */
export const namesOfApi = (api: string): ReadonlyArray<string> => {
  const renamed = Object.hasOwn(RENAMED, api) ? RENAMED[api] : undefined;
  return [...new Set([api, camelCase(api), ...(renamed === undefined ? [] : [renamed])])];
};

/**
 * The lists of `spec.providers`, in the order in which messages name them, each with its API in config.yaml; `apiOn` has the
 * name of an API that servers renamed.
 */
export const PROVIDER_LISTS = [
  { field: "inference", api: "inference" },
  { field: "safety", api: "safety" },
  { field: "vectorIo", api: "vector_io" },
  { field: "toolRuntime", api: "tool_runtime" },
  { field: "files", api: "files" },
  { field: "telemetry", api: "telemetry" },
  { field: "responses", api: "responses" },
  { field: "batches", api: "batches" },
  { field: "fileProcessors", api: "file_processors" },
  { field: "messages", api: "messages" },
  { field: "interactions", api: "interactions" },
  { field: "skills", api: "skills" },
  { field: "datasetIo", api: "datasetio" },
  { field: "scoring", api: "scoring" },
  { field: "eval", api: "eval" },
  { field: "postTraining", api: "post_training" },
] as const;

/** The lists of `spec.externalProviders`, in the order of installation, each with its API in config.yaml. */
export const EXTERNAL_LISTS = [
  { field: "inference", api: "inference" },
  { field: "safety", api: "safety" },
  { field: "agents", api: "agents" },
  { field: "vectorIo", api: "vector_io" },
  { field: "datasetIo", api: "datasetio" },
  { field: "scoring", api: "scoring" },
  { field: "eval", api: "eval" },
  { field: "toolRuntime", api: "tool_runtime" },
  { field: "postTraining", api: "post_training" },
] as const;

export type ProviderList = typeof PROVIDER_LISTS[number]["field"];
