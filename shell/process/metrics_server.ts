/**
 * `/metrics` as usual for operators: over HTTPS, for accounts that the API server authorizes. Every replica serves it,
 * including those that wait for the lease.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import * as Semaphore from "effect/Semaphore";
import type { Server } from "node:https";
import { sha256Hex } from "../../core/data/digest.ts";
import { at, type JsonObject, stringAt } from "../../core/data/json.ts";
import { METRICS_SERVICE } from "../../core/api/own_objects.ts";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { listen, type Page, plain } from "./health.ts";
import {
  CERTIFICATE_BACKDATE_MS,
  METRICS_CERTIFICATE_MS,
  MOUNTED_CERTIFICATE_LOOK_MS,
  REVIEW_FRESH_MS,
  REVIEWS_AT_ONCE,
  REVIEWS_REMEMBERED,
  STRANGER_PAUSE_MS,
  STRANGERS_PER_ADDRESS_MAX,
  TOKEN_CHARACTERS_MAX,
} from "../limits.ts";
import { metricsText } from "../runtime/metrics.ts";
import { applyTlsProfile } from "../kubernetes/tls_profile.ts";
import { readPair } from "../webhooks/mounted_certificate.ts";
import type { ServingCertificate } from "../webhooks/webhook_server.ts";
import { creation } from "../../core/plan/patch.ts";

export interface MetricsOptions {
  /** `host:port`, `:port`, or `0` for none. */
  readonly metricsAddress: string;
  /** By plain HTTP, to anybody: for a laptop, or behind a proxy that protects it. */
  readonly metricsPlain?: boolean;
  /**
   * A directory with an externally managed `tls.crt` and `tls.key`; if unset, each replica uses a self-signed
   * certificate.
   */
  readonly metricsCertificateDirectory?: string | undefined;
  readonly operatorNamespace: string;
}

/** Until the scope is closed. */
export const serveMetrics = Effect.fnUntraced(function* (options: MetricsOptions) {
  const { metricsAddress, metricsPlain = false } = options;
  if (metricsAddress === "0") return;
  const page = Effect.map(metricsText, (text) => plain(200, text));
  if (metricsPlain) return void (yield* listen(metricsAddress, { "/metrics": () => page }));
  const allowed = yield* readers;
  const answer = (token: string | undefined, address: string) =>
    Effect.flatMap(allowed(token, address), (rejection) => rejection === undefined ? page : Effect.succeed(rejection));
  const mounted = yield* mountedIn(options);
  const first = mounted ?? (yield* selfSigned(options));
  const server = yield* listen(metricsAddress, { "/metrics": answer }, first);
  let served = first;
  const { apply } = yield* applyTlsProfile(server as Server, () => served);
  yield* Effect.forkScoped(renewing(options, first, mounted === undefined, (next) => {
    served = next;
    apply();
  }));
});

const mountedIn = ({ metricsCertificateDirectory }: MetricsOptions) =>
  metricsCertificateDirectory === undefined ? Effect.undefined : readPair(metricsCertificateDirectory);

const selfSigned = Effect.fnUntraced(function* ({ operatorNamespace }: MetricsOptions) {
  const nowMs = yield* Clock.currentTimeMillis;
  const validity = { notBeforeMs: nowMs - CERTIFICATE_BACKDATE_MS, notAfterMs: nowMs + METRICS_CERTIFICATE_MS };
  const names = ["", `.${operatorNamespace}`, `.${operatorNamespace}.svc`].map((end) => `${METRICS_SERVICE}${end}`);
  return yield* Effect.promise(async () => await makeLeaf(await makeAuthority(validity), names, validity));
});

/**
 * A mounted certificate is read again every minute; one of our own is made anew long before it ends. A mounted pair that does not
 * fit, as in the middle of a change, replaces nothing.
 */
const renewing = Effect.fnUntraced(function* (
  options: MetricsOptions,
  first: ServingCertificate,
  isFirstOwn: boolean,
  serve: (certificate: ServingCertificate) => void,
) {
  const isMounted = options.metricsCertificateDirectory !== undefined;
  let [served, servedSinceMs, isOwn] = [first.cert, yield* Clock.currentTimeMillis, isFirstOwn];
  for (;;) {
    yield* Effect.sleep(isMounted ? MOUNTED_CERTIFICATE_LOOK_MS : METRICS_CERTIFICATE_MS / 4);
    const mounted = yield* mountedIn(options);
    const nowMs = yield* Clock.currentTimeMillis;
    const isOld = isOwn && nowMs - servedSinceMs >= METRICS_CERTIFICATE_MS / 4;
    const next = mounted ?? (isOld ? yield* selfSigned(options) : undefined);
    if (next === undefined || next.cert === served) continue;
    serve(next);
    [served, servedSinceMs, isOwn] = [next.cert, nowMs, mounted === undefined];
  }
});

interface Review {
  readonly rejection: Page | undefined;
  readonly atMs: number;
}

const UNAUTHORIZED = plain(401, "a bearer token is required");
const FORBIDDEN = plain(403, "not allowed to get /metrics; bind the ClusterRole llama-stack-operator-metrics-reader");
const BUSY = plain(503, "too many tokens of your address are being reviewed; retry later");
const UNKNOWN = plain(503, "the API server cannot review the token");

/**
 * Token → why not, or undefined where the API server lets its holder read `/metrics`. What is known is asked again after a while.
 * Unknown tokens are reviewed a few at a time and slowly, so that a flood of them is none for the API server. Addresses take turns,
 * so that a new reader waits for one review and not for the flood; who was let through before does not wait behind them at all.
 */
const readers = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const known = new Map<string, Review>();
  const readers = yield* Semaphore.make(REVIEWS_AT_ONCE);
  const strangers = yield* PartitionedSemaphore.make<string>({ permits: REVIEWS_AT_ONCE });
  /** Unknown tokens of each address that wait or are reviewed. */
  const waiting = new Map<string, number>();
  const review = (token: string) =>
    reviewed(cluster, token).pipe(Effect.catch(() => Effect.succeed<Page | undefined>(UNKNOWN)));
  const reviewStranger = (token: string, address: string) =>
    Effect.suspend(() => {
      const others = waiting.get(address) ?? 0;
      if (others >= STRANGERS_PER_ADDRESS_MAX) return Effect.succeed<Page | undefined>(BUSY);
      waiting.set(address, others + 1);
      return Effect.ensuring(
        strangers.withPermit(address)(Effect.delay(review(token), STRANGER_PAUSE_MS)),
        Effect.sync(() => {
          const left = (waiting.get(address) ?? 1) - 1;
          if (left > 0) waiting.set(address, left);
          else waiting.delete(address);
        }),
      );
    });
  return Effect.fnUntraced(function* (token: string | undefined, address: string) {
    if (token === undefined || token.length > TOKEN_CHARACTERS_MAX) return UNAUTHORIZED;
    // The token itself is not stored.
    const name = sha256Hex(token);
    const nowMs = yield* Clock.currentTimeMillis;
    const before = known.get(name);
    if (before !== undefined && nowMs - before.atMs < REVIEW_FRESH_MS) return before.rejection;
    const isReader = before !== undefined && before.rejection === undefined;
    const rejection = yield* isReader
      ? Semaphore.withPermits(readers, 1)(review(token))
      : reviewStranger(token, address);
    if (rejection !== UNKNOWN && rejection !== BUSY) remember(known, name, { rejection, atMs: nowMs });
    return rejection;
  });
});

/** Unauthorized tokens are evicted before authorized ones. */
const remember = (known: Map<string, Review>, name: string, review: Review): void => {
  known.delete(name);
  known.set(name, review);
  if (known.size <= REVIEWS_REMEMBERED) return;
  const oldest = [...known].find(([, { rejection }]) => rejection !== undefined)?.[0] ?? [...known.keys()][0];
  if (oldest !== undefined) known.delete(oldest);
};

const reviewed = Effect.fnUntraced(function* (cluster: typeof Cluster.Service, token: string): Effect.fn.Return<
  Page | undefined,
  ClusterError
> {
  const who = yield* cluster.send(creation("/apis/authentication.k8s.io/v1/tokenreviews", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenReview",
    spec: { token },
  }));
  const user = at(who, "status", "user");
  if (at(who, "status", "authenticated") !== true || user === undefined) return UNAUTHORIZED;
  const access = yield* cluster.send(creation("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: stringAt(user, "username") ?? "",
      groups: at(user, "groups") ?? [],
      ...(at(user, "extra") === undefined ? {} : { extra: at(user, "extra") ?? {} }),
      nonResourceAttributes: { path: "/metrics", verb: "get" },
    } as JsonObject,
  }));
  return at(access, "status", "allowed") === true ? undefined : FORBIDDEN;
});
