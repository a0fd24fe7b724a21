import { AsyncLocalStorage } from "node:async_hooks";

/** A place among the servers that may run at once. */
export interface ServerSlot {
  /** Safe to call twice. */
  giveBack(): void;
}

/** Who takes slots: one of several jobs that run side by side, or all the rest of the process. */
interface Taker {
  /** Slots that it has or waits for. */
  taken: number;
  /** What it runs in, which keeps its slots meanwhile. */
  readonly around: Taker | undefined;
}

/**
 * Waits until fewer than the allowed number of servers run in this process. Who would wait for itself is refused: one of
 * several jobs side by side that has a slot already, itself or around it (as soon as each of them has one, all would wait),
 * and whoever has all slots.
 */
export const takeServerSlot = async (): Promise<ServerSlot> => {
  const limit = allowed();
  const taker = takers.getStore() ?? REST;
  if (takenInJobs(taker) > 0) {
    throw new Error(
      "one of several jobs side by side asks for a second server: as soon as each of them runs one, all would wait " +
        "forever. Stop its first server before: a block of its own around `await using` does",
    );
  }
  if (takenAround(taker) >= limit) {
    throw new Error(
      `all ${limit} servers that may run at once run already, and one more would wait forever. Stop one of them before: a ` +
        "block of its own around `await using` does. Jobs that run side by side start with besideOthers()",
    );
  }
  taker.taken++;
  if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  let given = false;
  return {
    giveBack: () => {
      if (given) return;
      given = true;
      taker.taken--;
      const next = waiting.shift();
      // The slot passes to the one who waits longest, so the count is unchanged.
      if (next === undefined) running--;
      else next();
    },
  };
};

/** A job that runs beside others, and may have to wait until they stop their servers; it runs one server at a time. */
export const besideOthers = <T>(job: () => Promise<T>): Promise<T> =>
  takers.run({ taken: 0, around: takers.getStore() ?? REST }, job);

/** By this job and those around it. */
const takenInJobs = ({ taken, around }: Taker): number => around === undefined ? 0 : taken + takenInJobs(around);

/** By the rest of the process, too. */
const takenAround = ({ taken, around }: Taker): number => taken + (around === undefined ? 0 : takenAround(around));

/** A start keeps a core busy for about four seconds; more of them at once than cores only makes each one slower. */
const ALLOWED = 2;

const allowed = (): number => {
  const wanted = Number(Deno.env.get("LLAMA_STACK_OPERATOR_PARALLEL") ?? ALLOWED);
  if (!Number.isInteger(wanted) || wanted < 1) throw new Error("LLAMA_STACK_OPERATOR_PARALLEL must be a number from 1");
  return wanted;
};

const takers = new AsyncLocalStorage<Taker>();
const REST: Taker = { taken: 0, around: undefined };
let running = 0;
const waiting: (() => void)[] = [];
