/**
 * Returns memory to the system soon after work. V8 collects the whole heap when it has grown by its share, or else 100 s after the last
 * time; without this, the memory of a burst of changes, above all read buffers, would remain allocated for minutes.
 */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import {
  COLLECT_DONE_BYTES,
  COLLECT_READ_BYTES,
  REST_GARBAGE_SHARE,
  REST_LOOK_MS,
  REST_PASSES_MAX,
} from "../limits.ts";

export interface Memory {
  /** Bytes of the heap and of its buffers, including garbage. */
  readonly used: () => number;
  /** Collects the whole heap; stops the program for about 1 ms for each MiB that is needed. */
  readonly collect: () => void;
  /**
   * Collects until nothing more is found, two to three times as long, and gives back the free pages of the heap. A common
   * collection leaves the process the empty pages of the semi-spaces, as large as a burst made them (docs/measurements.md).
   */
  readonly giveBack: () => void;
}

/** As `--expose-gc` gives it (V8, src/extensions/gc-extension.cc). */
type Gc = (options: {
  readonly type: "major" | "minor";
  readonly execution: "sync";
  readonly flavor?: "regular" | "last-resort";
}) => void;

/**
 * Is notified of the bytes that a listener reads, and of those that it no longer needs, and collects garbage from time
 * to time. V8 does so by the growth of its heap, in which buffers hardly count: 25 callers that send 2.4 MB each grew
 * the process to 550 MiB without this, and to 300 MiB with it.
 */
export const collectingBuffers = (): Readonly<Record<"read" | "done", (bytes: number) => void>> => {
  const { gc } = globalThis as { readonly gc?: Gc };
  const every = (most: number, type: "major" | "minor") => {
    let sum = 0;
    return (bytes: number) => {
      sum += bytes;
      if (sum < most || gc === undefined) return;
      sum = 0;
      gc({ type, execution: "sync" });
    };
  };
  // Long-lived objects are in the old generation, and only a full collection finds them.
  return { read: every(COLLECT_READ_BYTES, "minor"), done: every(COLLECT_DONE_BYTES, "major") };
};

/** Undefined where V8 was started without `--expose-gc` (tools/program_flags.ts). */
export const ownMemory = (): Memory | undefined => {
  const { gc } = globalThis as { readonly gc?: Gc };
  return gc && {
    used: () => {
      const { heapUsed, external } = Deno.memoryUsage();
      return heapUsed + external;
    },
    collect: () => gc({ type: "major", execution: "sync", flavor: "regular" }),
    giveBack: () => gc({ type: "major", execution: "sync", flavor: "last-resort" }),
  };
};

/** Checks the memory from time to time until it is interrupted; `passes` is the number of completed reconciliations. */
export const collectAtRest = Effect.fnUntraced(function* (memory: Memory, passes: Effect.Effect<number>) {
  const pause = Effect.sleep(Duration.millis(REST_LOOK_MS));
  // Bytes that were used after the last collections.
  let floor = memory.used();
  let before = yield* passes;
  while (true) {
    yield* pause;
    const now = yield* passes;
    const atRest = now - before <= REST_PASSES_MAX;
    before = now;
    if (!atRest || memory.used() - floor < floor * REST_GARBAGE_SHARE) continue;
    // Buffers whose owners were found dead in one collection are freed by the next, and the result is known at the next
    // check.
    memory.collect();
    yield* pause;
    memory.giveBack();
    yield* pause;
    floor = memory.used();
    before = yield* passes;
  }
});
