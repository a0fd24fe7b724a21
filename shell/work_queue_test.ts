import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { makeWorkQueue, type WorkQueue } from "./work_queue.ts";

const run = <A, E>(program: Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(TestClock.layer())));

const takenKey = (queue: WorkQueue) => Effect.map(queue.take, ({ key }) => key);

Deno.test("makeWorkQueue() gives a key once, however often it is asked for", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    yield* Effect.all([queue.add("a"), queue.add("b"), queue.add("a"), queue.add("a")]);
    deepStrictEqual([yield* takenKey(queue), yield* takenKey(queue)], ["a", "b"]);
    strictEqual(yield* queue.size, 2);
  })));

Deno.test("makeWorkQueue() never gives a key to two workers, and gives it again when it changed meanwhile", () =>
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

Deno.test("makeWorkQueue() gives a delayed key when its time has come, the latest delay counting", () =>
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

Deno.test("makeWorkQueue() gives what was asked for before follow-ups, of which one in four goes on", () =>
  run(Effect.gen(function* () {
    const queue = yield* makeWorkQueue;
    for (const key of ["f1", "f2"]) yield* queue.addFollowUp(key);
    for (const key of ["a1", "a2", "a3", "a4", "a5"]) yield* queue.add(key);
    const order = yield* Effect.all(Array.from({ length: 7 }, () => takenKey(queue)));
    deepStrictEqual(order, ["a1", "a2", "a3", "f1", "a4", "a5", "f2"]);
  })));

Deno.test("makeWorkQueue() moves a follow-up ahead when it is asked for, once, in line or while it is worked on", () =>
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
