import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import { makeAuthority, makeLeaf } from "./certificate_maker.ts";
import { WEBHOOK_HEADERS_MS, WEBHOOK_IN_FLIGHT_BYTES_MAX } from "../limits.ts";
import { NO_PROOF, type Proof, type Route, webhookServer } from "./webhook_server.ts";
import { aMoment, aTick, until } from "../../tests/waiting.ts";
import { LiveTlsProfile } from "../kubernetes/tls_profile.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };

const running = async (routes: Readonly<Record<string, Route<never>>>, drainMs = 0, proof: Proof = NO_PROOF) => {
  const authority = await makeAuthority(validity);
  const leaf = () => makeLeaf(authority, ["127.0.0.1"], validity);
  const certificate = await leaf();
  const scope = Scope.makeUnsafe();
  const server = await Effect.runPromise(
    webhookServer({ hostname: "127.0.0.1", port: 0, certificate, routes, drainMs, proof }).pipe(
      Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make),
      Scope.provide(scope),
    ),
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

const echo = (bytesMax: number): Route<never> => ({
  bytesMax: { "API server": bytesMax, anybody: bytesMax },
  answer: (body, caller) =>
    Effect.succeed({ status: 200, body: caller === "anybody" ? [body] : [body, " (API server)"] }),
});
const ECHO = echo(1000);

Deno.test("webhookServer() answers its routes and lists them otherwise", async () => {
  using server = await running({ "/echo": ECHO });
  deepStrictEqual((await server.post("/echo?timeout=5s", "größe")).text, "größe");
  deepStrictEqual((await server.post("/other", "")).status, 404);
  deepStrictEqual((await server.post("/constructor", "")).status, 404);
  deepStrictEqual((await server.post("/echo", "", "GET")).status, 405);
  await server.stop();
});

Deno.test("webhookServer() rejects a body beyond its bound and continues", async () => {
  using server = await running({ "/echo": ECHO });
  strictEqual((await server.post("/echo", "x".repeat(1000))).status, 200);
  strictEqual((await server.post("/echo", "x".repeat(1001))).status, 413);
  strictEqual((await server.post("/echo", "x")).status, 200);
  await server.stop();
});

Deno.test("webhookServer() answers 500 if a handler fails, and continues", async () => {
  using server = await running({ "/bad": { ...ECHO, answer: () => Effect.die(new Error("no")) }, "/echo": ECHO });
  strictEqual((await server.post("/bad", "x")).status, 500);
  strictEqual((await server.post("/echo", "x")).status, 200);
  await server.stop();
});

Deno.test("webhookServer() changes its certificate while it is called, and no call fails", async () => {
  using server = await running({ "/echo": ECHO });
  let going = true;
  const calls = [0, 0, 0];
  const callers = calls.map(async (_, caller) => {
    while (going) {
      // Two of them open a connection for each call, the third keeps its own.
      strictEqual((await (caller === 0 ? server.post : server.postAnew)("/echo", "x")).status, 200);
      calls[caller] = (calls[caller] ?? 0) + 1;
    }
  });
  for (let swap = 0; swap < 5; swap++) {
    server.renew(await server.leaf());
    // Two of each caller: the second one has begun afterwards.
    const before = [...calls];
    await until("calls with it", () => calls.every((count, caller) => count >= (before[caller] ?? 0) + 2));
  }
  going = false;
  await Promise.all(callers);
  await server.stop();
});

Deno.test("webhookServer() continues to answer while it drains, and closes each connection", async () => {
  // Long enough for a call from a machine with much else to do.
  using server = await running({ "/echo": ECHO }, 2000);
  await server.post("/echo", "x");
  const stopped = server.stop();
  await aMoment();
  const late = await server.post("/echo", "late");
  deepStrictEqual([late.status, late.connection], [200, "close"]);
  await stopped;
  await server.post("/echo", "x").then(() => ok(false, "still answers"), () => {});
});

Deno.test("webhookServer() treats only callers with the secret path segment as the API server", async () => {
  using server = await running({ "/echo": ECHO }, 0, { segment: () => "0123456789abcdef" });
  deepStrictEqual(
    await server.post("/echo/0123456789abcdef?timeout=5s", "a").then(({ text }) => text),
    "a (API server)",
  );
  deepStrictEqual(await server.post("/echo", "a").then(({ text }) => text), "a");
  for (const path of ["/echo/0123456789abcdee", "/echo/", "/echo/0123456789abcdef0"]) {
    deepStrictEqual((await server.post(path, "a")).text, "a", path);
  }
  for (const path of ["/echo/0123456789abcdef/x", "/0123456789abcdef"]) {
    strictEqual((await server.post(path, "a")).status, 404, path);
  }
  await server.stop();
});

Deno.test("webhookServer() treats no caller as the API server before the segment is published", async () => {
  using server = await running({ "/echo": ECHO });
  for (const path of ["/echo/", "/echo/undefined"]) deepStrictEqual((await server.post(path, "a")).text, "a", path);
  await server.stop();
});

Deno.test("webhookServer() limits what other callers may send at the same time, and keeps memory for the API server", async () => {
  const segment = "0123456789abcdef";
  const most = WEBHOOK_IN_FLIGHT_BYTES_MAX.anybody;
  let goOn = () => {};
  const waits = new Promise<void>((resolve) => void (goOn = resolve));
  let waiting = 0;
  const slow: Route<never> = {
    bytesMax: { "API server": most, anybody: most },
    answer: () =>
      Effect.promise(async () => {
        waiting++;
        await waits;
        return { status: 200, body: ["done"] };
      }),
  };
  using server = await running({ "/slow": slow, "/echo": ECHO }, 0, { segment: () => segment });
  const first = server.post("/slow", "x".repeat(most - 100));
  while (waiting === 0) await aTick();
  strictEqual((await server.postAnew("/echo", "x".repeat(200))).status, 503);
  strictEqual((await server.postAnew(`/echo/${segment}`, "x".repeat(200))).status, 200);
  goOn();
  strictEqual((await first).status, 200);
  strictEqual((await server.postAnew("/echo", "x".repeat(200))).status, 200);
  await server.stop();
});

Deno.test("webhookServer() accepts the longest list of an API server without client certificate", async () => {
  const long = 2 * WEBHOOK_IN_FLIGHT_BYTES_MAX.anybody;
  const size: Route<never> = {
    bytesMax: { "API server": long, anybody: long },
    answer: (body) => Effect.succeed({ status: 200, body: [String(body.length)] }),
  };
  using server = await running({ "/size": size });
  const { status, text } = await server.postAnew("/size", "x".repeat(long));
  deepStrictEqual([status, text], [200, String(long)]);
  await server.stop();
});

Deno.test("webhookServer() closes idle connections, and keeps those of the API server", async () => {
  using server = await running({ "/echo": ECHO });
  strictEqual((await server.post("/echo", "a")).status, 200);
  const idle = await Promise.all(
    Array.from({ length: 30 }, () => Deno.connect({ hostname: "127.0.0.1", port: server.port })),
  );
  const started = performance.now();
  await Promise.all(idle.map((connection) => connection.read(new Uint8Array(8)).catch(() => null)));
  const tookMs = performance.now() - started;
  for (const connection of idle) connection.close();
  ok(tookMs < 2 * WEBHOOK_HEADERS_MS, `${tookMs} ms`);
  strictEqual((await server.post("/echo", "a")).status, 200);
  await server.stop();
});
