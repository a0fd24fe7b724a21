import type { Cell } from "../../tools/boot_matrix/cell.ts";

/** One minor of each server family that the other tests do not boot; `deno task boots` boots all of them on everything. */
export const SAMPLE: readonly Cell[] = [
  { minor: "0.2", distribution: "remote-vllm", storage: "postgres" },
  { minor: "0.3", distribution: "starter", storage: "redis" },
  { minor: "0.6", distribution: "starter", storage: "sqlite" },
  { minor: "0.8", distribution: "postgres-demo", storage: "postgres" },
  { minor: "1.1", distribution: "ogx-starter", storage: "redis" },
];
