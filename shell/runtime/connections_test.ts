import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AddressInfo } from "node:net";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Logger from "effect/Logger";
import * as Scope from "effect/Scope";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";
import { boundConnections, type Connections, TLS_SETTINGS } from "./connections.ts";
import { serveHealth } from "../process/health.ts";
import {
  FRESH_CONNECTION_MS,
  HEALTH_CONNECTIONS_MAX,
  HEALTH_HEADERS_MS,
  IDLE_CONNECTIONS_PER_ADDRESS_MAX,
  WEBHOOK_CONNECTIONS_MAX,
  WEBHOOK_HEADERS_MS,
  WEBHOOK_RECEIVING_MAX,
} from "../limits.ts";
import { webhookServer } from "../webhooks/webhook_server.ts";
import { aMoment, aTick, pause, until } from "../../tests/waiting.ts";
import { LiveTlsProfile } from "../kubernetes/tls_profile.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
const text = (value: string) => new TextEncoder().encode(value);

interface Listening {
  readonly port: number;
  readonly caPem?: string;
  /** A whole request for an answer. */
  readonly request: string;
  readonly stop: () => Promise<void>;
}

/** Until the test stops it. */
const scoped = async <A>(program: Effect.Effect<A, unknown, Scope.Scope>) => {
  const scope = Scope.makeUnsafe();
  const made = await Effect.runPromise(
    program.pipe(Scope.provide(scope), Effect.provide(Logger.layer([]))) as Effect.Effect<A>,
  );
  return { made, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) };
};

const HEALTH = async (): Promise<Listening> => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const { stop } = await scoped(serveHealth({ healthAddress: `127.0.0.1:${port}`, notReady: () => undefined }));
  return { port, request: "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n", stop };
};

const WEBHOOKS = async (): Promise<Listening> => {
  const authority = await makeAuthority(validity);
  const { made, stop } = await scoped(
    webhookServer({
      hostname: "127.0.0.1",
      port: 0,
      certificate: await makeLeaf(authority, ["127.0.0.1"], validity),
      routes: {
        "/echo": {
          bytesMax: { "API server": 100, anybody: 100 },
          answer: (body) => Effect.succeed({ status: 200, body: [body] }),
        },
      },
      drainMs: 0,
      proof: { segment: () => "segment" },
    }).pipe(Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make)),
  );
  return {
    port: made.port,
    caPem: authority.certificate,
    request: "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx",
    stop,
  };
};

const connected = ({ port, caPem }: Pick<Listening, "port" | "caPem">): Promise<Deno.Conn> =>
  caPem === undefined
    ? Deno.connect({ hostname: "127.0.0.1", port })
    : Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caPem] });

/** The first line of the answer; undefined where the connection was ended. */
const answer = async (connection: Deno.Conn, request: string): Promise<string | undefined> => {
  try {
    await connection.write(text(request));
    const buffer = new Uint8Array(1024);
    const bytes = await connection.read(buffer);
    return bytes === null ? undefined : new TextDecoder().decode(buffer.subarray(0, bytes)).split("\r\n")[0];
  } catch {
    return undefined;
  }
};

const closed = (connections: ReadonlyArray<Deno.Conn>): void =>
  connections.forEach((connection) => {
    try {
      connection.close();
    } catch {
      // Ended by the server.
    }
  });

const OK = "HTTP/1.1 200 OK";

const HEADERS_MS = Math.min(HEALTH_HEADERS_MS, WEBHOOK_HEADERS_MS);

for (
  const [what, listen, bound] of [
    ["the health port", HEALTH, HEALTH_CONNECTIONS_MAX],
    ["the webhooks", WEBHOOKS, WEBHOOK_CONNECTIONS_MAX],
  ] as const
) {
  for (
    const [how, begun] of [
      ["silent connections", ""],
      ["connections that never end their request", "POST /echo HTTP/1.1\r\nhost: a\r\nx-slow: "],
    ] as const
  ) {
    Deno.test(`${what}: a new caller is answered at once beside more ${how} than the bound`, async () => {
      const server = await listen();
      const held: Array<Deno.Conn> = [];
      try {
        for (let index = 0; index < bound + 100; index++) {
          const connection = begun === ""
            ? await Deno.connect({ hostname: "127.0.0.1", port: server.port })
            : await connected(server);
          held.push(connection);
          if (begun !== "") await connection.write(text(begun));
        }
        await aMoment();
        const startedMs = performance.now();
        const connection = await connected(server);
        held.push(connection);
        strictEqual(await answer(connection, server.request), OK);
        // Whoever has to wait for a connection to end waits until its time for a head is over.
        const tookMs = performance.now() - startedMs;
        ok(tookMs < HEADERS_MS / 2, `${tookMs} ms`);
      } finally {
        closed(held);
        await server.stop();
      }
    });
  }

  Deno.test(`${what}: requests now and then keep only some connections of an address`, async () => {
    const server = await listen();
    const held: Array<Deno.Conn> = [];
    try {
      for (let index = 0; index < IDLE_CONNECTIONS_PER_ADDRESS_MAX + 10; index++) {
        const connection = await connected(server);
        held.push(connection);
        strictEqual(await answer(connection, server.request), OK);
        // The end of the answer is noticed before the next one.
        await aTick();
      }
      const again = [];
      for (const connection of held) again.push(await answer(connection, server.request));
      deepStrictEqual(again.map((item) => item === OK), held.map((_, index) => index >= 10));
    } finally {
      closed(held);
      await server.stop();
    }
  });
}

/**
 * A listener with small bounds, where `/wait` is answered when the test decides, and `/proven` comes from the API
 * server.
 */
const small = async (max: number, withTls = false) => {
  const waiting: Array<() => void> = [];
  let connections: Connections | undefined;
  const answered = (request: IncomingMessage, response: ServerResponse) => {
    connections?.asked(request, request.url?.endsWith("/proven") === true);
    const end = () => response.end("ok");
    if (request.url?.startsWith("/wait") === true) waiting.push(end);
    else end();
  };
  const authority = withTls ? await makeAuthority(validity) : undefined;
  const server: Server = authority === undefined
    ? createServer(answered)
    : createTlsServer(await makeLeaf(authority, ["127.0.0.1"], validity), answered);
  const bounded = connections = boundConnections(server, {
    max,
    headersMs: 60_000,
    bodyMs: 60_000,
    idleMs: 60_000,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  const held: Array<Deno.Conn> = [];
  return {
    waiting,
    count: bounded.count,
    open: async () => {
      const connection = await connected({
        port,
        ...(authority === undefined ? {} : { caPem: authority.certificate }),
      });
      held.push(connection);
      await aTick();
      return {
        close: () => connection.close(),
        begin: (path: string) => connection.write(text(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)),
        get: async (path: string) => {
          const line = await answer(connection, `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
          await aTick();
          return line;
        },
      };
    },
    stop: async () => {
      waiting.forEach((end) => end());
      bounded.end();
      closed(held);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

Deno.test("at the limit the longest idle connection is closed, and that of the API server is kept", async () => {
  const server = await small(3);
  try {
    const [proven, first, second] = [await server.open(), await server.open(), await server.open()];
    strictEqual(await proven.get("/proven"), OK);
    strictEqual(await first.get("/"), OK);
    strictEqual(await second.get("/"), OK);
    const third = await server.open();
    strictEqual(await third.get("/"), OK);
    deepStrictEqual([await first.get("/"), await second.get("/"), await proven.get("/")], [undefined, OK, OK]);
  } finally {
    await server.stop();
  }
});

Deno.test("at the bound an idle connection ends before one that came just now, and after one that came long ago", async () => {
  const server = await small(2);
  try {
    const [idle, fresh] = [await server.open(), await server.open()];
    strictEqual(await idle.get("/"), OK);
    const next = await server.open();
    deepStrictEqual([await idle.get("/"), await fresh.get("/")], [undefined, OK]);
    await pause(FRESH_CONNECTION_MS);
    await server.open();
    deepStrictEqual([await fresh.get("/"), await next.get("/")], [OK, undefined]);
  } finally {
    await server.stop();
  }
});

Deno.test("at the limit a response to another client is dropped, and none to the API server", async () => {
  const server = await small(2);
  try {
    const [proven, anybody] = [await server.open(), await server.open()];
    await proven.begin("/wait/proven");
    await anybody.begin("/wait");
    while (server.waiting.length < 2) await aTick();
    const other = await server.open();
    strictEqual(await anybody.get("/"), undefined);
    await other.begin("/wait/proven");
    while (server.waiting.length < 3) await aTick();
    strictEqual(await (await server.open()).get("/"), undefined);
    strictEqual(server.count(), 2);
  } finally {
    await server.stop();
  }
});

for (const withTls of [false, true]) {
  Deno.test(`closed connections are no longer counted, ${withTls ? "with" : "without"} TLS`, async () => {
    const server = await small(10, withTls);
    try {
      for (let index = 0; index < 15; index++) {
        const connection = await server.open();
        if (index % 2 === 0) strictEqual(await connection.get("/"), OK);
        connection.close();
      }
      await until("none is counted", () => server.count() === 0);
    } finally {
      await server.stop();
    }
  });
}

Deno.test("the webhooks: few connections of one address send at a time, but any number of the API server's", async () => {
  const server = await WEBHOOKS();
  const held: Array<Deno.Conn> = [];
  const begin = async (count: number) => {
    const begun: Array<Deno.Conn> = [];
    for (let index = 0; index < count; index++) {
      const connection = await connected(server);
      begun.push(connection);
      held.push(connection);
      await connection.write(text("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n"));
      await aTick();
    }
    await aMoment();
    const ended = [];
    for (const connection of begun) ended.push((await answer(connection, "x")) === OK);
    return ended;
  };
  try {
    const count = WEBHOOK_RECEIVING_MAX.perAddress + 2;
    // Which ones had to go depends on which were still new; the last one is never among them.
    const answered = await begin(count);
    strictEqual(answered.filter((isAnswered) => isAnswered).length, WEBHOOK_RECEIVING_MAX.perAddress);
    strictEqual(answered.at(-1), true);
    const proven = await connected(server);
    held.push(proven);
    strictEqual(await answer(proven, server.request.replace("/echo", "/echo/segment")), OK);
    deepStrictEqual(await begin(count), Array.from({ length: count }, () => true));
  } finally {
    closed(held);
    await server.stop();
  }
});

for (const [what, listen] of [["the health port", HEALTH], ["the webhooks", WEBHOOKS]] as const) {
  Deno.test(`${what}: a caller that sends the next request before it has the answer to the last one is disconnected`, async () => {
    const server = await listen();
    try {
      using connection = await connected(server);
      const request = text("GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n".repeat(500));
      let sent = 0;
      // Nothing is read; where the answers were kept, this would never end.
      while (await connection.write(request).then(() => true, () => false) && sent < 4000) sent++;
      ok(sent < 4000, `${sent} writes were taken`);
      using other = await connected(server);
      strictEqual(await answer(other, server.request), OK);
      await aMoment();
      strictEqual(await answer(other, server.request), OK);
    } finally {
      await server.stop();
    }
  });
}

Deno.test("nothing is kept of connections that end without a handshake once that would have timed out", async () => {
  // As `--expose-gc` at the start.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { cert, key } = await makeLeaf(await makeAuthority(validity), ["127.0.0.1"], validity);
  const server = createTlsServer({ cert, key, ...TLS_SETTINGS });
  boundConnections(server as unknown as Server, { max: 8, headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 });
  const kept: Array<WeakRef<object>> = [];
  server.on("connection", (socket) => kept.push(new WeakRef(socket)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    for (let count = 0; count < 50; count++) (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    await until("they are seen", () => kept.length === 50);
    await until("they are gone", () => {
      collect();
      return kept.every((item) => item.deref() === undefined);
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
