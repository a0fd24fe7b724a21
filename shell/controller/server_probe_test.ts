import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as References from "effect/References";
import { TestClock } from "effect/testing";
import { KIND } from "../../core/api/v1alpha2.ts";
import type { JsonObject } from "../../core/data/json.ts";
import type { Question } from "../../core/report/server_answers.ts";
import type { Connection } from "../kubernetes/cluster.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { operatorFacts } from "../process/run.ts";
import { type Route, ServerProbe } from "./server_probe.ts";
import { Store } from "../cache/store.ts";
import { aMoment, until } from "../../tests/waiting.ts";

const QUESTION: Question = {
  namespace: "n",
  service: "my-service",
  port: 8321,
  caPem: undefined,
  authenticates: false,
  uid: "u",
  template: "t",
};
const RESOURCE: JsonObject = { kind: KIND, metadata: { name: "my", namespace: "n" } };
const PROXY = "/api/v1/namespaces/n/services/http:my-service:8321/proxy";
const GOOD: Readonly<Record<string, unknown>> = {
  [`${PROXY}/v1/version`]: { version: "0.7.1" },
  [`${PROXY}/v1/providers`]: {
    data: [{ api: "vector_io", provider_id: "f", provider_type: "inline::faiss", config: {} }],
  },
  [`${PROXY}/v1/models`]: { data: [{ id: "m" }] },
};

interface Server {
  answer: (path: string) => Response;
  readonly asked: Array<string>;
  readonly tokens: Set<string | null>;
  /** Answers that were read and cannot be used. */
  failed: number;
}

/** A stand-in for the API server; `answer` may change while it runs. */
const withApiServer = async (
  test: (
    server: Server,
    layer: (route: Route) => Layer.Layer<ServerProbe | Store>,
  ) => Promise<void>,
) => {
  const state: Server = {
    answer: (path) => path in GOOD ? Response.json(GOOD[path]) : new Response("", { status: 404 }),
    asked: [],
    tokens: new Set(),
    failed: 0,
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    state.asked.push(pathname);
    state.tokens.add(request.headers.get("authorization"));
    return state.answer(pathname);
  });
  const connection: Connection = {
    url: `http://127.0.0.1:${server.addr.port}`,
    caPem: () => undefined,
    clientCertificate: undefined,
    token: () => "secret",
  };
  try {
    const facts = Layer.sync(
      OperatorFacts,
      () => operatorFacts({ operatorNamespace: "operator-system", relatedImages: new Map() }, [], "key"),
    );
    const store = Layer.provide(Store.layer, facts);
    const heard = Logger.layer([Logger.make(({ message }) => {
      if (String(message) === "server did not answer") state.failed++;
    })]);
    await test(
      state,
      (route) => Layer.mergeAll(Layer.provideMerge(ServerProbe.layer(connection, route), store), heard),
    );
  } finally {
    await server.shutdown();
  }
};

const run = <A, E>(layer: Layer.Layer<ServerProbe | Store>, program: Effect.Effect<A, E, ServerProbe | Store>) =>
  Effect.runPromise(
    program.pipe(
      Effect.provide([layer, TestClock.layer()]),
      Effect.provideService(References.MinimumLogLevel, "Debug"),
    ),
  );

Deno.test("ServerProbe reports that a server answered, and returns its answers from then on", () =>
  withApiServer((server, layer) =>
    run(
      layer("Proxied"),
      Effect.gen(function* () {
        yield* (yield* Store).put(RESOURCE, "list");
        const asked = yield* ServerProbe;
        strictEqual(yield* asked.answers("n/my", QUESTION), undefined);
        strictEqual(yield* asked.changed, "n/my");
        const want = {
          version: "0.7.1",
          providers: [{ api: "vector_io", provider_id: "f", provider_type: "inline::faiss" }],
          models: ["m"],
        };
        deepStrictEqual(yield* asked.answers("n/my", QUESTION), want);
        deepStrictEqual(server.asked.toSorted(), Object.keys(GOOD).toSorted());
        deepStrictEqual([...server.tokens], ["Bearer secret"]);
        // No change: no notification.
        const next = yield* Effect.forkChild(asked.changed);
        yield* TestClock.adjust("299 seconds");
        strictEqual(server.asked.length, 3);
        server.answer = (path) => path.endsWith("models") ? Response.json({ data: [] }) : Response.json(GOOD[path]);
        yield* TestClock.adjust("2 seconds");
        strictEqual(yield* Fiber.join(next), "n/my");
        deepStrictEqual((yield* asked.answers("n/my", QUESTION))?.models, []);
        // Another pod template is another server.
        strictEqual(yield* asked.answers("n/my", { ...QUESTION, template: "t2" }), undefined);
        strictEqual(yield* asked.changed, "n/my");
        strictEqual(server.asked.length, 9);
      }),
    )
  ));

Deno.test("ServerProbe retries a silent server with backoff, and forgets a deleted resource", () =>
  withApiServer((server, layer) =>
    run(
      layer("Proxied"),
      Effect.gen(function* () {
        const store = yield* Store;
        yield* store.put(RESOURCE, "list");
        const asked = yield* ServerProbe;
        server.answer = () => new Response("no", { status: 503 });
        yield* asked.answers("n/my", QUESTION);
        /** So many questions were asked, and their answers were read: the next ones are due after a pause. */
        const settle = (count: number) =>
          Effect.promise(async () => {
            await until(`${count} answers`, () => server.failed >= count);
            await aMoment();
            deepStrictEqual([server.asked.length, server.failed], [count, count]);
          });
        yield* settle(3);
        yield* TestClock.adjust("15 seconds");
        yield* settle(6);
        yield* TestClock.adjust("16 seconds");
        yield* settle(6);
        strictEqual(yield* asked.answers("n/my", QUESTION), undefined);
        yield* store.drop(RESOURCE);
        yield* TestClock.adjust("10 minutes");
        yield* settle(6);
      }),
    )
  ));

Deno.test("ServerProbe rejects an answer that is too long, a redirect or invalid JSON", () =>
  withApiServer(async (server, layer) => {
    for (
      const answer of [
        () => new Response(" ".repeat(5 * 1024 * 1024)),
        (path: string) => Response.redirect(`http://127.0.0.1:1${path}`),
        () => new Response("<html>"),
      ]
    ) {
      server.answer = answer;
      await run(
        layer("Proxied"),
        Effect.gen(function* () {
          yield* (yield* Store).put(RESOURCE, "list");
          const asked = yield* ServerProbe;
          const before = server.failed;
          yield* asked.answers("n/my", QUESTION);
          yield* Effect.promise(() => until("they are answered", () => server.failed >= before + 3));
          yield* Effect.promise(aMoment);
          strictEqual(yield* asked.answers("n/my", QUESTION), undefined);
        }),
      );
    }
    ok(server.asked.length >= 9);
  }));

Deno.test("ServerProbe never asks a server with TLS through the proxy, which verifies no certificate", () =>
  withApiServer((server, layer) =>
    run(
      layer("Proxied"),
      Effect.gen(function* () {
        yield* (yield* Store).put(RESOURCE, "list");
        const asked = yield* ServerProbe;
        strictEqual(yield* asked.answers("n/my", { ...QUESTION, caPem: "pem" }), undefined);
        yield* Effect.promise(() => aMoment());
        deepStrictEqual(server.asked, []);
      }),
    )
  ));

Deno.test("ServerProbe asks a server that authenticates its callers for its version only", () =>
  withApiServer((server, layer) =>
    run(
      layer("Proxied"),
      Effect.gen(function* () {
        yield* (yield* Store).put(RESOURCE, "list");
        const asked = yield* ServerProbe;
        const question = { ...QUESTION, authenticates: true };
        yield* asked.answers("n/my", question);
        strictEqual(yield* asked.changed, "n/my");
        deepStrictEqual(yield* asked.answers("n/my", question), { version: "0.7.1", providers: [], models: [] });
        deepStrictEqual(server.asked, [`${PROXY}/v1/version`]);
      }),
    )
  ));
