/**
 * Signs that the cluster's database was restored from a backup: a version that is lower than one seen before. Watches would stay
 * silent until the versions of the restored database have caught up, and the cache would be wrong. All objects are then
 * read again.
 */
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { databaseRestored } from "./metrics.ts";

interface Sign {
  /** Called by whoever sees a version lower than before; `what` was read. */
  readonly isOlder: (what: string) => Effect.Effect<void>;
}

export const DatabaseSign: Context.Reference<Sign> = Context.Reference("llama-stack-operator/shell/DatabaseSign", {
  defaultValue: (): Sign => ({ isOlder: () => Effect.void }),
});

/** Ends with what the program ends with, or with none as soon as there is a sign; the program is interrupted then. */
export const untilRestored = Effect.fnUntraced(
  function* <A, E, R>(program: Effect.Effect<A, E, R>): Effect.fn.Return<Option.Option<A>, E, R> {
    const sign = yield* Deferred.make<string>();
    const isOlder = (what: string) => Effect.asVoid(Deferred.succeed(sign, what));
    return yield* Effect.raceFirst(
      program.pipe(Effect.provideService(DatabaseSign, { isOlder }), Effect.asSome),
      Deferred.await(sign).pipe(Effect.flatMap(reportRestored), Effect.as(Option.none<A>())),
    );
  },
);

/** Runs the program, anew after each restore. */
export const anewAfterRestores = Effect.fnUntraced(function* <A, E, R>(program: Effect.Effect<A, E, R>) {
  for (;;) {
    const ended = yield* untilRestored(program);
    if (Option.isSome(ended)) return ended.value;
  }
});

/** One log line and a count. */
export const reportRestored = (what: string): Effect.Effect<void> =>
  Effect.andThen(
    databaseRestored,
    Effect.logWarning("etcd was restored from a backup; reading all objects again").pipe(
      Effect.annotateLogs({ seenIn: what }),
    ),
  );
