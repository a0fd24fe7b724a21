/**
 * The HTTPS server that the API server calls. node:https, because its certificate can be replaced under open connections
 * (`setSecureContext`); what is answered is decided by the routes.
 */
import type { Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { boundConnections, TLS_SETTINGS } from "../runtime/connections.ts";
import { applyTlsProfile } from "../kubernetes/tls_profile.ts";
import { collectingBuffers } from "../runtime/rest.ts";
import {
  BODY_CHUNK_BYTES,
  LARGE_REVIEW_BYTES,
  LISTENER_CLOSE_MS,
  WEBHOOK_BODY_MS,
  WEBHOOK_CONNECTIONS_MAX,
  WEBHOOK_HEADERS_MS,
  WEBHOOK_IDLE_MS,
  WEBHOOK_IN_FLIGHT_BYTES_MAX,
  WEBHOOK_RECEIVING_MAX,
} from "../limits.ts";
import { collectedBytes } from "../runtime/collected_bytes.ts";
import { SettingsError } from "../runtime/settings.ts";

/** PEM of a certificate, with those that it hangs on, and of its key. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The class of a caller: proven to be the API server, or any other client that reaches the port. */
export type Caller = "API server" | "anybody";

export interface Route<R> {
  /** Longest request in bytes. */
  readonly bytesMax: Readonly<Record<Caller, number>>;
  readonly answer: (body: Uint8Array, caller: Caller) => Effect.Effect<Answer, never, R>;
}

export interface Answer {
  readonly status: number;
  readonly type?: string;
  /** Sent one after the other; a long response is never in memory twice. */
  readonly body: ReadonlyArray<Uint8Array | string>;
}

/** What only the API server can know or have. */
export interface Proof {
  /** Last segment of the paths that only the API server knows; undefined if there is none. */
  readonly segment: () => string | undefined;
  /** PEM of the CA of the API server's client certificate; undefined if it presents none. */
  readonly clientCaPem?: string | undefined;
}

/** No caller can prove to be the API server. */
export const NO_PROOF: Proof = { segment: () => undefined };

export interface WebhookServer {
  readonly port: number;
  /** For every connection from now on; open ones stay as they are. */
  readonly renew: (certificate: ServingCertificate) => void;
}

/**
 * Serves until the scope is closed. Then it continues for `drainMs`, because the API server learns late that this
 * replica stops; each response then closes its connection.
 */
export const webhookServer = Effect.fnUntraced(function* <R>(options: {
  readonly hostname: string;
  readonly port: number;
  readonly certificate: ServingCertificate;
  readonly routes: Readonly<Record<string, Route<R>>>;
  readonly drainMs: number;
  readonly proof?: Proof;
}) {
  const context = yield* Effect.context<R>();
  const proof = options.proof ?? NO_PROOF;
  // Loaded here: it takes 6 ms and 1 MiB, and most commands of the program never serve.
  const { createServer } = yield* Effect.promise(() => import("node:https"));
  const clients = proof.clientCaPem === undefined
    ? {}
    : { ca: proof.clientCaPem, requestCert: true, rejectUnauthorized: false };
  const isProvable = () => proof.clientCaPem !== undefined || proof.segment() !== undefined;
  let draining = false;
  let answering = 0;
  const buffers = collectingBuffers();
  const inFlight: Record<Caller, number> = { "API server": 0, anybody: 0 };
  let { certificate } = options;
  const settings = () => ({ ...certificate, ...clients, ...TLS_SETTINGS });
  const server = createServer(settings(), (request, response) => {
    if (draining) response.setHeader("connection", "close");
    answering++;
    response.once("close", () => answering--);
    const { route, caller } = routed(request, options.routes, proof);
    if (route === undefined) return plain(response, 404, `try ${Object.keys(options.routes).join(", ")}`);
    if (request.method !== "POST") return plain(response, 405, "only POST is supported");
    const refuse = (status: number, body: string) => {
      // What was not read would be taken for the next request.
      response.setHeader("connection", "close");
      // The runtime reads on while the connection lasts, and what it read takes memory.
      if (caller === "anybody") response.once("finish", () => request.socket.destroy());
      plain(response, status, body);
    };
    let held = 0;
    // Where the API server cannot show who it is, its longest list comes from "anybody".
    const most = WEBHOOK_IN_FLIGHT_BYTES_MAX[isProvable() ? caller : "API server"];
    const hasRoom = (bytes: number): boolean => inFlight[caller] + bytes <= most;
    /** Reserves memory for this request in bytes; false if there is none left. */
    const hold = (bytes: number): boolean => {
      buffers.read(bytes);
      if (!hasRoom(bytes)) return false;
      held += bytes;
      inFlight[caller] += bytes;
      return true;
    };
    response.once("close", () => {
      inFlight[caller] -= held;
      if (held > LARGE_REVIEW_BYTES) buffers.done(held);
    });
    read(request, route.bytesMax[caller], { hasRoom, hold }, (body) => {
      if (body === 413) return refuse(413, `more than ${route.bytesMax[caller]} bytes`);
      if (body === 503) {
        response.setHeader("retry-after", "1");
        return refuse(503, "too many concurrent requests; retry later");
      }
      if (typeof body === "number") {
        return refuse(body, "the request was not received completely in time");
      }
      connections.asked(request, caller === "API server");
      Effect.runPromiseWith(context)(route.answer(body, caller)).then(
        (answer) => sent(response, answer),
        () => plain(response, 500, "internal error"),
      );
    });
  });
  server.headersTimeout = WEBHOOK_HEADERS_MS;
  server.requestTimeout = WEBHOOK_BODY_MS;
  server.keepAliveTimeout = WEBHOOK_IDLE_MS;
  const connections = boundConnections(server, {
    max: WEBHOOK_CONNECTIONS_MAX,
    headersMs: WEBHOOK_HEADERS_MS,
    bodyMs: WEBHOOK_BODY_MS,
    idleMs: WEBHOOK_IDLE_MS,
    receiving: () => isProvable() ? WEBHOOK_RECEIVING_MAX : undefined,
  });
  yield* Effect.acquireRelease(
    listening(server, options.hostname, options.port),
    () =>
      Effect.gen(function* () {
        draining = true;
        yield* Effect.sleep(options.drainMs);
        yield* closed(server, () => answering);
      }),
  );
  const { apply } = yield* applyTlsProfile(server, settings);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    renew: (next) => {
      certificate = next;
      apply();
    },
  } satisfies WebhookServer;
});

/** The route of a path, with or without the segment that only the API server knows. */
const routed = <R>(
  request: IncomingMessage,
  routes: Readonly<Record<string, Route<R>>>,
  proof: Proof,
): { readonly route: Route<R> | undefined; readonly caller: Caller } => {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const routeAt = (place: string) => Object.hasOwn(routes, place) ? routes[place] : undefined;
  const { authorized } = request.socket as { readonly authorized?: boolean };
  const hasCertificate = proof.clientCaPem !== undefined && authorized === true;
  const isKnown = (segment: string | undefined, given: string) => segment !== undefined && isSame(given, segment);
  const slash = path.lastIndexOf("/");
  // A segment that is none, or was one before the Secret was lost, makes the caller anybody, and not unheard.
  const isSecretPath = routeAt(path) === undefined && isKnown(proof.segment(), path.slice(slash + 1));
  return {
    route: routeAt(path) ?? routeAt(path.slice(0, slash)),
    caller: hasCertificate || isSecretPath ? "API server" : "anybody",
  };
};

/** In constant time, so that timing reveals nothing about the segment. */
const isSame = (given: string, known: string): boolean =>
  given.length === known.length &&
  Array.from(known).reduce(
      (difference, letter, index) => difference | (letter.charCodeAt(0) ^ given.charCodeAt(index)),
      0,
    ) === 0;

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
const closed = Effect.fnUntraced(function* (server: Server, answering: () => number) {
  server.close();
  yield* Effect.sleep(LOOK_MS).pipe(
    Effect.repeat({ while: () => answering() > 0 }),
    Effect.timeoutOption(Duration.millis(LISTENER_CLOSE_MS)),
  );
  server.closeAllConnections();
});

const LOOK_MS = 20;

/**
 * The body of a request, or the status of its rejection. `hold` reserves memory for received bytes: announced bytes
 * reserve none, because they may never arrive.
 */
const read = (
  request: IncomingMessage,
  bytesMax: number,
  { hasRoom, hold }: Readonly<Record<"hasRoom" | "hold", (bytes: number) => boolean>>,
  done: (body: Uint8Array | number) => void,
): void => {
  const announced = Number(request.headers["content-length"] ?? 0);
  const received = collectedBytes();
  let over = false;
  const end = (result: () => Uint8Array | number) => {
    if (over) return;
    over = true;
    done(result());
  };
  if (announced > bytesMax) end(() => 413);
  else if (!hasRoom(announced)) end(() => 503);
  request.on("data", (part: Uint8Array) => {
    if (over) return;
    if (received.length() + part.length > bytesMax) return end(() => 413);
    if (!hold(part.length)) return end(() => 503);
    received.add(part);
    // Without an answer: until that is sent, the runtime would read on.
    if (received.isScattered()) request.socket.destroy();
  });
  request.on("end", () => end(received.take));
  request.on("error", () => end(() => 400));
  request.on("close", () => end(() => 400));
};

const plain = (response: ServerResponse, status: number, body: string): void =>
  sent(response, { status, type: "text/plain; charset=utf-8", body: [`${body}\n`] });

const sent = (response: ServerResponse, { status, type = "application/json", body }: Answer): void => {
  const parts = body.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : part);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(status, { "content-type": type, "content-length": length });
  for (const chunk of chunksOf(parts)) response.write(chunk);
  response.end();
};

/** Thousands of short parts would each become a record of TLS and a callback. */
const chunksOf = function* (parts: ReadonlyArray<Uint8Array>): Generator<Uint8Array> {
  const waiting = collectedBytes();
  for (const part of parts) {
    waiting.add(part);
    if (waiting.length() >= BODY_CHUNK_BYTES) yield waiting.take();
  }
  if (waiting.length() > 0) yield waiting.take();
};
