import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { TestClock } from "effect/testing";
import { WORKERS } from "../limits.ts";
import { makeWorkQueue, type WorkQueue } from "./work_queue.ts";

const run = <A, E>(program: Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(TestClock.layer())));

const takenKey = (queue: WorkQueue) => Effect.map(queue.take, ({ key }) => key);

Deno.test("makeWorkQueue() returns a key once, however often it is added", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    yield* Effect.all([queue.add("a"), queue.add("b"), queue.add("a"), queue.add("a")]);
    deepStrictEqual([yield* takenKey(queue), yield* takenKey(queue)], ["a", "b"]);
    strictEqual(yield* queue.size, 2);
  })));

Deno.test("makeWorkQueue() never hands a key to two workers, and hands it out again if it changed meanwhile", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    yield* queue.add("a");
    yield* queue.take;
    yield* queue.add("a");
    const second = yield* Effect.forkChild(takenKey(queue));
    yield* Effect.yieldNow;
    strictEqual(second.pollUnsafe(), undefined);
    yield* queue.done("a");
    strictEqual(yield* Fiber.join(second), "a");
    yield* queue.done("a");
    strictEqual(yield* queue.size, 0);
  })));

Deno.test("makeWorkQueue() hands out a delayed key when it is due, by its latest delay", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    yield* queue.addAfter("a", 1000);
    yield* queue.addAfter("a", 5000);
    const taken = yield* Effect.forkChild(takenKey(queue));
    yield* TestClock.adjust("2 seconds");
    strictEqual(taken.pollUnsafe(), undefined);
    yield* TestClock.adjust("4 seconds");
    strictEqual(yield* Fiber.join(taken), "a");
  })));

Deno.test("makeWorkQueue() returns requested keys before follow-ups, which are one in four", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    for (const key of ["f1", "f2"]) yield* queue.addFollowUp(key);
    for (const key of ["a1", "a2", "a3", "a4", "a5"]) yield* queue.add(key);
    const order = yield* Effect.all(Array.from({ length: 7 }, () => takenKey(queue)));
    deepStrictEqual(order, ["a1", "a2", "a3", "f1", "a4", "a5", "f2"]);
  })));

Deno.test("makeWorkQueue() moves a follow-up ahead when it is requested, once, queued or in progress", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    for (const key of ["f1", "f2"]) yield* queue.addFollowUp(key);
    yield* queue.add("f2");
    yield* queue.addFollowUp("f2");
    deepStrictEqual([yield* takenKey(queue), yield* takenKey(queue)], ["f2", "f1"]);
    yield* queue.addFollowUp("f2");
    yield* queue.add("f2");
    yield* queue.add("f1");
    yield* queue.done("f1");
    yield* queue.done("f2");
    deepStrictEqual([yield* takenKey(queue), yield* takenKey(queue)], ["f1", "f2"]);
    strictEqual(yield* queue.size, 2);
  })));

Deno.test("makeWorkQueue() alternates between namespaces", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    for (const key of ["a/1", "a/2", "a/3", "b/1", "c/1", "b/2"]) yield* queue.add(key);
    const order = yield* Effect.all(Array.from({ length: 6 }, () => takenKey(queue)));
    deepStrictEqual(order, ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]);
  })));

/** As many workers as one namespace gets while no other needs any. */
const HALF = WORKERS / 2;

Deno.test("makeWorkQueue() reserves workers for other namespaces, whatever one of them adds", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    const many = Array.from({ length: HALF + 10 }, (_, index) => `busy/${index}`);
    for (const key of many) yield* queue.add(key);
    yield* queue.addFollowUp("busy/late");
    for (let worker = 0; worker < HALF; worker++) yield* queue.take;
    const idle = yield* Effect.forkChild(takenKey(queue));
    const other = yield* Effect.forkChild(takenKey(queue));
    yield* TestClock.adjust("1 second");
    strictEqual(idle.pollUnsafe(), undefined);
    yield* queue.add("other/1");
    strictEqual(yield* Effect.raceFirst(Fiber.join(idle), Fiber.join(other)), "other/1");
    // Each one that ends makes room for one more.
    for (const key of many.slice(0, 11)) yield* queue.done(key);
    const rest = [yield* Effect.raceFirst(Fiber.join(idle), Fiber.join(other))];
    for (let worker = 0; worker < 9; worker++) rest.push(yield* takenKey(queue));
    rest.push(yield* takenKey(queue));
    strictEqual(new Set(rest.filter((key) => key.startsWith("busy/"))).size >= 10, true);
  })));

Deno.test("makeWorkQueue() keeps a worker free for the next namespace, however many are busy", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    for (const namespace of ["a", "b", "c", "d", "e"]) {
      for (let index = 0; index < 40; index++) yield* queue.add(`${namespace}/${index}`);
    }
    const workers = yield* Effect.forEach(
      Array.from({ length: WORKERS }),
      () => Effect.forkChild(takenKey(queue)),
    );
    yield* TestClock.adjust("1 second");
    const free = workers.filter((worker) => worker.pollUnsafe() === undefined).length;
    strictEqual(free >= 10, true, `${free} free`);
    yield* queue.add("next/1");
    yield* TestClock.adjust("1 second");
    strictEqual(workers.filter((worker) => worker.pollUnsafe() === undefined).length, free - 1);
    yield* Effect.forEach(workers, Fiber.interrupt, { discard: true });
  })));

Deno.test("makeWorkQueue() hands out every key once to few workers, in random order of events", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    const given: Array<string> = [];
    const worker = Effect.forever(Effect.gen(function* () {
      const { key } = yield* queue.take;
      given.push(key);
      yield* Effect.sleep("1 milli");
      yield* queue.done(key);
    }));
    const workers = yield* Effect.forkChild(
      Effect.all(Array.from({ length: HALF + 4 }, () => worker), { concurrency: "unbounded" }),
    );
    const keys = Array.from({ length: 500 }, (_, index) => `${index % 3 === 0 ? "a" : "b"}/${index}`);
    for (const [index, key] of keys.entries()) yield* index % 2 === 0 ? queue.add(key) : queue.addFollowUp(key);
    yield* TestClock.adjust("1 second");
    deepStrictEqual([...given].sort(), [...keys].sort());
    strictEqual(yield* queue.size, 0);
    yield* Fiber.interrupt(workers);
  })));
