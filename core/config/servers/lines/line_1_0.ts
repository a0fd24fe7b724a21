/** OGX 1.0 and 1.1: what differs from 1.2. */
import type { Line } from "./line.ts";
import { LINE_0_7 } from "./line_0_7.ts";
import { LINE_1_2 } from "./line_1_2.ts";

export const LINE_1_0: Line = {
  ...LINE_1_2,
  name: "1.0",
  servers: "OGX 1.0 – 1.1",
  from: [1, 0],
  to: [1, 1],
  process: { ...LINE_1_2.process, failedStart: 1 },
  // Plain HTTP needs no word of its own, and `insecure` is not read.
  serverWithoutTls: {},
  // Like 0.7 it is built in another event loop than the one that serves.
  redisDefect: LINE_0_7.redisDefect,
};
