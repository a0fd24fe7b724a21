/**
 * Gives memory back soon after work. V8 collects the whole heap when it has grown by its share, or else 100 s after the last
 * time; an operator with little to do would hold for minutes what a burst of changes left, buffers of read bytes above all.
 */
import { Duration, Effect } from "effect";
import { REST_COLLECTIONS, REST_GARBAGE_SHARE, REST_LOOK_MS, REST_PASSES_MAX } from "./limits.ts";

export interface Memory {
  /** Bytes of the heap and of the buffers that belong to it, what nobody needs any more included. */
  readonly used: () => number;
  /** Collects the whole heap; stops the program for about 1 ms for each MiB that is needed. */
  readonly collect: () => void;
}

/** Undefined where V8 was started without `--expose-gc` (tools/program_flags.ts). */
export const ownMemory = (): Memory | undefined => {
  const { gc } = globalThis as { readonly gc?: () => void };
  return gc && {
    used: () => {
      const { heapUsed, external } = Deno.memoryUsage();
      return heapUsed + external;
    },
    collect: () => gc(),
  };
};

/** Looks at the memory from time to time until it is interrupted; `passes` are those that ended so far. */
export const collectAtRest = Effect.fnUntraced(function* (memory: Memory, passes: Effect.Effect<number>) {
  let rest = restAfter(memory.used());
  let before = yield* passes;
  while (true) {
    yield* Effect.sleep(Duration.millis(REST_LOOK_MS));
    const now = yield* passes;
    rest = looked(rest, memory.used(), now - before <= REST_PASSES_MAX);
    before = now;
    if (rest.isDue) memory.collect();
  }
});

interface Rest {
  /** Bytes that were used after the last row of collections. */
  readonly floor: number;
  /** Collections that are still to come in this row. */
  readonly left: number;
  readonly isDue: boolean;
}

const restAfter = (used: number): Rest => ({ floor: used, left: 0, isDue: false });

/** In rows, a look apart: buffers whose owners one collection found dead go with the next, and what is left is known later. */
const looked = ({ floor, left, isDue }: Rest, used: number, atRest: boolean): Rest => {
  if (left > 0) return { floor, left: left - 1, isDue: true };
  if (isDue) return restAfter(used);
  return atRest && used - floor >= floor * REST_GARBAGE_SHARE
    ? { floor, left: REST_COLLECTIONS - 1, isDue: true }
    : { floor, left, isDue };
};
