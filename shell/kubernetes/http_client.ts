/**
 * A client that is replaced after a call without an answer: a connection that died silently stays in its pool for a quarter of an
 * hour. It is also replaced when the CA that it trusts was rotated.
 */
import * as Effect from "effect/Effect";
import type { ClusterError } from "./cluster_error.ts";
import { CA_READ_MS } from "../limits.ts";
import { collectedBytes } from "../runtime/collected_bytes.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";

export interface RenewableClient {
  /**
   * A call without a response, or a cancelled one (the lease), discards the client: the next call opens new
   * connections.
   */
  readonly using: <A, R>(
    call: (client: Deno.HttpClient) => Effect.Effect<A, ClusterError, R>,
  ) => Effect.Effect<A, ClusterError, R>;
}

/** Needs a scope, at whose end the client is closed. `caPem` is read anew for each client, and at most every CA_READ_MS. */
export const renewableClient = Effect.fnUntraced(function* (
  make: (caPem: string | undefined) => Deno.HttpClient,
  caPem: () => string | undefined = () => undefined,
) {
  const first = caPem();
  const holder = yield* Effect.acquireRelease(
    Effect.sync(() => ({ client: make(first), caPem: first })),
    ({ client }) => Effect.sync(() => client.close()),
  );
  let readAtMs = yield* monotonicMs;

  /** The CA as it is now; the former one where it cannot be read. */
  const current = (): string | undefined => {
    try {
      return caPem() ?? holder.caPem;
    } catch {
      return holder.caPem;
    }
  };

  const exchange = (): void => {
    const before = holder.client;
    const next = current();
    try {
      holder.client = make(next);
      holder.caPem = next;
    } catch {
      // A file that is being written may be no certificate for a moment.
      holder.client = make(holder.caPem);
    }
    // Calls under way keep their connection until they end.
    before.close();
  };

  return {
    using: (call) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        if (nowMs - readAtMs >= CA_READ_MS) {
          readAtMs = nowMs;
          if (current() !== holder.caPem) exchange();
        }
        const { client } = holder;
        const renew = Effect.sync(() => {
          // Another call on it was faster.
          if (holder.client === client) exchange();
        });
        return call(client).pipe(
          Effect.tapError((error) => error._tag === "Unreachable" ? renew : Effect.void),
          Effect.onInterrupt(() => renew),
        );
      }),
  } satisfies RenewableClient;
});

/**
 * AbortSignal.timeout would keep itself and what hangs on it for the whole time, however soon the answer came; AbortSignal.any
 * costs three times what a listener does.
 */
export const within = async <A>(
  ms: number,
  signal: AbortSignal,
  run: (both: AbortSignal) => Promise<A>,
): Promise<A> => {
  const both = new AbortController();
  const timer = setTimeout(() => both.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError")), ms);
  const follow = () => both.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  try {
    return await run(both.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
};

/**
 * The body in the chunks in which it comes; throws the reason of the signal once that aborts.
 *
 * The signal of `fetch` is not enough: after its answer has come, Deno 2.9.6 ends the body only if the Response was not
 * collected meanwhile, and who reads the body for long holds nothing else.
 */
export async function* chunksOf(
  { body }: Pick<Response, "body">,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  const end = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", end, { once: true });
  try {
    while (true) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** The body; undefined, and the rest unread, where it is longer than `bytesMax`, or comes in too many parts. */
export const bytesWithin = async (
  response: Pick<Response, "body">,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> => {
  const read = collectedBytes();
  for await (const chunk of chunksOf(response, signal)) {
    read.add(chunk);
    // Leaving the loop cancels the body.
    if (read.length() > bytesMax || read.isScattered()) return undefined;
  }
  return read.take();
};

/** The same as text. */
export const textWithin = async (...body: Parameters<typeof bytesWithin>): Promise<string | undefined> => {
  const bytes = await bytesWithin(...body);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
};

/**
 * Fires if nothing was received for `ms`. Bookmarks arrive about once a minute: silence means a dead connection. The
 * timer is reset when it expires, not with each event.
 */
export const silenceAlarm = (ms: number, ring: () => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heardAtMs = 0;
  const wait = (forMs: number): void => {
    timer = setTimeout(() => {
      const leftMs = heardAtMs + ms - performance.now();
      if (leftMs <= 0) ring();
      else wait(leftMs);
    }, forMs);
  };
  const heard = (): void => void (heardAtMs = performance.now());
  return {
    heard,
    start: (): void => {
      heard();
      wait(ms);
    },
    stop: (): void => clearTimeout(timer),
  };
};
