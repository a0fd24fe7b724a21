/**
 * A stage of the generation of a config. Its type declares its failures; the union of all of them is inferred
 * (pipeline.ts).
 *
 * A stage that finds errors returns the valid part of its draft together with them, so that later stages still run and
 * `lint` reports everything at once. Stages are descriptions: nothing runs before `Effect.runSync`, and nothing
 * suspends.
 */
import * as Arr from "effect/Array";
import * as Context from "effect/Context";
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import type { Draft, Facts } from "./draft.ts";

/** The inputs of every stage; constant during one generation. */
export class GenerationFacts
  extends Context.Service<GenerationFacts, Facts>()("llama-stack-operator/core/GenerationFacts") {}

/** The failures of a stage. Not an Error, which would record a stack trace each time it is passed on. */
export class StageFailed<out E> extends Data.TaggedClass("StageFailed")<{
  /** The valid part. */
  readonly draft: Draft;
  readonly failures: Arr.NonEmptyReadonlyArray<unknown>;
}> {
  declare readonly failures: Arr.NonEmptyReadonlyArray<E>;
}

export type Stage<E> = (draft: Draft) => Effect.Effect<Draft, StageFailed<E>, GenerationFacts>;

/** The result of a stage. */
export interface Staged<E> {
  /** The valid part. */
  readonly draft: Draft;
  readonly failures: ReadonlyArray<E>;
}

/** A stage from its work: values in, values out. */
export const stage = <E>(work: (draft: Draft, facts: Facts) => Staged<E>): Stage<E> => (draft) =>
  Effect.flatMap(GenerationFacts, (facts) => {
    const made = work(draft, facts);
    return Arr.isReadonlyArrayNonEmpty(made.failures)
      ? Effect.fail(new StageFailed<E>({ draft: made.draft, failures: made.failures }))
      : Effect.succeed(made.draft);
  });

/** A stage that cannot fail. */
export const soundStage = (work: (draft: Draft, facts: Facts) => Draft): Stage<never> => (draft) =>
  Effect.map(GenerationFacts, (facts) => work(draft, facts));

/** Runs the next stage on the valid part, and keeps the failures of both. */
export const thenStage = <E2>(next: Stage<E2>) =>
<E1>(
  self: Effect.Effect<Draft, StageFailed<E1>, GenerationFacts>,
): Effect.Effect<Draft, StageFailed<E1 | E2>, GenerationFacts> =>
  Effect.matchEffect(self, {
    onSuccess: next as Stage<E1 | E2>,
    onFailure: ({ draft, failures }) =>
      Effect.matchEffect(next(draft), {
        onSuccess: (after) => Effect.fail(new StageFailed<E1 | E2>({ draft: after, failures })),
        onFailure: (more) =>
          Effect.fail(
            new StageFailed<E1 | E2>({
              draft: more.draft,
              failures: Arr.appendAll(failures, more.failures) as Arr.NonEmptyReadonlyArray<E1 | E2>,
            }),
          ),
      }),
  });
