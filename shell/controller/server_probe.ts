/**
 * Requests version, providers and models from ready servers, independently of reconciliations: a slow server only
 * delays its own answer.
 */
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as FiberMap from "effect/FiberMap";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Semaphore from "effect/Semaphore";
import type { Json } from "../../core/data/json.ts";
import { ANSWER_BOUNDS, readJson } from "../../core/data/json_text.ts";
import type { ServerAnswers } from "../../core/snapshot/cluster_snapshot.ts";
import { answersOf, type Question } from "../../core/report/server_answers.ts";
import type { Connection } from "../kubernetes/cluster.ts";
import { withCauses } from "../kubernetes/cluster_error.ts";
import { ASK_AGAIN_MS, ASK_BYTES_MAX, ASK_RETRY_MS, ASK_TIMEOUT_MS, ASKED_MAX } from "../limits.ts";
import { bytesWithin, within } from "../kubernetes/http_client.ts";
import { proxyClientOptions, proxyHeaders, proxyUrl } from "../kubernetes/service_proxy.ts";
import { foreignResponse } from "../runtime/foreign_response.ts";
import { Store } from "../cache/store.ts";

/** How servers are reached: by the DNS name of their Service, or through the API server from outside the cluster. */
export type Route = "Direct" | "Proxied";

export class ServerProbe extends Context.Service<ServerProbe, {
  /** The last answers of this server, undefined if there are none yet; it is requested regularly from now on, until `undefined` is passed. */
  readonly answers: (key: string, question: Question | undefined) => Effect.Effect<ServerAnswers | undefined>;
  /** Waits for a resource `namespace/name` whose answers changed. */
  readonly changed: Effect.Effect<string>;
}>()("llama-stack-operator/shell/ServerProbe") {
  static readonly layer = (connection: Connection, route: Route) => Layer.effect(ServerProbe, ask(connection, route));
}

const ask = Effect.fnUntraced(function* (connection: Connection, route: Route) {
  const store = yield* Store;
  const changes = yield* Queue.unbounded<string>();
  const askers = yield* FiberMap.make<string>();
  const seats = yield* Semaphore.make(ASKED_MAX);
  // As many as there are resources with a ready server.
  const known = new Map<string, { readonly question: string; answers: ServerAnswers | undefined }>();

  const follow = (key: string, question: Question) =>
    Effect.gen(function* () {
      const mine = known.get(key);
      if (mine === undefined) return;
      let retryMs = ASK_RETRY_MS;
      while (yield* store.knows(key)) {
        const before = mine.answers;
        const found = yield* seats.withPermits(1)(askOnce(connection, route, question, before));
        mine.answers = found;
        if (JSON.stringify(found) !== JSON.stringify(before)) yield* Queue.offer(changes, key);
        yield* Effect.sleep(Duration.millis(found === undefined ? retryMs : ASK_AGAIN_MS));
        retryMs = found === undefined ? Math.min(retryMs * 2, ASK_AGAIN_MS) : ASK_RETRY_MS;
      }
      if (known.get(key) === mine) known.delete(key);
    });

  return ServerProbe.of({
    answers: (key, question) =>
      Effect.gen(function* () {
        if (question === undefined || cannotBeChecked(question, route)) {
          known.delete(key);
          yield* FiberMap.remove(askers, key);
          return undefined;
        }
        const text = JSON.stringify(question);
        const current = known.get(key);
        if (current?.question === text) return current.answers;
        known.set(key, { question: text, answers: undefined });
        yield* FiberMap.run(askers, key, follow(key, question));
        return undefined;
      }),
    changed: Queue.take(changes),
  });
});

/** The API server's proxy checks no certificate of a Service. */
const cannotBeChecked = ({ caPem }: Question, route: Route): boolean => route === "Proxied" && caPem !== undefined;

const askOnce = Effect.fnUntraced(
  function* (connection: Connection, route: Route, question: Question, before: ServerAnswers | undefined) {
    const ask = route === "Direct" ? direct(question) : yield* proxied(connection, question);
    const answer = (path: string) =>
      Effect.tryPromise((signal) => within(ASK_TIMEOUT_MS, signal, (both) => readAnswer(ask(path, both), both))).pipe(
        Effect.tapError(({ cause }) =>
          Effect.logDebug("server did not answer").pipe(Effect.annotateLogs({ path, cause: withCauses(cause) }))
        ),
        Effect.orElseSucceed(() => undefined),
      );
    const list = (path: string) => question.authenticates ? Effect.undefined : answer(path);
    const [version, providers, models] = yield* Effect.all(
      [answer("/v1/version"), list("/v1/providers"), list("/v1/models")],
      { concurrency: "unbounded" },
    );
    return answersOf(version, providers, models, before);
  },
  Effect.scoped,
  // Not a valid certificate authority: the server cannot be requested.
  Effect.catch(() => Effect.succeed(undefined)),
);

/** Requests one path of a server. */
type Ask = (path: string, signal: AbortSignal) => Promise<Response>;

const direct = ({ namespace, service, port, caPem }: Question): Ask => {
  const url = `${caPem === undefined ? "http" : "https"}://${service}.${namespace}.svc:${port}`;
  const ca = caPem === undefined ? [] : [caPem];
  return (path, signal) => foreignResponse(new URL(`${url}${path}`), { headers: {}, signal, ca });
};

/** Needs a scope, at whose end the client is closed. */
const proxied = Effect.fnUntraced(function* (connection: Connection, { namespace, service, port }: Question) {
  const client = yield* Effect.acquireRelease(
    Effect.try(() => Deno.createHttpClient(proxyClientOptions(connection))),
    (item) => Effect.sync(() => item.close()),
  );
  const url = proxyUrl(connection, { namespace, service, port, scheme: "http" });
  const headers = new Headers(proxyHeaders(connection));
  // Redirects of a server are not followed.
  const ask: Ask = (path, signal) => fetch(`${url}${path}`, { client, headers, redirect: "manual", signal });
  return ask;
});

const readAnswer = async (answer: Promise<Response>, signal: AbortSignal): Promise<Json> => {
  const response = await answer;
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`HTTP ${response.status}`);
  }
  const bytes = await bytesWithin(response, ASK_BYTES_MAX, signal);
  if (bytes === undefined) throw new Error(`more than ${ASK_BYTES_MAX} bytes`);
  return Result.getOrThrow(readJson(bytes, ANSWER_BOUNDS));
};
