import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { aTick, aWhile, eventually, unchanged } from "../../tests/waiting.ts";
import * as Effect from "effect/Effect";
import * as Logger from "effect/Logger";
import { TestClock } from "effect/testing";
import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { at, type JsonObject, stringAt } from "../../core/data/json.ts";
import { scraped } from "../../tests/scraped.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { LiveFigures, newFigures } from "../runtime/metrics.ts";
import { serveMetrics } from "./metrics_server.ts";
import { LiveTlsProfile } from "../kubernetes/tls_profile.ts";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";

const freePort = (): number => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
};

/** Reviews as the API server answers them; the tokens that were reviewed, in order. Its answers wait while `held` is set. */
const reviewer = () => {
  const asked: Array<string> = [];
  const gate: Gate = { held: undefined };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.json() as JsonObject;
    if (body.kind === "TokenReview") {
      const token = stringAt(body, "spec", "token") ?? "";
      asked.push(token);
      await gate.held;
      const known = ["reader", "stranger"].includes(token);
      return Response.json({ ...body, status: known ? { authenticated: true, user: { username: token } } : {} }, {
        status: 201,
      });
    }
    const isAsked = at(body, "spec", "nonResourceAttributes", "path") === "/metrics";
    return Response.json({ ...body, status: { allowed: isAsked && stringAt(body, "spec", "user") === "reader" } }, {
      status: 201,
    });
  });
  return { asked, gate, url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
};

interface Gate {
  held: Promise<void> | undefined;
}

const serving = async (
  use: (port: number, asked: ReadonlyArray<string>, gate: Gate) => Promise<void>,
  url?: string,
) => {
  const reviews = reviewer();
  const port = freePort();
  const connection = {
    url: url ?? reviews.url,
    caPem: () => undefined,
    clientCertificate: undefined,
    token: () => undefined,
  };
  try {
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* serveMetrics({ metricsAddress: `127.0.0.1:${port}`, operatorNamespace: "o" });
        yield* Effect.promise(() => use(port, reviews.asked, reviews.gate));
      }).pipe(
        Effect.scoped,
        Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make),
        Effect.provideService(LiveFigures, newFigures()),
        Effect.provide(Cluster.layer(connection)),
        Effect.provide(Logger.layer([])),
      ),
    );
  } finally {
    await reviews.stop();
  }
};

Deno.test("serveMetrics() serves accounts authorized by the API server over HTTPS, and reviews them once a minute", () =>
  serving(async (port, asked) => {
    const statuses: Array<number> = [];
    for (const token of [undefined, "nobody", "stranger", "reader", "reader", "nobody"]) {
      statuses.push((await scraped(port, token)).status);
    }
    deepStrictEqual(statuses, [401, 401, 403, 200, 200, 401]);
    deepStrictEqual(asked, ["nobody", "stranger", "reader"]);
    match((await scraped(port, "reader")).text, /^process_resident_memory_bytes \d+$/m);
  }));

Deno.test("serveMetrics() reviews a flood of tokens a few at a time, and still serves an authorized reader", () =>
  serving(async (port, asked) => {
    deepStrictEqual((await scraped(port, "reader")).status, 200);
    const flood = Promise.all(Array.from({ length: 60 }, (_, index) => scraped(port, `flood-${index}`)));
    deepStrictEqual((await scraped(port, "reader")).status, 200);
    const statuses = (await flood).map(({ status }) => status);
    ok(statuses.every((status) => status === 401 || status === 503) && statuses.includes(503), statuses.join());
    ok(asked.length < 40, `${asked.length} reviews`);
    deepStrictEqual((await scraped(port, "x".repeat(15_000))).status, 401);
  }));

Deno.test("serveMetrics() serves a reader that it has never seen while another address sends unknown tokens", () =>
  serving(async (port, asked, gate) => {
    let isOver = false;
    const flood = Promise.all(Array.from({ length: 40 }, async (_, index) => {
      for (let count = 0; !isOver; count++) await scraped(port, `flood-${index}-${count}`);
    }));
    while (asked.length < 8) await aTick();
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gate.held = promise;
    // No review ends, so its number shows only what happens once the reader waits.
    const before = await unchanged(() => asked.length);
    const reader = scraped(port, "reader", "127.0.0.2");
    await aWhile();
    gate.held = undefined;
    open();
    deepStrictEqual((await reader).status, 200);
    // As many as were under review already, and those whose turn came first.
    ok(asked.length - before <= 12, `${asked.length - before} reviews`);
    isOver = true;
    await flood;
  }));

Deno.test("serveMetrics() serves nobody while the API server cannot review tokens", () =>
  serving(async (port) => {
    deepStrictEqual((await scraped(port, "reader")).status, 503);
  }, "http://127.0.0.1:1"));

/** Serial number of the certificate that a client sees. */
const serialSeen = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });

Deno.test("serveMetrics() serves a mounted certificate until another one is complete", async () => {
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 86_400_000 };
  const issued = async () => await makeLeaf(await makeAuthority(validity), ["metrics.example.com"], validity);
  const [one, two] = [await issued(), await issued()];
  const write = (file: string, text: string) => Effect.promise(() => Deno.writeTextFile(`${folder}/${file}`, text));
  const connection = {
    url: "http://127.0.0.1:1",
    caPem: () => undefined,
    clientCertificate: undefined,
    token: () => undefined,
  };
  const look = Effect.andThen(TestClock.adjust("61 seconds"), Effect.promise(() => serialSeen(port)));
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* write("tls.crt", one.cert);
      yield* write("tls.key", one.key);
      yield* serveMetrics({
        metricsAddress: `127.0.0.1:${port}`,
        operatorNamespace: "o",
        metricsCertificateDirectory: folder,
      });
      const first = yield* look;
      // In the middle of a change: the new certificate, and still the old key.
      yield* write("tls.crt", two.cert);
      yield* look;
      yield* Effect.promise(() => aWhile());
      strictEqual(yield* look, first);
      yield* write("tls.key", two.key);
      const isNew = Effect.map(look, (serial) => serial === new X509Certificate(two.cert).serialNumber);
      const context = yield* Effect.context<never>();
      yield* Effect.promise(() =>
        eventually("the new one is served", async () => await Effect.runPromiseWith(context)(isNew) || undefined)
      );
    }).pipe(
      Effect.scoped,
      Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make),
      Effect.provideService(LiveFigures, newFigures()),
      Effect.provide([Cluster.layer(connection), Logger.layer([]), TestClock.layer()]),
    ),
  );
  await Deno.remove(folder, { recursive: true });
});
