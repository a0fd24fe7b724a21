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
  /** Of the texts in the answer. */
  characters: number;
}

/** The newest answers are kept as long as their texts together are not too long. */
export const forgetLongest = <A>(lookups: Map<string, Lookup<A>>, newest: Lookup<A>): void => {
  let characters = 0;
  for (const [id, lookup] of [...lookups].toReversed()) {
    if (lookup.freshUntilMs === undefined) continue;
    characters += lookup.characters;
    if (characters > CONFIGS_KEPT_MAX && lookup !== newest) lookups.delete(id);
  }
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
