/** Resources that wait for their turn in an upgrade (R34). */

export interface WaitingRoom {
  readonly isEmpty: () => boolean;
  /** Undefined: it does not wait (any more). */
  readonly place: (key: string, queue: string | undefined) => void;
  /**
   * The next ones of each queue, at most `free` of each, once for each `version` of what is away; all of a queue where what it
   * stopped at (`stops`, by queue) is not what it was at the last call, since each of them tells that in its status.
   */
  readonly called: (version: number, free: number, stops: ReadonlyMap<string, string>) => ReadonlyArray<string>;
}

/** First come, first served in each queue. */
export const waitingRoom = (): WaitingRoom => {
  const queues = new Map<string, string>();
  let last = -1;
  let stopped: ReadonlyMap<string, string> = new Map();
  return {
    isEmpty: () => queues.size === 0,
    place: (key, queue) => {
      if (queue === undefined) queues.delete(key);
      else queues.set(key, queue);
    },
    called: (version, free, stops) => {
      if (version === last) return [];
      last = version;
      const before = stopped;
      stopped = stops;
      const counts = new Map<string, number>();
      return [...queues].filter(([, queue]) => {
        const count = counts.get(queue) ?? 0;
        counts.set(queue, count + 1);
        return count < free || stops.get(queue) !== before.get(queue);
      }).map(([key]) => key);
    },
  };
};
