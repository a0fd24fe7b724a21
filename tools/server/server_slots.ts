/** A place among the servers that may run at once. */
export interface ServerSlot {
  /** Safe to call twice. */
  giveBack(): void;
}

/**
 * Waits until fewer than the allowed number of servers run in this process. A test that holds all allowed servers and
 * requests one more waits for itself.
 */
export const takeServerSlot = async (): Promise<ServerSlot> => {
  if (running >= allowed()) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  let given = false;
  return {
    giveBack: () => {
      if (given) return;
      given = true;
      const next = waiting.shift();
      // The slot passes to the one who waits longest, so the count is unchanged.
      if (next === undefined) running--;
      else next();
    },
  };
};

/** A start keeps a core busy for about four seconds; more of them at once than cores only makes each one slower. */
const ALLOWED = 2;

const allowed = (): number => {
  const wanted = Number(Deno.env.get("LLAMA_STACK_OPERATOR_PARALLEL") ?? ALLOWED);
  if (!Number.isInteger(wanted) || wanted < 1) throw new Error("LLAMA_STACK_OPERATOR_PARALLEL must be a number from 1");
  return wanted;
};

let running = 0;
const waiting: (() => void)[] = [];
