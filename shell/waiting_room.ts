/** Resources that wait for their turn in an upgrade (R34). */

export interface WaitingRoom {
  readonly isEmpty: () => boolean;
  /** Undefined: it does not wait (any more). */
  readonly place: (key: string, queue: string | undefined) => void;
  /** The next ones of each queue, at most `free` of each, once for each `version` of what is away. */
  readonly called: (version: number, free: number) => ReadonlyArray<string>;
}

/** First come, first served in each queue. */
export const waitingRoom = (): WaitingRoom => {
  const queues = new Map<string, string>();
  let last = -1;
  return {
    isEmpty: () => queues.size === 0,
    place: (key, queue) => {
      if (queue === undefined) queues.delete(key);
      else queues.set(key, queue);
    },
    called: (version, free) => {
      if (version === last) return [];
      last = version;
      const counts = new Map<string, number>();
      return [...queues].filter(([, queue]) => {
        const count = counts.get(queue) ?? 0;
        counts.set(queue, count + 1);
        return count < free;
      }).map(([key]) => key);
    },
  };
};
