/**
 * Keys to work on: each at most once at a time and once in line, however often it is asked for.
 *
 * There are two lines. What somebody asked for (an edited resource, a changed Secret) goes before what follows of our own
 * writes (pods come, a status moves), so that a thousand new resources get their Deployments before the first of them gets
 * its second look. The second line is never starved: one of every `FOLLOW_UP_SHARE` keys is taken from it.
 */
import { Effect, Queue } from "effect";
import { delayedKeys } from "./delayed_keys.ts";
import { FOLLOW_UP_SHARE } from "./limits.ts";
import { keyAdded } from "./metrics.ts";

export type Line = "asked" | "follow-up";

export interface WorkQueue {
  /** Asks for a pass; a key that is being worked on gets another one afterwards. */
  readonly add: (key: string) => Effect.Effect<void>;
  /** As `add`, in the second line; a key that is already in one of them stays there. */
  readonly addFollowUp: (key: string) => Effect.Effect<void>;
  /** Asks for a pass after a pause; a later call replaces an earlier one that has not come due. */
  readonly addAfter: (key: string, delayMs: number) => Effect.Effect<void>;
  /** Waits for a key, and tells of which line it was; it counts as worked on until `done`. */
  readonly take: Effect.Effect<{ readonly key: string; readonly line: Line }>;
  readonly done: (key: string) => Effect.Effect<void>;
  /** Keys in line or being worked on. */
  readonly size: Effect.Effect<number>;
}

/** Needs a scope, in which the alarm of the delayed keys lives. Holds as many keys as there are resources. */
export const makeWorkQueue = Effect.gen(function* () {
  // One signal for each key in line; which key it is for is said when it is taken.
  const signals = yield* Queue.unbounded<void>();
  const lines: Readonly<Record<Line, Set<string>>> = { asked: new Set(), "follow-up": new Set() };
  // Keys that are worked on, each with the line that it goes to afterwards, if any.
  const running = new Map<string, Line | undefined>();
  let taken = 0;

  const put = (line: Line) => (key: string) =>
    Effect.suspend(() => {
      if (running.has(key)) {
        const afterwards = running.get(key);
        if (afterwards !== "asked") running.set(key, line);
        return afterwards === undefined ? keyAdded : Effect.void;
      }
      if (lines.asked.has(key)) return Effect.void;
      if (lines["follow-up"].has(key)) {
        if (line === "asked" && lines["follow-up"].delete(key)) lines.asked.add(key);
        return Effect.void;
      }
      lines[line].add(key);
      return Effect.andThen(keyAdded, Effect.asVoid(Queue.offer(signals, undefined)));
    });
  const next = (): { readonly key: string; readonly line: Line } => {
    taken++;
    const followUps = lines["follow-up"].size;
    const line = lines.asked.size === 0 || (followUps > 0 && taken % FOLLOW_UP_SHARE === 0) ? "follow-up" : "asked";
    const [key = ""] = lines[line];
    lines[line].delete(key);
    running.set(key, undefined);
    return { key, line };
  };
  const add = put("asked");
  const addAfter = yield* delayedKeys(add);
  const queue: WorkQueue = {
    add,
    addFollowUp: put("follow-up"),
    addAfter,
    take: Effect.map(Queue.take(signals), next),
    done: (key) =>
      Effect.suspend(() => {
        const afterwards = running.get(key);
        running.delete(key);
        return afterwards === undefined ? Effect.void : put(afterwards)(key);
      }),
    size: Effect.sync(() => lines.asked.size + lines["follow-up"].size + running.size),
  };
  return queue;
});
