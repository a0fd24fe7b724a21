/** SIGTERM and SIGINT end a program regularly: everything is released, and the exit code is 0. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";

export const untilAskedToStop = Effect.fnUntraced(function* <E, R>(program: Effect.Effect<void, E, R>) {
  const fiber = yield* Effect.forkChild(program);
  const stop = () => void Effect.runFork(Fiber.interrupt(fiber));
  const signals = ["SIGTERM", "SIGINT"] as const;
  yield* Effect.sync(() => signals.forEach((signal) => Deno.addSignalListener(signal, stop)));
  return yield* Fiber.join(fiber).pipe(
    Effect.catchCause((cause) =>
      cause.reasons.every(({ _tag }) => _tag === "Interrupt") ? Effect.void : Effect.failCause(cause)
    ),
    Effect.ensuring(Effect.sync(() => signals.forEach((signal) => Deno.removeSignalListener(signal, stop)))),
  );
});
