/** OGX 0.8, the first one of that name: what differs from Llama Stack 0.7. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_7 } from "./family_0_7.ts";

export const FAMILY_0_8: ServerFamily = {
  ...FAMILY_0_7,
  name: "0.8",
  servers: "OGX 0.8",
  from: [0, 8],
  to: [0, 8],
  process: {
    ...FAMILY_0_7.process,
    start: { kind: "factory", factory: "ogx.core.server.server:create_app" },
    configVariable: "OGX_CONFIG",
    portVariable: "OGX_PORT",
    loggingVariable: "OGX_LOGGING",
  },
  droppedApis: ["datasetio", "eval", "scoring"],
  droppedKeys: [
    ["registered_resources", "datasets"],
    ["registered_resources", "scoring_fns"],
    ["registered_resources", "benchmarks"],
  ],
  insteadOf: {
    ...FAMILY_0_7.insteadOf,
    datasetio:
      "OGX has no evaluation APIs; set spec.distribution.serverVersion to 0.6.1, the last published Llama Stack",
    eval: "OGX has no evaluation APIs; set spec.distribution.serverVersion to 0.6.1, the last published Llama Stack",
    scoring: "OGX has no evaluation APIs; set spec.distribution.serverVersion to 0.6.1, the last published Llama Stack",
  },
  modelsAreKnownBy: "modelId",
};
