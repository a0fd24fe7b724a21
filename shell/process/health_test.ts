import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Logger from "effect/Logger";
import { serveHealth } from "./health.ts";
import { HEALTH_HEADERS_MS } from "../limits.ts";

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

Deno.test("serveHealth() answers the kubelet, reports why it is not ready, and closes its port with its scope", async () => {
  const port = freePort();
  let why: string | undefined = "the API server has not been reached yet";
  const exit = await run(Effect.gen(function* () {
    yield* serveHealth({ healthAddress: `:${port}`, notReady: () => why });
    const status = (path: string) => Effect.map(get(port, path), (answer) => answer.status);
    deepStrictEqual([yield* status("/livez"), yield* status("/readyz"), yield* status("/metrics")], [200, 503, 404]);
    match((yield* get(port, "/readyz")).text, /^the API server has not been reached yet$/m);
    why = undefined;
    strictEqual(yield* status("/readyz"), 200);
    strictEqual((yield* get(port, "/toString")).status, 404);
    const posted = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/livez`, { method: "POST", body: "x" }));
    yield* Effect.promise(async () => await posted.body?.cancel());
    strictEqual(posted.status, 405);
  }));
  ok(Exit.isSuccess(exit), String(exit));
  Deno.listen({ hostname: "127.0.0.1", port }).close();
});

Deno.test("serveHealth() ends connections that never finish a request, and answers others meanwhile", async () => {
  const port = freePort();
  const exit = await run(Effect.gen(function* () {
    yield* serveHealth({ healthAddress: `127.0.0.1:${port}`, notReady: () => undefined });
    yield* Effect.promise(async () => {
      const slow = await Promise.all(Array.from({ length: 100 }, async () => {
        const connection = await Deno.connect({ hostname: "127.0.0.1", port });
        await connection.write(new TextEncoder().encode("GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: "));
        return connection;
      }));
      const started = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/livez`);
      strictEqual(await answer.text(), "ok");
      const ended = await Promise.all(slow.map(async (connection) => {
        const read = await connection.read(new Uint8Array(1024)).catch(() => null);
        connection.close();
        return read;
      }));
      ok(ended.length === 100 && performance.now() - started < 3 * HEALTH_HEADERS_MS);
    });
  }));
  ok(Exit.isSuccess(exit), String(exit));
});

Deno.test("serveHealth() listens nowhere for 0", async () => {
  ok(Exit.isSuccess(await run(serveHealth({ healthAddress: "0", notReady: () => undefined }))));
});

for (
  const [what, address, words] of [
    ["a word", "everywhere", "is not a valid address"],
    ["a port that is none", ":99999", "is not a valid address"],
    ["a host that is not here", "192.0.2.1:8080", "cannot listen on"],
  ] as const
) {
  Deno.test(`serveHealth() rejects ${what} as an address`, async () => {
    const exit = await run(serveHealth({ healthAddress: address, notReady: () => undefined }));
    ok(Exit.isFailure(exit) && String(exit.cause).includes(words), String(exit));
  });
}
