/** How often the objects of each resource were repaired of late, and until when nothing is repaired because it is in vain. */
import { Context } from "effect";
import { CONTEST_PAUSE_MS_MAX, CONTEST_PAUSE_MS_MIN, CONTEST_REPAIRS_MAX, CONTEST_WINDOW_MS } from "./limits.ts";

export interface Contests {
  /** After a reconciliation that repaired something. */
  readonly repaired: (key: string, nowMs: number) => void;
  /** In milliseconds since 1970; undefined while repairs are made. */
  readonly heldUntilMs: (key: string, nowMs: number) => number | undefined;
  readonly forget: (key: string) => void;
}

export const newContests = (): Contests => {
  const known = new Map<
    string,
    { readonly atMs: ReadonlyArray<number>; readonly pauses: number; readonly untilMs: number }
  >();
  return {
    repaired: (key, nowMs) => {
      const before = known.get(key);
      const recent = [...before?.atMs ?? [], nowMs].filter((atMs) => nowMs - atMs < CONTEST_WINDOW_MS);
      // The first repair after a pause tells whether it is over.
      const goesOn = before !== undefined && before.pauses > 0 && nowMs - before.untilMs < CONTEST_WINDOW_MS;
      if (recent.length < CONTEST_REPAIRS_MAX && !goesOn) {
        known.set(key, { atMs: recent, pauses: 0, untilMs: 0 });
        return;
      }
      const pauses = goesOn ? before.pauses : 0;
      const pauseMs = Math.min(CONTEST_PAUSE_MS_MIN * 2 ** pauses, CONTEST_PAUSE_MS_MAX);
      known.set(key, { atMs: [], pauses: pauses + 1, untilMs: nowMs + pauseMs });
    },
    heldUntilMs: (key, nowMs) => {
      const untilMs = known.get(key)?.untilMs ?? 0;
      return untilMs > nowMs ? untilMs : undefined;
    },
    forget: (key) => void known.delete(key),
  };
};

/** Of one leader; a test process runs several. */
export const ContestsOf: Context.Reference<Contests> = Context.Reference("llama-stack-operator/shell/Contests", {
  defaultValue: newContests,
});
