/** Llama Stack 0.3: what differs from 0.4. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_4 } from "./family_0_4.ts";
import { IGNORED_SINCE_0_3 } from "./family_0_7.ts";
import { UNUSED_TYPES } from "./unstartable_types.ts";

export const FAMILY_0_3: ServerFamily = {
  ...FAMILY_0_4,
  name: "0.3",
  servers: "Llama Stack 0.3",
  from: [0, 3],
  to: [0, 3],
  // `telemetry` is a switch here, not a list of providers. Neither `core=warning` nor `all=warning` suppresses the
  // dump, as seen on 0.3.5 and 0.2.24.
  process: { ...FAMILY_0_4.process, quietStartup: undefined },
  skipsEmptyIds: false,
  rerankTypes: [],
  unstartableTypes: { ...FAMILY_0_4.unstartableTypes, ...UNUSED_TYPES },
  ignoredKeys: [...IGNORED_SINCE_0_3, ["safety"], ["connectors"]],
};
