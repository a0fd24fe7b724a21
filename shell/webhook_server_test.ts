import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { Effect, Exit, Scope } from "effect";
import { makeAuthority, makeLeaf } from "./certificate_maker.ts";
import { type Route, webhookServer } from "./webhook_server.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };

const running = async (routes: Readonly<Record<string, Route<never>>>, drainMs = 0) => {
  const authority = await makeAuthority(validity);
  const leaf = () => makeLeaf(authority, ["127.0.0.1"], validity);
  const certificate = await leaf();
  const scope = Scope.makeUnsafe();
  const server = await Effect.runPromise(
    webhookServer({ hostname: "127.0.0.1", port: 0, certificate, routes, drainMs }).pipe(Scope.provide(scope)),
  );
  const newClient = () => Deno.createHttpClient({ caCerts: [authority.certificate] });
  const post = async (client: Deno.HttpClient, path: string, body: string, method = "POST") => {
    const answer = await fetch(`https://127.0.0.1:${server.port}${path}`, {
      method,
      client,
      ...(method === "POST" ? { body } : {}),
    });
    return { status: answer.status, text: await answer.text(), connection: answer.headers.get("connection") };
  };
  const client = newClient();
  return {
    ...server,
    leaf,
    post: (path: string, body: string, method?: string) => post(client, path, body, method),
    postAnew: async (path: string, body: string) => {
      using own = newClient();
      return await post(own, path, body);
    },
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
    [Symbol.dispose]: () => client.close(),
  };
};

const ECHO: Route<never> = { bytesMax: 1000, answer: (text) => Effect.succeed({ status: 200, body: text }) };

Deno.test("webhookServer() answers its routes and says what else there is", async () => {
  using server = await running({ "/echo": ECHO });
  deepStrictEqual((await server.post("/echo?timeout=5s", "größe")).text, "größe");
  deepStrictEqual((await server.post("/other", "")).status, 404);
  deepStrictEqual((await server.post("/constructor", "")).status, 404);
  deepStrictEqual((await server.post("/echo", "", "GET")).status, 405);
  await server.stop();
});

Deno.test("webhookServer() refuses a body beyond its bound and goes on", async () => {
  using server = await running({ "/echo": ECHO });
  strictEqual((await server.post("/echo", "x".repeat(1000))).status, 200);
  strictEqual((await server.post("/echo", "x".repeat(1001))).status, 413);
  strictEqual((await server.post("/echo", "x")).status, 200);
  await server.stop();
});

Deno.test("webhookServer() answers 500 for an answer that fails and goes on", async () => {
  using server = await running({ "/bad": { bytesMax: 10, answer: () => Effect.die(new Error("no")) }, "/echo": ECHO });
  strictEqual((await server.post("/bad", "x")).status, 500);
  strictEqual((await server.post("/echo", "x")).status, 200);
  await server.stop();
});

Deno.test("webhookServer() takes another certificate while it is called, and no call fails", async () => {
  using server = await running({ "/echo": ECHO });
  let [going, calls] = [true, 0];
  const callers = Array.from({ length: 3 }, async (_, caller) => {
    while (going) {
      // Two of them open a connection for each call, the third keeps its own.
      strictEqual((await (caller === 0 ? server.post : server.postAnew)("/echo", "x")).status, 200);
      calls++;
    }
  });
  for (let swap = 0; swap < 5; swap++) {
    server.renew(await server.leaf());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  going = false;
  await Promise.all(callers);
  ok(calls > 10);
  await server.stop();
});

Deno.test("webhookServer() goes on answering while it drains, and ends each connection", async () => {
  using server = await running({ "/echo": ECHO }, 300);
  await server.post("/echo", "x");
  const stopped = server.stop();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const late = await server.post("/echo", "late");
  deepStrictEqual([late.status, late.connection], [200, "close"]);
  await stopped;
  await server.post("/echo", "x").then(() => ok(false, "still answers"), () => {});
});
