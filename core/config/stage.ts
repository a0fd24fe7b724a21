/**
 * A stage of the generation of a config: a function from a draft to a draft and the failures that it found. Its type declares its
 * failures; the union of all of them is inferred (pipeline.ts).
 *
 * A stage that finds errors returns the valid part of its draft together with them, so that later stages still run and
 * `lint` reports everything at once.
 */
import type { Draft, Facts } from "./draft.ts";

/** The facts are constant during one generation. */
export type Stage<E> = (draft: Draft, facts: Facts) => Staged<E>;

/** The result of a stage. */
export interface Staged<E> {
  /** The valid part. */
  readonly draft: Draft;
  readonly failures: ReadonlyArray<E>;
}

/** A stage that cannot fail. */
export const soundStage = (work: (draft: Draft, facts: Facts) => Draft): Stage<never> => (draft, facts) => ({
  draft: work(draft, facts),
  failures: [],
});

/** Runs each stage on the valid part that the one before it left, and keeps the failures of all. */
export const inOrder = <E>(stages: ReadonlyArray<Stage<E>>): Stage<E> => (draft, facts) =>
  stages.reduce<Staged<E>>((before, stage) => {
    const after = stage(before.draft, facts);
    return after.failures.length === 0
      ? { draft: after.draft, failures: before.failures }
      : { draft: after.draft, failures: [...before.failures, ...after.failures] };
  }, { draft, failures: [] });
