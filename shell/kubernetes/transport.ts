/** Calls to the API server by Deno's fetch, with typed errors: one client for calls, another for watches. */
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import type { Json } from "../../core/data/json.ts";
import { fenced, isClusterError, isPassing, rejectionError, tooLong, unreached } from "./cluster_error.ts";
import { Fence } from "./fence.ts";
import { renewableClient, textWithin, within } from "./http_client.ts";
import { CALL_ATTEMPTS_MAX, CONNECTION_IDLE_MS } from "../limits.ts";
import { asked } from "../runtime/metrics.ts";
import { Timeouts } from "./timeouts.ts";

/** Address and protocol of the API server. Token and CA are read repeatedly, because both are rotated. */
export interface Connection {
  readonly url: string;
  /** PEM of the CA that signs its certificates; undefined: none is named. */
  readonly caPem: () => string | undefined;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  readonly token: () => string | undefined;
  /** Namespace of the kubeconfig's context, where it names one. */
  readonly namespace?: string;
}

export interface CallOptions {
  readonly body?: Json;
  /** Of the body; defaults to JSON. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Whether a missing object is an error or a regular response. */
  readonly absent?: "rejection" | "null";
  /** Of the answer that is known: if it would be the same, the answer is null. */
  readonly etag?: string | undefined;
  /** Longest response to read, in bytes; if unset, there is no limit. */
  readonly bytesMax?: number;
}

/** The clients of one connection, and what is sent with them. */
export const transport = Effect.fnUntraced(function* (connection: Connection) {
  const patience = yield* Timeouts;
  // HTTP/1.1 for both. Over HTTP/2 this client sends headers and a longer body in two packets, and waits with the second
  // for an acknowledgement that the other side holds back: 45 ms for a write that takes 2 (seen on Deno 2.9.6). Unread watch
  // bodies on a shared HTTP/2 connection would also block every call behind them.
  const newClient = (caPem: string | undefined) =>
    Deno.createHttpClient({
      ...(caPem === undefined ? {} : { caCerts: [caPem] }),
      ...(connection.clientCertificate === undefined ? {} : connection.clientCertificate),
      http2: false,
      poolIdleTimeout: CONNECTION_IDLE_MS,
    });
  const calls = yield* renewableClient(newClient, connection.caPem);
  const watches = yield* renewableClient(newClient, connection.caPem);

  const headersFor = (accept: string, contentType: string | undefined, etag?: string): Headers => {
    const headers = new Headers({ accept });
    if (etag !== undefined) headers.set("if-none-match", etag);
    const token = connection.token();
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    if (contentType !== undefined) headers.set("content-type", contentType);
    return headers;
  };

  const once = (
    verb: string,
    method: string,
    path: string,
    {
      body,
      contentType = body === undefined ? undefined : "application/json",
      accept = "application/json",
      absent = "rejection",
      etag,
      bytesMax,
    }: CallOptions,
    mayCall: () => boolean,
  ) =>
    calls.using((client) =>
      Effect.tryPromise({
        try: (signal) =>
          within(patience.callMs, signal, async (both) => {
            // The runtime sends when nothing is left to run. What else is ready runs first: nothing but other requests
            // then comes between the fence and the wire, should the process be stopped there and wake without its lease.
            await Promise.resolve();
            if (!mayCall()) throw fenced(verb, path);
            const response = await fetch(`${connection.url}${path}`, {
              method,
              headers: headersFor(accept, contentType, etag),
              signal: both,
              client,
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            });
            const text = bytesMax === undefined ? await response.text() : await textWithin(response, bytesMax, both);
            if (text === undefined) throw tooLong(verb, path, bytesMax ?? 0);
            const { ok, status } = response;
            if (status === 304 || status === 404 && absent === "null") return { status, found: null, etag };
            if (!ok) throw rejectionError(verb, path, response, text);
            const found: Json = text === "" ? null : JSON.parse(text);
            return { status: 200, found, etag: response.headers.get("etag") ?? undefined };
          }),
        catch: (cause) => isClusterError(cause) ? cause : unreached(verb, path, cause),
      })
    ).pipe(
      Effect.tapError((error) => error._tag === "NotLeading" ? Effect.void : asked(method, error.status)),
      Effect.tap(({ status }) => asked(method, status)),
    );

  const answered = (verb: string, method: string, path: string, options: CallOptions = {}) =>
    // Asked before each attempt: between two of them the lease may have run out.
    Effect.flatMap(Fence, ({ mayWrite }) => once(verb, method, path, options, method === "GET" ? always : mayWrite))
      .pipe(
        Effect.tapError((error) =>
          isPassing(error) && error.retryAfterMs !== undefined ? Effect.sleep(error.retryAfterMs) : Effect.void
        ),
        Effect.retry({
          // Reconciliation starts again when this replica leads again.
          while: (error) => isPassing(error) && error._tag !== "NotLeading",
          schedule: BACKOFF,
          times: CALL_ATTEMPTS_MAX - 1,
        }),
      );
  const call = (...request: Parameters<typeof answered>) => Effect.map(answered(...request), ({ found }) => found);
  return { call, answered, watches, headersFor, patience, url: connection.url };
});

export type Transport = Effect.Success<ReturnType<typeof transport>>;

const always = (): boolean => true;

const BACKOFF = Schedule.jittered(Schedule.exponential("200 millis"));
