/** Lets all jobs come to their end, then fails as the first failed one: none goes on behind the back of a test. */
export const sideBySide = async (jobs: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(jobs)) if (outcome.status === "rejected") throw outcome.reason;
};
