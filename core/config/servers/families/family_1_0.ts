/** OGX 1.0 and 1.1: what differs from 1.2. */
import type { ServerFamily } from "./family.ts";
import { FAMILY_0_7 } from "./family_0_7.ts";
import { FAMILY_1_2 } from "./family_1_2.ts";

export const FAMILY_1_0: ServerFamily = {
  ...FAMILY_1_2,
  name: "1.0",
  servers: "OGX 1.0 – 1.1",
  from: [1, 0],
  to: [1, 1],
  rerankTypes: FAMILY_0_7.rerankTypes,
  process: { ...FAMILY_1_2.process, failedStart: 1, metricsSwitch: undefined },
  // Plain HTTP needs no setting, and `insecure` is not read.
  serverWithoutTls: {},
  // As in 0.7, it is created in another event loop than the one that serves requests.
  redisDefect: FAMILY_0_7.redisDefect,
};
