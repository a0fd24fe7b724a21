/** Milliseconds that only grow: waits and leases shall not change when the time of day is set. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";

export const msOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n);

export const monotonicMs = Clock.clockWith((clock) => Effect.sync(() => msOf(clock)));
