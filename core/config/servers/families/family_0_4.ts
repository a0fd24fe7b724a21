/** Llama Stack 0.4 – 0.6: what differs from 0.7. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_7, IGNORED_SINCE_0_3 } from "./family_0_7.ts";
import { UNLOADABLE_TYPES } from "./unstartable_types.ts";

export const FAMILY_0_4: ServerFamily = {
  ...FAMILY_0_7,
  name: "0.4",
  servers: "Llama Stack 0.4 – 0.6",
  from: [0, 4],
  to: [0, 6],
  process: { ...FAMILY_0_7.process, sendsMetrics: false },
  ignoredKeys: [...IGNORED_SINCE_0_3, ["telemetry"]],
  apiAliases: { responses: "agents" },
  typeAliases: { "tool_runtime inline::file-search": "inline::rag-runtime" },
  unstartableTypes: UNLOADABLE_TYPES,
  rerankTypes: ["remote::nvidia", "remote::vllm"],
  toolGroups: true,
  tools: {
    ...FAMILY_0_7.tools,
    rag: { types: ["inline::rag-runtime"], group: "builtin::rag" },
    file_search: { types: ["inline::rag-runtime"], group: "builtin::rag" },
  },
};
