/** Events by name, such as a namespace, for those who wait for one. Nothing is kept of a name for which nobody waits. */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";

export interface Signals {
  /** `use` gets what ends with the first event of the name since `during` began. */
  readonly during: <A, E, R>(
    name: string,
    use: (event: Effect.Effect<void>) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>;
  /** An event of the name. */
  readonly of: (name: string) => Effect.Effect<void>;
  /** An event of every name. */
  readonly all: Effect.Effect<void>;
}

interface Waiting {
  readonly event: Deferred.Deferred<void>;
  users: number;
}

export const signals = (): Signals => {
  const waiting = new Map<string, Waiting>();
  const enter = (name: string) =>
    Effect.sync(() => {
      const current = waiting.get(name) ?? { event: Deferred.makeUnsafe<void>(), users: 0 };
      waiting.set(name, current);
      current.users++;
      return current;
    });
  const leave = (name: string, current: Waiting) =>
    Effect.sync(() => {
      current.users--;
      if (current.users === 0 && waiting.get(name) === current) waiting.delete(name);
    });
  const of = (name: string) =>
    Effect.suspend(() => {
      const current = waiting.get(name);
      waiting.delete(name);
      return current === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(current.event, undefined));
    });
  return {
    during: (name, use) =>
      Effect.acquireUseRelease(
        enter(name),
        ({ event }) => use(Deferred.await(event)),
        (current) => leave(name, current),
      ),
    of,
    all: Effect.suspend(() => Effect.forEach([...waiting.keys()], of, { discard: true })),
  };
};
