/**
 * What tests measure of time. No test compares a time with a number of milliseconds of its own: machines differ, and are busy.
 * A time is compared with another one of the same minute, or is so much longer than any machine needs that only a defect takes it.
 */
import { fail, ok } from "node:assert/strict";
import { PATIENCE } from "./waiting.ts";

/** How often a comparison is repeated before it fails: the machine may have been busy during one of the two times. */
const TRIES = 5;

/** How many times longer the work may take for four times the size: 4 if it grows with it, 16 if it grows with its square. */
const GROWTH_MAX = 9;

/**
 * Fails if `work` takes more than proportionally longer for the larger input, which has four times the size. Times below the pace
 * of this machine say nothing.
 */
export const growsWithSize = (smaller: () => unknown, larger: () => unknown): void => {
  const tries: Array<string> = [];
  while (tries.length < TRIES) {
    const [smallMs, largeMs] = [shortest(smaller), shortest(larger)];
    if (largeMs < GROWTH_MAX * smallMs) return;
    const pace = paceMs();
    if (largeMs < pace) return;
    tries.push(`${smallMs.toFixed(1)} ms, then ${largeMs.toFixed(1)} ms at a pace of ${pace.toFixed(0)} ms`);
  }
  fail(tries.join("; "));
};

/** Milliseconds: the shortest of some, since the machine does other things too. */
const shortest = (work: () => unknown): number =>
  Math.min(...Array.from({ length: 3 }, () => {
    const startedMs = processorMs();
    work();
    return processorMs() - startedMs;
  }));

/** Milliseconds that this thread has run on a processor, where the system tells; other programs take time from a clock. */
const processorMs = (): number => {
  try {
    return Number(Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
};

/** Work that takes some milliseconds takes years if it is done in the wrong way, in milliseconds. */
const NEVER_MS = 10_000 * PATIENCE;

/** Fails if the work takes as long as only the wrong way of doing it does. */
export const endsSoon = async <A>(work: () => A | Promise<A>): Promise<A> => {
  const startedMs = performance.now();
  const made = await work();
  const tookMs = performance.now() - startedMs;
  ok(tookMs < NEVER_MS, `${tookMs.toFixed(0)} ms`);
  return made;
};

/** As large as one object of the API server. */
const TEXT = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])));

/**
 * Milliseconds of processor time that reading and writing an object of 1.3 MB takes on this machine at the moment: beside other
 * programs, a processor does less in the same time. The middle one of some.
 */
export const paceMs = (): number =>
  Array.from({ length: 5 }, () => {
    const startedMs = processorMs();
    JSON.stringify(JSON.parse(TEXT));
    return processorMs() - startedMs;
  }).sort((a, b) => a - b)[2] ?? 0;

/**
 * What others may wait for the operator beside a hostile tenant, in processor time of its main thread as multiples of `paceMs`:
 * a loop that is quadratic in 100,000 entries takes thousands.
 */
export const SERVED_PACES = { edit: 80, livez: 40 } as const;

/**
 * What one object may cost of the main thread for each time that it is reconciled, however large it is: conversions, watch
 * events, reads, status and the echo of it, as a multiple of `paceMs`. How often it is reconciled depends on how soon the API
 * server tells of the objects that were made.
 */
export const PACES_EACH_PASS = 40;
