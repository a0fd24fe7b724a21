/** The HTTP endpoints for the kubelet and for Prometheus. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { boundConnections, TLS_SETTINGS } from "../runtime/connections.ts";
import { HEALTH_CONNECTIONS_MAX, HEALTH_HEADERS_MS, HEALTH_IDLE_MS, LISTENER_CLOSE_MS } from "../limits.ts";
import { parsedAddress, SettingsError } from "../runtime/settings.ts";
import type { ServingCertificate } from "../webhooks/webhook_server.ts";

/** `/livez` and `/readyz` until the scope is closed. Plain HTTP: the kubelet checks no certificate. */
export const serveHealth = Effect.fnUntraced(
  function* ({ healthAddress, notReady }: {
    /** `host:port`, `:port`, or `0` for none. */
    readonly healthAddress: string;
    /** Why the replica is not ready; undefined when it is. */
    readonly notReady: () => string | undefined;
  }) {
    yield* listen(healthAddress, {
      // A process that responds is alive.
      "/livez": () => Effect.succeed(plain(200, "ok")),
      "/readyz": () =>
        Effect.sync(() => {
          const why = notReady();
          return why === undefined ? plain(200, "ok") : plain(503, why);
        }),
    });
  },
);

export interface Page {
  readonly status: number;
  readonly text: string;
}

export const plain = (status: number, text: string): Page => ({ status, text });

/** The answer to a GET of a path; the bearer token of the request, where it carries one, and the address of its sender. */
export type Pages<R> = Readonly<
  Record<string, (token: string | undefined, address: string) => Effect.Effect<Page, never, R>>
>;

/** A listener for small answers until the scope is closed; `certificate` makes it HTTPS. */
export const listen = Effect.fnUntraced(
  function* <R>(address: string, pages: Pages<R>, certificate?: ServingCertificate) {
    if (address === "0") return undefined;
    const { hostname, port } = yield* parsedAddress(address);
    const context = yield* Effect.context<R>();
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      // A request body is not read.
      connections.asked(request, false);
      const path = (request.url ?? "").split("?")[0] ?? "";
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      if (request.method !== "GET" || page === undefined) {
        response.setHeader("connection", "close");
        return sent(response, plain(page === undefined ? 404 : 405, `try GET ${Object.keys(pages).join(", ")}`));
      }
      Effect.runPromiseWith(context)(page(bearerOf(request), request.socket.remoteAddress ?? "")).then(
        (made) => sent(response, made),
        () => sent(response, plain(500, "internal error")),
      );
    };
    const server = certificate === undefined
      ? createServer(BOUNDS, answer)
      : createTlsServer({ ...BOUNDS, ...certificate, ...TLS_SETTINGS }, answer);
    const connections = boundConnections(server, {
      max: HEALTH_CONNECTIONS_MAX,
      headersMs: HEALTH_HEADERS_MS,
      bodyMs: HEALTH_HEADERS_MS,
      idleMs: HEALTH_IDLE_MS,
    });
    yield* Effect.acquireRelease(
      Effect.callback<void, SettingsError>((done) => {
        server.once(
          "error",
          (cause) => done(Effect.fail(new SettingsError({ detail: `cannot listen on ${address}: ${String(cause)}` }))),
        );
        server.listen({ host: hostname, port }, () => done(Effect.void));
      }),
      () =>
        // A client that never ends its request must not hold up the end of the process.
        Effect.callback<void>((done) => {
          connections.end();
          server.close(() => done(Effect.void));
        }).pipe(Effect.timeoutOption(Duration.millis(LISTENER_CLOSE_MS))),
    );
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ address, paths: Object.keys(pages).join(" ") }));
    return server;
  },
);

const BOUNDS = {
  headersTimeout: HEALTH_HEADERS_MS,
  requestTimeout: HEALTH_HEADERS_MS,
  keepAliveTimeout: HEALTH_IDLE_MS,
} as const;

const bearerOf = (request: IncomingMessage): string | undefined =>
  /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];

const sent = (response: ServerResponse, { status, text }: Page): void => {
  const bytes = new TextEncoder().encode(text);
  response.writeHead(status, {
    "content-type": "text/plain; version=0.0.4; charset=utf-8",
    "content-length": bytes.length,
  });
  response.end(bytes);
};
