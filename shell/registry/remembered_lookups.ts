/** Answers of registries in memory, bounded by their number and by the length of their texts. */
import type * as Deferred from "effect/Deferred";
import { ANSWERS_KEPT_MAX, CONFIGS_KEPT_MAX } from "./limits.ts";
import type { Answer } from "./lookup.ts";

/** One lookup, for all resources whose question and credentials are the same. */
export interface Lookup<A> {
  readonly answer: Deferred.Deferred<Answer<A>>;
  /** Failures in a row, this one included. */
  failures: number;
  /** By the monotonic clock; undefined while it runs. */
  freshUntilMs: number | undefined;
  answeredAtMs: number;
  /** Of the texts in the answer; 0 while there is none. */
  characters: number;
}

/** What an entry holds in memory; entries that share it hold it once. */
export interface Held {
  readonly held: object;
  readonly characters: number;
}

/** Keys of entries to forget, so that the texts of the others are not too long together. The newest one is never among them. */
export const beyondLength = <A>(
  /** The oldest first. */
  entries: ReadonlyMap<string, A>,
  newest: A,
  charactersMax: number,
  /** Undefined for an entry that waits for its answer, and takes no place yet. */
  heldBy: (entry: A) => Held | undefined,
): ReadonlyArray<string> => {
  const counted = new Map<object, number>();
  let total = 0;
  return [...entries].toReversed().flatMap(([key, entry]) => {
    const { held, characters } = heldBy(entry) ?? {};
    if (held === undefined || characters === undefined || characters === 0) return [];
    const before = counted.get(held);
    const mine = before ?? (total += characters);
    counted.set(held, mine);
    return mine > charactersMax && entry !== newest ? [key] : [];
  });
};

/** The newest answers are kept as long as their texts together are not too long. */
export const forgetLongest = <A>(lookups: Map<string, Lookup<A>>, newest: Lookup<A>): void => {
  const answered = (lookup: Lookup<A>) => ({ held: lookup, characters: lookup.characters });
  for (const id of beyondLength(lookups, newest, CONFIGS_KEPT_MAX, answered)) lookups.delete(id);
};

/** Those that are no longer fresh, and of the others the oldest. */
export const forgetOldest = <A>(lookups: Map<string, Lookup<A>>, nowMs: number): void => {
  if (lookups.size < ANSWERS_KEPT_MAX) return;
  for (const [id, { freshUntilMs }] of lookups) {
    if (freshUntilMs !== undefined && freshUntilMs <= nowMs) lookups.delete(id);
  }
  for (const [id, { freshUntilMs }] of lookups) {
    if (lookups.size < ANSWERS_KEPT_MAX) return;
    if (freshUntilMs !== undefined) lookups.delete(id);
  }
};

/** The oldest entry goes if there are too many. */
export const keepNewest = (entries: Map<string, string>, key: string, value: string): void => {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > ANSWERS_KEPT_MAX && oldest !== undefined) entries.delete(oldest);
};
