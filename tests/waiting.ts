/**
 * How tests wait. They wait for a state, and how long that took is never asserted: a slow machine makes a test longer, not red.
 *
 * Two kinds of waits have no state to wait for: the pauses of something that acts again and again, and the proof that
 * something does not happen. Their lengths are here as well; a longer one makes no test red, and a shorter one only proves less.
 */
import { deepStrictEqual } from "node:assert/strict";

/** Set by tools/test_parts.ts: how many times slower this machine is at the moment than the one whose limits these are; at least 1. */
export const PATIENCE_VARIABLE = "TEST_PATIENCE";

export const PATIENCE = Math.max(1, Number(Deno.env.get(PATIENCE_VARIABLE) ?? 1));

/** Generous, for a machine that also builds programs and starts servers. Only a state that never comes waits so long. */
const LIMIT_MS = 180_000 * PATIENCE;

/** As generous, for waits of kubectl; some are for pods that start. */
export const KUBECTL_LIMIT = `--timeout=${Math.ceil(2 * LIMIT_MS / 1000)}s`;

const LOOK_EVERY_MS = 50;

/** What `look` gives as soon as it gives something. `times`: so many times the usual limit, for what other programs take long for. */
export const eventually = async <A>(
  what: string,
  look: () => A | undefined | Promise<A | undefined>,
  times = 1,
): Promise<A> => {
  for (const end = performance.now() + times * LIMIT_MS;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`not within ${times * LIMIT_MS / 1000} s: ${what}`);
    await pause(LOOK_EVERY_MS);
  }
};

/** Waits until it is so. */
export const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  await eventually(what, async () => (await isSo()) || undefined);
};

/** Something that does not change at rest: versions of objects, or a count of writes. */
type Seen<A> = () => A | Promise<A>;

/** How long something has not changed when it counts as at rest. */
const AT_REST_MS = 2000;

/** What `seen` returns when it has not changed for a while. `times`: so many times as long. */
export const unchanged = async <A>(seen: Seen<A>, times = 1): Promise<A> => {
  let [last, sinceMs] = [await seen(), performance.now()];
  return await eventually("nothing changes any more", async () => {
    const now = await seen();
    if (JSON.stringify(now) !== JSON.stringify(last)) [last, sinceMs] = [now, performance.now()];
    // A look may be a dozen lists; more often than this they would be the load.
    else if (performance.now() - sinceMs >= times * AT_REST_MS) return last;
    await pause(Math.min(1000, times * AT_REST_MS / 5));
    return undefined;
  });
};

/** Fails if `seen` returns something else after a while. `times`: so many times as long. */
export const stays = async <A>(seen: Seen<A>, { times = 1, what = "at rest" } = {}): Promise<void> => {
  const before = await seen();
  await aWhile(times);
  deepStrictEqual(await seen(), before, what);
};

/** So long that what must not happen would have happened by then. */
const WHILE_MS = 3000;
export const aWhile = (times = 1): Promise<void> => pause(times * WHILE_MS);

/** Between two turns of something that acts again and again, such as a client or an overwriting controller. */
const MOMENT_MS = 100;
export const aMoment = (): Promise<void> => pause(MOMENT_MS);

/** So many turns of the event loop that what needs nothing but turns is done, also on a machine that is busy meanwhile. */
const TURNS = 30;
export const aTick = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn++) await pause(0);
};

/** For lengths that have a name and a reason where they are used. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
