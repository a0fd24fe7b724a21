/** OGX 1.2 – 1.5 and newer 1.x until proven otherwise. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_7 } from "./family_0_7.ts";
import { FAMILY_0_8 } from "./family_0_8.ts";
import { STORES_IN_BACKENDS } from "./stores_in_backends.ts";
import { UNREAD_TYPES } from "./unstartable_types.ts";

export const FAMILY_1_2: ServerFamily = {
  name: "1.2",
  servers: "OGX 1.2 – 1.5",
  from: [1, 2],
  to: [1, Number.POSITIVE_INFINITY],
  process: {
    start: { kind: "factory", factory: "ogx.core.server.server:create_app" },
    configVariable: "OGX_CONFIG",
    portVariable: "OGX_PORT",
    loggingVariable: "OGX_LOGGING",
    quietStartup: "core=warning",
    healthPath: "/v1/health",
    metricsSwitch: "OGX_METRICS_ENDPOINT_ENABLED",
    sendsMetrics: true,
    openAiPath: "/v1",
    environment: {},
    // Built in the application's lifespan: uvicorn's own code for that. The server's command line would end with 0.
    failedStart: 3,
  },
  ignoredKeys: [
    ...FAMILY_0_7.ignoredKeys,
    ["server", "cors"],
    ["server", "quota"],
    ...FAMILY_0_8.droppedKeys,
  ],
  droppedApis: ["safety"],
  droppedKeys: [["safety"], ["registered_resources", "shields"]],
  insteadOf: {
    safety:
      "remove it, or set spec.distribution.serverVersion to 0.8.0, the last server that has it. OGX asks a moderation " +
      'service instead: set moderation_endpoint in the settings of a provider "builtin" in spec.providers.responses',
    telemetry: "it is converted to OTEL_* environment variables",
  },
  apiAliases: { agents: "responses" },
  typeAliases: {
    "vector_io inline::meta-reference": "inline::faiss",
    "tool_runtime inline::rag-runtime": "inline::file-search",
  },
  unstartableTypes: UNREAD_TYPES,
  typesWithoutModels: [],
  rerankTypes: ["inline::sentence-transformers", "remote::llama-cpp-server", "remote::nvidia", "remote::vllm"],
  skipsEmptyIds: true,
  shields: false,
  toolGroups: false,
  vectorStoreDefaults: true,
  telemetryProviders: false,
  resourcesAt: ["registered_resources"],
  modelsAreKnownBy: "modelId",
  modelIdsInFull: false,
  tools: {
    websearch: {
      types: [
        "remote::brave-search",
        "remote::tavily-search",
        "remote::bing-search",
        "remote::nimble-search",
        "remote::exa-search",
        "remote::serply-search",
      ],
      group: "builtin::websearch",
    },
    rag: { types: ["inline::file-search"], group: "builtin::file_search" },
    file_search: { types: ["inline::file-search"], group: "builtin::file_search" },
    wolfram_alpha: { types: ["remote::wolfram-alpha"], group: "builtin::wolfram_alpha" },
  },
  // A file with neither certificate nor this key is refused by the server's own command line.
  serverWithoutTls: { insecure: true },
  stores: STORES_IN_BACKENDS,
  rawSqlUrl: false,
  redisDefect: undefined,
  sqliteSharesKeys: false,
};
