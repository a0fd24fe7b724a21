/** Places by name, such as a namespace or host: as many for each as are allowed. Nothing is kept of a name that nobody uses. */
import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";

export interface Seats {
  /** Waits for a place of the name, and holds it meanwhile. */
  readonly within: <A, E, R>(name: string, run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
}

export const newSeats = (permits: number): Seats => {
  /** As many names as are used or waited for now. */
  const all = new Map<string, { readonly free: Semaphore.Semaphore; users: number }>();
  return {
    within: (name, run) =>
      Effect.suspend(() => {
        const seat = all.get(name) ?? { free: Semaphore.makeUnsafe(permits), users: 0 };
        all.set(name, seat);
        seat.users++;
        return Effect.ensuring(
          seat.free.withPermits(1)(run),
          Effect.sync(() => {
            seat.users--;
            if (seat.users === 0) all.delete(name);
          }),
        );
      }),
  };
};
