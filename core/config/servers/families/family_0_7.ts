/** Llama Stack 0.7.0 – 0.7.3, the last servers of that name. */
import type { ServerFamily } from "./family.ts";
import { STORES_IN_BACKENDS } from "./stores_in_backends.ts";

/** What the top level of Llama Stack 0.2 has, and what no server reads. */
export const IGNORED_SINCE_0_3: ServerFamily["ignoredKeys"] = [
  ["metadata_store"],
  ["inference_store"],
  ["conversations_store"],
  ["models"],
  ["shields"],
  ["vector_dbs"],
  ["datasets"],
  ["scoring_fns"],
  ["benchmarks"],
  ["tool_groups"],
  ["registered_resources", "vector_dbs"],
  ["logging"],
];

export const FAMILY_0_7: ServerFamily = {
  name: "0.7",
  servers: "Llama Stack 0.7",
  from: [0, 7],
  to: [0, 7],
  process: {
    start: { kind: "factory", factory: "llama_stack.core.server.server:create_app" },
    configVariable: "LLAMA_STACK_CONFIG",
    portVariable: "LLAMA_STACK_PORT",
    loggingVariable: "LLAMA_STACK_LOGGING",
    quietStartup: "core=warning",
    healthPath: "/v1/health",
    metricsSwitch: undefined,
    sendsMetrics: true,
    openAiPath: "/v1",
    environment: {},
    failedStart: 1,
  },
  // Source: StackConfig and RegisteredResources in core/datatypes.py; the latter empties its tool_groups.
  ignoredKeys: [
    ...IGNORED_SINCE_0_3,
    ["telemetry"],
    ["registered_resources", "tool_groups"],
  ],
  droppedApis: [],
  droppedKeys: [],
  insteadOf: {
    telemetry: "it is converted to OTEL_* environment variables",
  },
  apiAliases: { agents: "responses" },
  typeAliases: {
    "vector_io inline::meta-reference": "inline::faiss",
    "tool_runtime inline::rag-runtime": "inline::file-search",
  },
  unstartableTypes: {},
  typesWithoutModels: [],
  rerankTypes: ["inline::transformers", "remote::nvidia", "remote::vllm"],
  skipsEmptyIds: true,
  shields: true,
  toolGroups: false,
  vectorStoreDefaults: true,
  telemetryProviders: false,
  resourcesAt: ["registered_resources"],
  modelsAreKnownBy: "providerModelId",
  modelIdsInFull: false,
  tools: {
    websearch: {
      types: ["remote::brave-search", "remote::tavily-search", "remote::bing-search"],
      group: "builtin::websearch",
    },
    rag: { types: ["inline::file-search"], group: "builtin::file_search" },
    file_search: { types: ["inline::file-search"], group: "builtin::file_search" },
    wolfram_alpha: { types: ["remote::wolfram-alpha"], group: "builtin::wolfram_alpha" },
  },
  serverWithoutTls: {},
  stores: STORES_IN_BACKENDS,
  rawSqlUrl: true,
  // Its Redis connections belong to an event loop that has ended once the start is over; the second use opens new ones.
  redisDefect: "on this server the first request that uses Redis fails after each start, and later ones succeed; " +
    "kv of type postgres is not affected",
  sqliteSharesKeys: true,
};
