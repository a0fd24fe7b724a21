/** OGX 1.2 – 1.5 and newer 1.x until proven otherwise: what differs from OGX 0.8. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_7 } from "./family_0_7.ts";
import { FAMILY_0_8 } from "./family_0_8.ts";
import { UNREAD_TYPES } from "./unstartable_types.ts";

export const FAMILY_1_2: ServerFamily = {
  ...FAMILY_0_8,
  name: "1.2",
  servers: "OGX 1.2 – 1.5",
  from: [1, 2],
  to: [1, Number.POSITIVE_INFINITY],
  process: {
    ...FAMILY_0_8.process,
    metricsSwitch: "OGX_METRICS_ENDPOINT_ENABLED",
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
    ...FAMILY_0_7.insteadOf,
  },
  unstartableTypes: UNREAD_TYPES,
  rerankTypes: ["inline::sentence-transformers", "remote::llama-cpp-server", "remote::nvidia", "remote::vllm"],
  shields: false,
  tools: {
    ...FAMILY_0_8.tools,
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
  },
  // A file with neither certificate nor this key is refused by the server's own command line.
  serverWithoutTls: { insecure: true },
  rawSqlUrl: false,
  redisDefect: undefined,
  sqliteSharesKeys: false,
};
