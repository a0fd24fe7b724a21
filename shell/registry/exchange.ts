/** One request to a registry, with its redirects, bounds and pauses. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import {
  AddressNotAllowed,
  type RegistryFailure,
  RegistryMisbehaves,
  RegistryUnreachable,
} from "../../core/image/registry_failure.ts";
import { withCauses } from "../kubernetes/cluster_error.ts";
import { chunksOf, within } from "../kubernetes/http_client.ts";
import { ATTEMPTS_MAX, PAUSE_MS, PAUSE_MS_MAX, REDIRECTS_MAX, REQUEST_MS, SHORT_BODY_BYTES_MAX } from "./limits.ts";
import { collectedBytes } from "../runtime/collected_bytes.ts";
import type { Send } from "./guarded_fetch.ts";

export interface RegistryResponse {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The header WWW-Authenticate. */
  readonly challenge: string;
  /** Seconds of the header Retry-After. */
  readonly retryAfter: number | undefined;
}

export interface BodyBounds {
  readonly bytesMax: number;
  /** Waits before a body that is not short is read on. */
  readonly beforeLong: (signal: AbortSignal) => Promise<void>;
}

/** Repeats a request that a busy registry rejects, after the time that it names or with backoff. */
export const patiently = Effect.fnUntraced(function* (
  host: string,
  request: Effect.Effect<RegistryResponse, RegistryFailure>,
): Effect.fn.Return<RegistryResponse, RegistryFailure> {
  for (let attempt = 1;; attempt++) {
    const found = yield* request;
    if (found.status !== 429 && found.status !== 502 && found.status !== 503) return found;
    const pauseMs = found.retryAfter === undefined ? PAUSE_MS * 2 ** attempt : found.retryAfter * 1000;
    if (attempt >= ATTEMPTS_MAX || pauseMs > PAUSE_MS_MAX) {
      return yield* new RegistryUnreachable({
        host,
        detail: `it is busy (status ${found.status})${
          found.retryAfter === undefined ? "" : `, and asks to come back in ${found.retryAfter} s`
        }`,
      });
    }
    yield* Effect.sleep(Duration.millis(pauseMs));
  }
});

/** One request, with its redirects: credentials never go to another origin, and nothing goes from HTTPS to HTTP. */
export const requested = (
  client: Send,
  host: string,
  from: string,
  headers: { readonly accept: string; readonly authorization: string | undefined },
  { bytesMax, beforeLong }: BodyBounds,
): Effect.Effect<RegistryResponse, RegistryFailure> =>
  Effect.tryPromise({
    try: (outer) =>
      within(REQUEST_MS, outer, async (signal) => {
        let url = new URL(from);
        for (let count = 0; count <= REDIRECTS_MAX; count++) {
          const isSameOrigin = url.origin === new URL(from).origin;
          const response = await client(url, {
            accept: headers.accept,
            ...(headers.authorization === undefined || !isSameOrigin ? {} : { authorization: headers.authorization }),
          }, signal);
          const location = response.headers.get("location");
          if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
            return await answerOf(response, host, { bytesMax, beforeLong }, signal);
          }
          await response.body?.cancel();
          const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
          if (next === undefined || !["http:", "https:"].includes(next.protocol)) {
            throw new RegistryMisbehaves({ host, detail: "it redirects to something that is no URL" });
          }
          if (url.protocol === "https:" && next.protocol === "http:") {
            throw new RegistryMisbehaves({ host, detail: `it redirects to ${next.host} without TLS` });
          }
          url = next;
        }
        throw new RegistryMisbehaves({ host, detail: `it redirects more than ${REDIRECTS_MAX} times` });
      }),
    catch: (cause) => {
      if (
        cause instanceof RegistryMisbehaves || cause instanceof AddressNotAllowed ||
        cause instanceof RegistryUnreachable
      ) return cause;
      const isLate = cause instanceof DOMException && cause.name === "TimeoutError";
      const text = withCauses(cause);
      return new RegistryUnreachable({
        host,
        detail: isLate ? `no response within ${REQUEST_MS / 1000} s` : withoutSecrets(text),
        // The error of rustls, which Deno has in its text alone.
        isPlainHttp: text.includes("InvalidContentType"),
      });
    },
  });

/** Redirects have signatures in their queries, and proxies passwords before their host. */
const withoutSecrets = (text: string): string =>
  text.replaceAll(/(https?:\/\/)[^\s/?#)]*@/g, "$1").replaceAll(/(https?:\/\/[^\s?)]*)\?[^\s)]*/g, "$1");

const answerOf = async (
  response: Response,
  host: string,
  bounds: BodyBounds,
  signal: AbortSignal,
): Promise<RegistryResponse> => {
  // What a registry writes about an error is never shown, and not read.
  const bytes = response.status === 200 ? await bytesWithin(response, bounds, signal) : new Uint8Array();
  if (response.status !== 200) await response.body?.cancel();
  if (typeof bytes === "string") {
    const detail = bytes === "too long" ? `has more than ${bounds.bytesMax} bytes` : `comes ${bytes}`;
    throw new RegistryMisbehaves({ host, detail: `a response ${detail}` });
  }
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return {
    status: response.status,
    bytes,
    challenge: response.headers.get("www-authenticate") ?? "",
    retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  };
};

/** The rest remains unread if it is longer, or comes in too many parts. */
const bytesWithin = async (
  response: Response,
  { bytesMax, beforeLong }: BodyBounds,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | "too long" | "in too many parts"> => {
  const read = collectedBytes();
  for await (const chunk of chunksOf(response, signal)) {
    const isShort = read.length() <= SHORT_BODY_BYTES_MAX;
    read.add(chunk);
    if (read.length() > bytesMax) return "too long";
    if (read.isScattered()) return "in too many parts";
    if (isShort && read.length() > SHORT_BODY_BYTES_MAX) await beforeLong(signal);
  }
  return read.take();
};
