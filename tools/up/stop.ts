/** The request to end a run: Ctrl-C, SIGTERM, or a closed terminal. */
export interface Stop {
  readonly asked: Promise<void>;
  readonly signal: AbortSignal;
}

/** Heard from now on to the end of the process. */
export const untilSignal = (): Stop => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of SIGNALS) {
    Deno.addSignalListener(name, () => {
      // A terminal sends it to every process, and the task runner forwards it again.
      if (!controller.signal.aborted) console.error("\nending …");
      controller.abort();
      resolve();
    });
  }
  return { asked: promise, signal: controller.signal };
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Waits, but not beyond the wish to stop. */
export const pause = async (milliseconds: number, stop: Stop): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([promise, stop.asked]);
  clearTimeout(timer);
};
