/** Llama Stack 0.2.13 – 0.2.24: what differs from 0.3. Before 0.2.13 the environment was written in another way. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_3 } from "./family_0_3.ts";
import { STORES_IN_PLACE } from "./stores_in_place.ts";
import { LEGACY_TYPES, TYPES_WITHOUT_MODELS } from "./unstartable_types.ts";

export const FAMILY_LEGACY: ServerFamily = {
  ...FAMILY_0_3,
  name: "legacy",
  servers: "Llama Stack 0.2.13 – 0.2.24",
  from: [0, 2],
  to: [0, 2],
  fromPatch: 13,
  process: {
    ...FAMILY_0_3.process,
    // Its factory requires arguments, and its module was moved in 0.2.17; all versions have the same command line.
    start: { kind: "command", module: "llama_stack.cli.llama", words: "stack run" },
    openAiPath: "/v1/openai/v1",
    // Traces contain the keys of providers: with the console exporter, the default of every base config, they would be
    // in the log.
    environment: { TELEMETRY_SINKS: "sqlite" },
  },
  ignoredKeys: [
    ["telemetry"],
    ["storage"],
    ["registered_resources"],
    ["connectors"],
    ["vector_stores"],
    ["safety"],
    ["logging"],
  ],
  insteadOf: {},
  unstartableTypes: LEGACY_TYPES,
  typesWithoutModels: TYPES_WITHOUT_MODELS,
  telemetryProviders: true,
  vectorStoreDefaults: false,
  resourcesAt: [],
  modelsAreKnownBy: "modelId",
  modelIdsInFull: true,
  stores: STORES_IN_PLACE,
};
