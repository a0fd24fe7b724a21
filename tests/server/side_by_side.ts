/** Waits for all jobs, then fails like the first failed one, so that no job is still running after a test. */
export const sideBySide = async (jobs: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(jobs)) if (outcome.status === "rejected") throw outcome.reason;
};
