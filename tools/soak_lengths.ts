/** Sizes of the tests in tests/cluster that have a long form. Without the variables they are those of CI; `deno task soak` sets them. */
const sized = (variable: Length, usual: number): number => Number(Deno.env.get(variable) ?? usual);

/** Environment variables by which `deno task soak` requests the long forms. */
export type Length =
  | "SOAK_CRASH_STRIDE"
  | "SOAK_EDITS"
  | "SOAK_FOREIGN_OBJECTS"
  | "SOAK_LARGE_RESOURCES"
  | "SOAK_NETWORK_SECONDS"
  | "SOAK_QUIET_SECONDS"
  | "SOAK_ROLLED_REPLICAS"
  | "SOAK_ROLLING_SECONDS";

/** Every how many-th write of the operator is one at which it crashes, before it and after it; 0: a handful of them. */
export const CRASH_STRIDE = sized("SOAK_CRASH_STRIDE", 0);

/**
 * Edits of resources, one after the other. So many that 4 KiB for each are more than a heap has between two collections: fewer
 * could not tell a leak from garbage.
 */
export const EDITS = sized("SOAK_EDITS", 4000);

/** How long watches are cut, in seconds. */
export const NETWORK_SECONDS = sized("SOAK_NETWORK_SECONDS", 60);

/** How long nothing may be written, in seconds. */
export const QUIET_SECONDS = sized("SOAK_QUIET_SECONDS", 60);

/** Replicas that are replaced by others while resources are edited all the time. */
export const ROLLED_REPLICAS = sized("SOAK_ROLLED_REPLICAS", 4);

/** How long both API versions are read while replicas of the operator are replaced, in seconds. */
export const ROLLING_SECONDS = sized("SOAK_ROLLING_SECONDS", 30);

/** Foreign Secrets and ConfigMaps together, and bytes in each of them. */
export const FOREIGN_OBJECTS = sized("SOAK_FOREIGN_OBJECTS", 2000);
export const FOREIGN_BYTES = 50 * 1024;

export const LOG_FOLDER_VARIABLE = "SOAK_LOG_FOLDER";

/** Where operators that run as processes write their logs; a temporary directory if undefined. */
export const LOG_FOLDER = Deno.env.get(LOG_FOLDER_VARIABLE);

/** Whether figures are wanted, and not only whether they are within their bounds. */
export const IS_SOAK = LOG_FOLDER !== undefined;

/** Prefix of the lines that `deno task soak` collects. */
export const FIGURE = "figure ";

/** A figure for the report of `deno task soak`, as a row of a Markdown table. */
export const figure = (what: string, value: string, bound: string, length: string): void =>
  console.log(`${FIGURE}| ${what} | ${value} | ${bound} | ${length} |`);
