import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import { TestClock } from "effect/testing";
import { holderOf } from "../../core/operator/lease.ts";
import { type JsonObject, put, stringAt } from "../../core/data/json.ts";
import { Cluster, type ClusterError, failedCall } from "../kubernetes/cluster.ts";
import { Fence } from "../kubernetes/fence.ts";
import { leading } from "./leader.ts";

/** One lease in memory with resourceVersions; `broken` makes every call hang. */
const leaseStore = () => {
  const state = { lease: undefined as JsonObject | undefined, version: 0, broken: false };
  const conflict = () =>
    failedCall({
      verb: "replace",
      path: "",
      status: 409,
      reason: "Conflict",
      detail: "",
      retryAfterMs: undefined,
    });
  const reached = <A>(run: () => Effect.Effect<A, ClusterError>) =>
    Effect.suspend(() => state.broken ? Effect.never : run());
  const keep = (lease: JsonObject) =>
    Effect.sync(() => state.lease = put(lease, ["metadata", "resourceVersion"], String(++state.version)));
  const layer = Layer.mock(Cluster, {
    get: () => reached(() => Effect.succeed(state.lease)),
    send: (patch) =>
      reached(() => {
        const lease = patch._tag === "Create" || patch._tag === "Replace" ? patch.object : {};
        const isFree = patch._tag === "Create"
          ? state.lease === undefined
          : stringAt(lease, "metadata", "resourceVersion") === String(state.version);
        return isFree ? keep(lease) : Effect.fail(conflict());
      }),
  });
  return { state, layer };
};

const candidate = (identity: string) => ({ namespace: "n", identity, releases: true });

/** A program that tells when it runs and whether it may write; it ends only when it is interrupted. */
const worker = () => {
  const told = { runs: 0, running: false, mayWrite: () => false };
  const program = Effect.gen(function* () {
    told.mayWrite = (yield* Fence).mayWrite;
    told.runs++;
    told.running = true;
    return yield* Effect.never;
  }).pipe(Effect.ensuring(Effect.sync(() => told.running = false)));
  return { told, program };
};

const run = <A, E>(layer: Layer.Layer<Cluster>, program: Effect.Effect<A, E, Cluster>) =>
  Effect.runPromise(program.pipe(Effect.provide([layer, TestClock.layer()])));

Deno.test("leading() runs one program of two, renews, and hands over on interruption", async () => {
  const { state, layer } = leaseStore();
  const [a, b] = [worker(), worker()];
  await run(
    layer,
    Effect.gen(function* () {
      const first = yield* Effect.forkChild(leading(a.program, candidate("a")));
      yield* TestClock.adjust("1 second");
      const second = yield* Effect.forkChild(leading(b.program, candidate("b")));
      yield* Effect.forEach(Array.from({ length: 120 }), () => TestClock.adjust("500 millis"), { discard: true });
      deepStrictEqual([a.told.runs, a.told.running, b.told.runs], [1, true, 0]);
      ok(a.told.mayWrite());
      yield* Fiber.interrupt(first);
      strictEqual(holderOf(state.lease ?? {}), "");
      strictEqual(a.told.running, false);
      strictEqual(a.told.mayWrite(), false);
      yield* TestClock.adjust("1300 millis");
      ok(b.told.running);
      yield* Fiber.interrupt(second);
    }),
  );
});

Deno.test("leading() stops the program before the lease can run out, and leads again when the API server is back", async () => {
  const { state, layer } = leaseStore();
  const { told, program } = worker();
  await run(
    layer,
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(leading(program, candidate("a")));
      yield* TestClock.adjust("1 minute");
      state.broken = true;
      yield* TestClock.adjust("7 seconds");
      ok(told.running);
      yield* TestClock.adjust("3 seconds");
      strictEqual(told.running, false);
      strictEqual(told.mayWrite(), false);
      state.broken = false;
      yield* TestClock.adjust("10 seconds");
      deepStrictEqual([told.runs, told.running], [2, true]);
      yield* Fiber.interrupt(fiber);
    }),
  );
});

Deno.test("leading() stops the program when another replica acquired the lease, and never acquires it by force", async () => {
  const { state, layer } = leaseStore();
  const { told, program } = worker();
  await run(
    layer,
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(leading(program, candidate("a")));
      yield* TestClock.adjust("10 seconds");
      state.lease = put(state.lease ?? {}, ["spec", "holderIdentity"], "b");
      state.lease = put(state.lease, ["metadata", "resourceVersion"], String(++state.version));
      yield* TestClock.adjust("6 seconds");
      deepStrictEqual([told.running, holderOf(state.lease ?? {})], [false, "b"]);
      // b is silent: its lease runs out as this replica sees it.
      yield* TestClock.adjust("17 seconds");
      deepStrictEqual([told.runs, told.running, holderOf(state.lease ?? {})], [2, true, "a"]);
      yield* Fiber.interrupt(fiber);
    }),
  );
});

Deno.test("leading() ends with the program, and abandons a release that is not answered", async () => {
  const { state, layer } = leaseStore();
  await run(
    layer,
    Effect.gen(function* () {
      strictEqual(yield* leading(Effect.succeed(7), candidate("a")), 7);
      strictEqual(holderOf(state.lease ?? {}), "");
      const fiber = yield* Effect.forkChild(leading(Effect.never, candidate("b")));
      yield* TestClock.adjust("1 second");
      state.broken = true;
      const stopped = yield* Effect.forkChild(Fiber.interrupt(fiber));
      yield* TestClock.adjust("3 seconds");
      ok(stopped.pollUnsafe() !== undefined);
      strictEqual(holderOf(state.lease ?? {}), "b");
    }),
  );
});

Deno.test("leading() starts again if the lease is older than when it was written, as after a restore of etcd", async () => {
  const { state, layer } = leaseStore();
  const a = worker();
  await run(
    layer,
    Effect.gen(function* () {
      const leader = yield* Effect.forkChild(leading(a.program, candidate("a")));
      const pass = Effect.forEach(Array.from({ length: 20 }), () => TestClock.adjust("500 millis"), { discard: true });
      yield* pass;
      const saved = { lease: state.lease, version: state.version };
      yield* pass;
      strictEqual(a.told.runs, 1);
      ok(state.version > saved.version + 1);
      Object.assign(state, saved);
      yield* pass;
      deepStrictEqual([a.told.runs, a.told.running, a.told.mayWrite()], [2, true, true]);
      yield* pass;
      strictEqual(a.told.runs, 2);
      // The database of before the lease.
      Object.assign(state, { lease: undefined, version: 0 });
      yield* pass;
      strictEqual(a.told.runs, 3);
      yield* Fiber.interrupt(leader);
    }),
  );
});
