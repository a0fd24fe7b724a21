/** The webhooks inside the test process, with a certificate of their own; the API server reaches them on loopback. */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Scope from "effect/Scope";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type Json, type JsonObject, put } from "../../core/data/json.ts";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../../core/api/own_objects.ts";
import { webhookRoutes } from "../../shell/webhooks/webhooks.ts";
import { webhookServer } from "../../shell/webhooks/webhook_server.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { WEBHOOKS } from "../../tools/package/admission.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { aMoment, eventually } from "../waiting.ts";
import { LiveTlsProfile } from "../../shell/kubernetes/tls_profile.ts";

export interface RunningWebhooks {
  readonly url: string;
  /** Paths as published to the API server; other callers know them without the last segment. */
  readonly paths: { readonly convert: string; readonly validate: string };
  readonly caPem: string;
  /** Another certificate of the same authority, from the next connection on. */
  readonly renew: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What the operator makes up for each installation. */
const SEGMENT = "0123456789abcdef0123456789abcdef";

export const startWebhooks = async (
  cluster: Pick<ControlPlane, "url" | "adminToken" | "caPem">,
  { namespaces = [] }: { readonly namespaces?: ReadonlyArray<string> } = {},
): Promise<RunningWebhooks> => {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = await makeAuthority(validity);
  const leaf = () => makeLeaf(authority, ["127.0.0.1"], validity);
  const certificate = await leaf();
  const scope = Scope.makeUnsafe();
  const connection = {
    url: cluster.url,
    caPem: () => cluster.caPem,
    clientCertificate: undefined,
    token: () => cluster.adminToken,
  };
  const server = await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* Layer.build(Cluster.layer(connection));
      const routes = yield* webhookRoutes({ operatorNamespace: "default", namespaces, relatedImages: new Map() });
      return yield* webhookServer({
        hostname: "127.0.0.1",
        port: 0,
        certificate,
        routes,
        drainMs: 0,
        proof: { segment: () => SEGMENT },
      }).pipe(
        Effect.provide(context),
        Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make),
      );
    }).pipe(Scope.provide(scope)),
  );
  return {
    url: `https://127.0.0.1:${server.port}`,
    paths: { convert: `${CONVERT_PATH}/${SEGMENT}`, validate: `${VALIDATE_PATH}/${SEGMENT}` },
    caPem: authority.certificate,
    renew: async () => server.renew(await leaf()),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

/** Our CRD, converted by the webhooks of the test. */
export const installWithWebhooks = async (
  cluster: Pick<ControlPlane, "fetch">,
  { url, caPem }: Pick<RunningWebhooks, "url" | "caPem">,
): Promise<void> => {
  const definition = put(
    customResourceDefinition(),
    ["spec", "conversion", "webhook", "clientConfig"],
    { url: `${url}${CONVERT_PATH}/${SEGMENT}`, caBundle: btoa(caPem) },
  );
  await installDefinition(cluster, definition as unknown as Definition);
};

export const VALIDATING_CONFIGURATION = "llama-stack-operator";

/** Admission by the webhooks of the test, on the same terms as in the manifests. */
export const validatingConfiguration = (
  url: string,
  caPem: string | undefined,
  failurePolicy: "Ignore" | "Fail" = "Ignore",
): JsonObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: VALIDATING_CONFIGURATION },
  webhooks: WEBHOOKS.map((webhook) => ({
    ...webhook,
    failurePolicy,
    clientConfig: {
      url: `${url}${VALIDATE_PATH}/${SEGMENT}`,
      ...(caPem === undefined ? {} : { caBundle: btoa(caPem) }),
    },
  })),
});

export interface Answered {
  readonly status: number;
  readonly body: JsonObject;
  readonly warnings: ReadonlyArray<string>;
}

/** One call of the API server. */
export const call = async (
  cluster: Pick<ControlPlane, "fetch">,
  method: string,
  path: string,
  body?: Json,
  contentType = "application/json",
): Promise<Answered> => {
  const answer = await cluster.fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": contentType }, body: JSON.stringify(body) }),
  });
  // 299 - "text"
  const header = answer.headers.get("warning") ?? "";
  const warnings = [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replace(/\\(.)/g, "$1")
  );
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return { status: answer.status, body: isJson ? await answer.json() : { message: await answer.text() }, warnings };
};

export const pathIn = (version: string, name = "", namespace = "default"): string =>
  `/apis/llamastack.io/${version}/namespaces/${namespace}/llamastackdistributions${name === "" ? "" : `/${name}`}`;

/**
 * After each change of a CRD the API server makes its storage anew and says 429 with Retry-After meanwhile; kubectl and
 * every client of client-go wait and ask again, and so does this one.
 */
export const patiently = async (ask: () => Promise<Answered>): Promise<Answered> => {
  for (let attempt = 0;; attempt++) {
    const answer = await ask();
    if (answer.status !== 429 || attempt >= 10) return answer;
    await aMoment();
  }
};

/** Tries until it is made. Alone in its wait: a try after that one would be told that the object exists. */
export const untilCreated = (cluster: ControlPlane, version: string, object: JsonObject): Promise<true> =>
  eventually(
    "the object is made",
    async () => (await call(cluster, "POST", pathIn(version), object)).status === 201 ? true : undefined,
  );

/** As a Service in front of the replicas: each new connection goes to the next one that takes it. */
export const balanced = (
  ports: ReadonlyArray<number>,
): { readonly port: number; readonly to: (ports: ReadonlyArray<number>) => void; readonly close: () => void } => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.Conn>();
  let [turn, current] = [0, ports];
  const pipe = async (from: Deno.Conn, to: Deno.Conn) => {
    await from.readable.pipeTo(to.writable).catch(() => {});
    connections.delete(from);
  };
  const join = async (incoming: Deno.Conn) => {
    connections.add(incoming);
    turn++;
    for (let index = 0; index < current.length; index++) {
      const port = current[(turn + index) % current.length] ?? 0;
      const outgoing = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
      if (outgoing === undefined) continue;
      connections.add(outgoing);
      pipe(incoming, outgoing);
      pipe(outgoing, incoming);
      return;
    }
    incoming.close();
  };
  const accepting = async () => {
    for await (const incoming of listener) join(incoming);
  };
  accepting().catch(() => {});
  return {
    port: (listener.addr as Deno.NetAddr).port,
    to: (ports) => void (current = ports),
    close: () => {
      listener.close();
      for (const connection of connections) {
        try {
          connection.close();
        } catch {
          // It ended by itself.
        }
      }
    },
  };
};
