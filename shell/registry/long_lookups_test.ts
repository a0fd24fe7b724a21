import { strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { LONG_LOOKUPS_MAX } from "./limits.ts";
import { beforeLong, LongLookups } from "./long_lookups.ts";
import { aTick } from "../../tests/waiting.ts";

const places = Effect.runSync(LongLookups.make);

const lookup = async (namespace: string) => {
  const scope = Scope.makeUnsafe();
  const enter = await beforeLong(namespace).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.provideService(LongLookups, places),
    Effect.runPromise,
  );
  return { enter, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) };
};
const lookups = (count: number, namespace = "team") =>
  Promise.all(Array.from({ length: count }, () => lookup(namespace)));
const isDone = async (promise: Promise<void>): Promise<boolean> => {
  let isDone = false;
  promise.then(() => isDone = true, () => {});
  await aTick();
  return isDone;
};

Deno.test("beforeLong() lets some lookups in, and the next one when one of them ends", async () => {
  const { signal } = new AbortController();
  const all = await lookups(LONG_LOOKUPS_MAX + 1);
  const last = all.at(-1);
  for (const { enter } of all.slice(0, -1)) await enter(signal);
  // A second long response of a lookup takes no second place.
  await all[0]?.enter(signal);
  const waiting = last?.enter(signal) ?? Promise.resolve();
  strictEqual(await isDone(waiting), false);
  await all[0]?.end();
  strictEqual(await isDone(waiting), true);
  for (const { end } of all.slice(1)) await end();
});

Deno.test("beforeLong() keeps no place for a lookup that ended while it waited", async () => {
  const all = await lookups(LONG_LOOKUPS_MAX + 1);
  const last = all.at(-1);
  for (const { enter } of all.slice(0, -1)) await enter(new AbortController().signal);
  const waiting = last?.enter(new AbortController().signal) ?? Promise.resolve();
  await last?.end();
  for (const { end } of all.slice(0, -1)) await end();
  await waiting;
  const again = await lookups(LONG_LOOKUPS_MAX);
  for (const { enter } of again) strictEqual(await isDone(enter(new AbortController().signal)), true);
  for (const { end } of again) await end();
});

Deno.test("beforeLong() lets namespaces alternate, however many lookups one of them has", async () => {
  const { signal } = new AbortController();
  const [running, waiting, [other]] = await Promise.all([
    lookups(LONG_LOOKUPS_MAX, "greedy"),
    lookups(20, "greedy"),
    lookups(1, "other"),
  ]);
  for (const { enter } of running) await enter(signal);
  const greedy = waiting.map(({ enter }) => enter(signal));
  const neighbour = other?.enter(signal) ?? Promise.resolve();
  // Of the first two places that become free, one is for the other namespace.
  for (const { end } of running.slice(0, 2)) await end();
  strictEqual(await isDone(neighbour), true);
  for (const { end } of [...running, ...waiting, ...(other === undefined ? [] : [other])]) await end();
  await Promise.all(greedy);
});
