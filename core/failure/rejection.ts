import type { Warning } from "./warning.ts";

/** Why there is no config, and the warnings found so far. */
export interface Rejection<E> {
  /** At least one. */
  readonly failures: ReadonlyArray<E>;
  readonly warnings: ReadonlyArray<Warning>;
}

export const rejection = <E>(...failures: ReadonlyArray<E>): Rejection<E> => ({ failures, warnings: [] });
