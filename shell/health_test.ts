import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { Effect, Exit, Logger } from "effect";
import { serveHealth } from "./health.ts";

const freePort = (): number => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
};

const run = <A, E>(program: Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.runPromiseExit(Effect.scoped(program).pipe(Effect.provide(Logger.layer([]))));

const get = (port: number, path: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  });

Deno.test("serveHealth() answers the kubelet and Prometheus, and closes both ports with its scope", async () => {
  const [health, metrics] = [freePort(), freePort()];
  const state = { ready: false };
  const exit = await run(Effect.gen(function* () {
    yield* serveHealth({
      healthAddress: `127.0.0.1:${health}`,
      metricsAddress: `:${metrics}`,
      isReady: () => state.ready,
    });
    const status = (path: string) => Effect.map(get(health, path), (answer) => answer.status);
    deepStrictEqual([yield* status("/livez"), yield* status("/readyz"), yield* status("/metrics")], [200, 503, 404]);
    state.ready = true;
    strictEqual(yield* status("/readyz"), 200);
    match((yield* get(metrics, "/metrics")).text, /^process_resident_memory_bytes \d+$/m);
    strictEqual((yield* get(metrics, "/toString")).status, 404);
  }));
  ok(Exit.isSuccess(exit), String(exit));
  for (const port of [health, metrics]) Deno.listen({ hostname: "127.0.0.1", port }).close();
});

Deno.test("serveHealth() listens nowhere for 0", async () => {
  ok(Exit.isSuccess(await run(serveHealth({ healthAddress: "0", metricsAddress: "0", isReady: () => true }))));
});

for (
  const [what, address, words] of [
    ["a word", "everywhere", "is no address such as"],
    ["a port that is none", ":99999", "is no address such as"],
    ["a host that is not here", "192.0.2.1:8080", "cannot listen on"],
  ] as const
) {
  Deno.test(`serveHealth() refuses ${what} as an address`, async () => {
    const exit = await run(serveHealth({ healthAddress: address, metricsAddress: "0", isReady: () => true }));
    ok(Exit.isFailure(exit) && String(exit.cause).includes(words), String(exit));
  });
}
