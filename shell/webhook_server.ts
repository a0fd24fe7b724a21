/**
 * The HTTPS server that the API server calls. node:https, because its certificate can be replaced under open connections
 * (`setSecureContext`); what is answered is decided by the routes.
 */
import type { Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Duration, Effect } from "effect";
import { LISTENER_CLOSE_MS, WEBHOOK_BODY_MS, WEBHOOK_HEADERS_MS, WEBHOOK_IDLE_MS } from "./limits.ts";
import { SettingsError } from "./settings.ts";

/** PEM of a certificate, with those that it hangs on, and of its key. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface Route<R> {
  /** Longest request in bytes. */
  readonly bytesMax: number;
  readonly answer: (text: string) => Effect.Effect<Answer, never, R>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface WebhookServer {
  readonly port: number;
  /** For every connection from now on; open ones stay as they are. */
  readonly renew: (certificate: ServingCertificate) => void;
}

/**
 * Serves until the scope is closed. Then it goes on answering for `drainMs`, because the API server hears late that this
 * replica leaves; each answer then ends its connection.
 */
export const webhookServer = Effect.fnUntraced(function* <R>(options: {
  readonly hostname: string;
  readonly port: number;
  readonly certificate: ServingCertificate;
  readonly routes: Readonly<Record<string, Route<R>>>;
  readonly drainMs: number;
}) {
  const context = yield* Effect.context<R>();
  // Loaded here: it takes 6 ms and 1 MiB, and most commands of the program never serve.
  const { createServer } = yield* Effect.promise(() => import("node:https"));
  let draining = false;
  let answering = 0;
  const server = createServer({ ...options.certificate, minVersion: "TLSv1.2" }, (request, response) => {
    if (draining) response.setHeader("connection", "close");
    answering++;
    response.once("close", () => answering--);
    const path = (request.url ?? "").split("?")[0] ?? "";
    const route = Object.hasOwn(options.routes, path) ? options.routes[path] : undefined;
    if (route === undefined) return plain(response, 404, `try ${Object.keys(options.routes).join(", ")}`);
    if (request.method !== "POST") return plain(response, 405, "POST a review");
    read(request, route.bytesMax, (text) => {
      if (typeof text === "number") {
        // What was not read would be taken for the next request.
        response.setHeader("connection", "close");
        return plain(response, text, text === 413 ? `more than ${route.bytesMax} bytes` : "the request did not end");
      }
      Effect.runPromiseWith(context)(route.answer(text)).then(
        ({ status, body }) => sent(response, status, body, "application/json"),
        () => plain(response, 500, "internal error"),
      );
    });
  });
  server.headersTimeout = WEBHOOK_HEADERS_MS;
  server.requestTimeout = WEBHOOK_BODY_MS;
  server.keepAliveTimeout = WEBHOOK_IDLE_MS;
  yield* Effect.acquireRelease(
    listening(server, options.hostname, options.port),
    () =>
      Effect.gen(function* () {
        draining = true;
        yield* Effect.sleep(options.drainMs);
        yield* closed(server, () => answering);
      }),
  );
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    renew: (certificate) => server.setSecureContext({ ...certificate, minVersion: "TLSv1.2" }),
  } satisfies WebhookServer;
});

const listening = (server: Server, hostname: string, port: number) =>
  Effect.callback<void, SettingsError>((done) => {
    const failed = (cause: Error) =>
      done(Effect.fail(new SettingsError({ detail: `cannot listen on ${hostname}:${port}: ${cause.message}` })));
    server.once("error", failed);
    server.listen(port, hostname, () => {
      server.off("error", failed);
      // A connection that fails is the caller's to repeat.
      server.on("tlsClientError", () => {});
      server.on("error", () => {});
      done(Effect.void);
    });
  });

/** Idle connections end at once; answers under way are waited for, but a caller that never ends must not hold us up. */
const closed = (server: Server, answering: () => number) =>
  Effect.gen(function* () {
    server.close();
    yield* Effect.sleep(LOOK_MS).pipe(
      Effect.repeat({ while: () => answering() > 0 }),
      Effect.timeoutOption(Duration.millis(LISTENER_CLOSE_MS)),
    );
    server.closeAllConnections();
  });

const LOOK_MS = 20;

/** The text of a request, or the status with which it is refused. */
const read = (request: IncomingMessage, bytesMax: number, done: (text: string | number) => void): void => {
  const parts: Array<Uint8Array> = [];
  let bytes = 0;
  let over = false;
  const end = (result: () => string | number) => {
    if (over) return;
    over = true;
    done(result());
  };
  request.on("data", (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > bytesMax) end(() => 413);
    else if (!over) parts.push(part);
  });
  request.on("end", () => end(() => text(parts, bytes)));
  request.on("error", () => end(() => 400));
};

const text = (parts: ReadonlyArray<Uint8Array>, bytes: number): string => {
  const all = new Uint8Array(bytes);
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return new TextDecoder().decode(all);
};

const plain = (response: ServerResponse, status: number, body: string): void =>
  sent(response, status, `${body}\n`, "text/plain; charset=utf-8");

const sent = (response: ServerResponse, status: number, body: string, type: string): void => {
  const bytes = new TextEncoder().encode(body);
  response.writeHead(status, { "content-type": type, "content-length": bytes.length });
  response.end(bytes);
};
