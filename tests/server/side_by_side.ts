import { besideOthers } from "../../tools/server/server_slots.ts";

/**
 * Runs a job for each item, side by side. Waits for all, then fails like the first failed one, so that no job is still
 * running after a test.
 */
export const sideBySide = async <Item>(
  items: readonly Item[],
  job: (item: Item, index: number) => Promise<unknown>,
): Promise<void> => {
  const jobs = items.map((item, index) => besideOthers(() => job(item, index)));
  for (const outcome of await Promise.allSettled(jobs)) if (outcome.status === "rejected") throw outcome.reason;
};
