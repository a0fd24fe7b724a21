import { strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { LONG_LOOKUPS_MAX } from "./limits.ts";
import { beforeLong } from "./long_lookups.ts";

const lookup = async () => {
  const scope = Scope.makeUnsafe();
  const enter = await Effect.runPromise(Effect.provideService(beforeLong, Scope.Scope, scope));
  return { enter, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) };
};
const isDone = async (promise: Promise<void>): Promise<boolean> => {
  let isDone = false;
  promise.then(() => isDone = true, () => {});
  await new Promise((resolve) => setTimeout(resolve, 10));
  return isDone;
};

Deno.test("beforeLong() lets some lookups in, and the next one when one of them ends", async () => {
  const { signal } = new AbortController();
  const lookups = await Promise.all(Array.from({ length: LONG_LOOKUPS_MAX + 1 }, lookup));
  const last = lookups.at(-1);
  for (const { enter } of lookups.slice(0, -1)) await enter(signal);
  // A second long response of a lookup takes no second place.
  await lookups[0]?.enter(signal);
  const waiting = last?.enter(signal) ?? Promise.resolve();
  strictEqual(await isDone(waiting), false);
  await lookups[0]?.end();
  strictEqual(await isDone(waiting), true);
  for (const { end } of lookups.slice(1)) await end();
});

Deno.test("beforeLong() keeps no place for a lookup that ended while it waited", async () => {
  const lookups = await Promise.all(Array.from({ length: LONG_LOOKUPS_MAX + 1 }, lookup));
  const last = lookups.at(-1);
  for (const { enter } of lookups.slice(0, -1)) await enter(new AbortController().signal);
  const waiting = last?.enter(new AbortController().signal) ?? Promise.resolve();
  await last?.end();
  for (const { end } of lookups.slice(0, -1)) await end();
  await waiting;
  const again = await Promise.all(Array.from({ length: LONG_LOOKUPS_MAX }, lookup));
  for (const { enter } of again) strictEqual(await isDone(enter(new AbortController().signal)), true);
  for (const { end } of again) await end();
});
