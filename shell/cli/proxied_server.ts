/** Requests to a server through the API server's proxy of Services, for machines outside the cluster. */
import { SMOKE_BYTES_MAX } from "../limits.ts";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Answer } from "../../core/command/smoke.ts";
import type { ServiceTarget } from "../../core/resources/service.ts";
import type { Json, JsonObject } from "../../core/data/json.ts";
import { type JsonBounds, readJson } from "../../core/data/json_text.ts";
import { JSON_DEPTH_MAX, MANIFEST_VALUES_MAX } from "../../core/data/limits.ts";
import type { Connection } from "../kubernetes/cluster.ts";
import { withCauses } from "../kubernetes/cluster_error.ts";
import { bytesWithin, within } from "../kubernetes/http_client.ts";
import { proxyClientOptions, proxyHeaders, proxyUrl } from "../kubernetes/service_proxy.ts";

export interface ProxiedServer {
  /** GET without a body, else POST; every failure is an answer. */
  readonly ask: (path: string, body?: JsonObject) => Effect.Effect<Answer>;
}

const SMOKE_BOUNDS: JsonBounds = { depth: JSON_DEPTH_MAX, values: MANIFEST_VALUES_MAX };

export const proxiedServer = Effect.fn("proxiedServer")(function* (
  connection: Connection,
  target: ServiceTarget,
  timeoutMs: number,
) {
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => Deno.createHttpClient(proxyClientOptions(connection))),
    (item) => Effect.sync(() => item.close()),
  );
  const url = proxyUrl(connection, target);
  const ask: ProxiedServer["ask"] = (path, body) =>
    Effect.gen(function* () {
      const from = yield* Clock.currentTimeMillis;
      const found = yield* Effect.tryPromise((signal) =>
        requested(client, connection, `${url}${path}`, body, timeoutMs, signal)
      )
        .pipe(Effect.catch(({ cause }) => Effect.succeed({ kind: "none", why: whyNot(cause, timeoutMs) } as const)));
      return { ...found, ms: (yield* Clock.currentTimeMillis) - from };
    });
  return { ask };
});

const whyNot = (cause: unknown, timeoutMs: number): string =>
  cause instanceof DOMException && cause.name === "TimeoutError"
    ? `no response within ${timeoutMs / 1000} s`
    : withCauses(cause);

const requested = (
  client: Deno.HttpClient,
  connection: Connection,
  url: string,
  body: JsonObject | undefined,
  timeoutMs: number,
  outer: AbortSignal,
) =>
  within(timeoutMs, outer, async (signal) => {
    const response = await fetch(url, {
      client,
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...proxyHeaders(connection),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "manual",
      signal,
    });
    const bytes = await bytesWithin(response, SMOKE_BYTES_MAX, signal);
    if (bytes === undefined) throw new Error(`the response has more than ${SMOKE_BYTES_MAX} bytes`);
    return { kind: "response", status: response.status, body: contentOf(bytes) } as const;
  });

/** Text where it is not JSON. */
const contentOf = (bytes: Uint8Array): Json => {
  const read = readJson(bytes, SMOKE_BOUNDS);
  if (Result.isSuccess(read)) return read.success;
  if (read.failure.exceeds !== undefined) throw new Error(`the response has ${read.failure.message}`);
  return new TextDecoder().decode(bytes);
};
