/** The webhooks of this replica: certificate, server, readiness; put together. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Scope from "effect/Scope";
import { WEBHOOK_SERVICE } from "../../core/api/own_objects.ts";
import { keepCertificates } from "./certificates.ts";
import { WEBHOOK_DRAIN_MS } from "../limits.ts";
import { followFolder } from "./mounted_certificate.ts";
import { parsedAddress, type SettingsError } from "../runtime/settings.ts";
import { webhookRoutes } from "./webhooks.ts";
import { type ServingCertificate, type WebhookServer, webhookServer } from "./webhook_server.ts";

export interface WebhookOptions {
  /** `host:port` or `:port` of `/convert` and `/validate`; `0`: none. */
  readonly webhookAddress: string;
  /**
   * A directory with an externally managed `tls.crt` and `tls.key`; undefined: the operator creates its own
   * certificates.
   */
  readonly certificateDirectory?: string | undefined;
  /** PEM of the CA that signs the client certificates of the API server for webhooks. */
  readonly clientCaPem?: string | undefined;
  /** Names and addresses by which the API server calls, besides those of the Service. */
  readonly webhookNames?: ReadonlyArray<string>;
  readonly operatorNamespace: string;
  readonly namespaces: ReadonlyArray<string>;
  readonly relatedImages: ReadonlyMap<string, string>;
  /** How long to continue after the request to stop, in milliseconds. */
  readonly drainMs?: number;
}

export interface Webhooks {
  readonly isReady: () => boolean;
  /** Ends only when they cannot be served at all. */
  readonly failed: Effect.Effect<never, SettingsError>;
}

/** Until the scope is closed. Returns at once: the first certificate may be delayed. */
export const startWebhooks = Effect.fnUntraced(function* (options: WebhookOptions) {
  if (options.webhookAddress === "0") return { isReady: () => true, failed: Effect.never } satisfies Webhooks;
  const { hostname, port } = yield* parsedAddress(options.webhookAddress);
  let segment: string | undefined;
  const proof = { segment: () => segment, clientCaPem: options.clientCaPem };
  const routes = yield* webhookRoutes(options, () => segment !== undefined || proof.clientCaPem !== undefined);
  const scope = yield* Effect.scope;
  let server: WebhookServer | undefined;
  let servable = false;
  const keeping = {
    namespace: options.operatorNamespace,
    names: [...serviceNames(options.operatorNamespace), ...(options.webhookNames ?? [])],
    serve: (certificate: ServingCertificate) =>
      server === undefined
        ? webhookServer({ hostname, port, certificate, routes, proof, drainMs: options.drainMs ?? WEBHOOK_DRAIN_MS })
          .pipe(
            Scope.provide(scope),
            Effect.tap((started) => Effect.sync(() => void (server = started))),
            Effect.tap(() =>
              Effect.logInfo("listening").pipe(
                Effect.annotateLogs({ address: options.webhookAddress, paths: Object.keys(routes).join(" ") }),
              )
            ),
            Effect.asVoid,
          )
        : Effect.sync(() => server?.renew(certificate)),
    // Once it could be called, a broken moment later on must not take every replica out of the Service at once.
    servable: (is: boolean) => void (servable ||= is),
    proven: (by: string) => void (segment = by),
  };
  const fiber = yield* Effect.forkScoped(
    options.certificateDirectory === undefined
      ? keepCertificates(keeping)
      : followFolder(options.certificateDirectory, keeping),
  );
  return {
    isReady: () => server !== undefined && servable,
    failed: Fiber.join(fiber),
  } satisfies Webhooks;
});

/** All names of a Service that clients use; the API server calls `<service>.<namespace>.svc`. */
const serviceNames = (namespace: string): ReadonlyArray<string> =>
  [`.${namespace}.svc`, `.${namespace}.svc.cluster.local`, `.${namespace}`, ""].map((end) =>
    `${WEBHOOK_SERVICE}${end}`
  );
