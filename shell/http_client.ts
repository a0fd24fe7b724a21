/** A client that is exchanged when it got no answer: a connection that died without a word stays in its pool for a quarter of an hour. */
import { Effect } from "effect";
import type { ClusterError } from "./cluster_error.ts";

export interface RenewableClient {
  /** A call that nobody answered, or that was given up (the lease), costs the client: the next one gets new connections. */
  readonly using: <A, R>(
    call: (client: Deno.HttpClient) => Effect.Effect<A, ClusterError, R>,
  ) => Effect.Effect<A, ClusterError, R>;
}

/** Needs a scope, at whose end the client is closed. */
export const renewableClient = (make: () => Deno.HttpClient) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => ({ client: make() })),
      (holder) => Effect.sync(() => holder.client.close()),
    ),
    (holder): RenewableClient => ({
      using: (call) =>
        Effect.suspend(() => {
          const { client } = holder;
          const renew = Effect.sync(() => {
            // Another call on it was faster.
            if (holder.client !== client) return;
            holder.client = make();
            // Calls under way keep their connection until they end.
            client.close();
          });
          return call(client).pipe(
            Effect.tapError((error) => error.status === undefined ? renew : Effect.void),
            Effect.onInterrupt(() => renew),
          );
        }),
    }),
  );

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
): AsyncGenerator<Uint8Array, void, void> {
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

/** The body as text; undefined, and the rest unread, where it is longer than `bytesMax`. */
export const textWithin = async (
  response: Pick<Response, "body">,
  bytesMax: number,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const decoder = new TextDecoder();
  const parts: Array<string> = [];
  let bytes = 0;
  for await (const chunk of chunksOf(response, signal)) {
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > bytesMax) return undefined;
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
};

/**
 * Rings once nothing was heard for `ms`. Bookmarks come about once a minute: silence means a connection that nobody holds any
 * more. The timer is set anew when it ends, not with each event.
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
