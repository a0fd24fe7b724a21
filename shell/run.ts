/** The operator as a program: its parts, put together. */
import { Effect, Layer, Logger } from "effect";
import { stringAt } from "../core/json.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../core/config/distributions.ts";
import type { Operator } from "../core/plan/world.ts";
import { OPERATOR_VERSION } from "../core/version.ts";
import { Cluster, type Connection } from "./cluster.ts";
import { controller, Scope } from "./controller.ts";
import { OperatorFacts } from "./observe.ts";
import { Store } from "./store.ts";

export interface RunOptions {
  readonly connection: Connection;
  /** Empty: all namespaces. */
  readonly namespaces: ReadonlyArray<string>;
  readonly operatorNamespace: string;
  readonly relatedImages: ReadonlyMap<string, string>;
}

/** Reconciles until it is interrupted. */
export const operator = (options: RunOptions) =>
  Effect.gen(function* () {
    const groups = yield* servedGroups;
    const routes = groups.includes("route.openshift.io");
    const facts: Operator = {
      version: OPERATOR_VERSION,
      surroundings: {
        distributions: EMBEDDED_DISTRIBUTIONS,
        overrides: { settings: new Map(), related: options.relatedImages },
      },
      platform: {
        openshift: groups.includes("security.openshift.io"),
        routes,
        operatorNamespace: options.operatorNamespace,
        networkPolicies: false,
      },
      hmacKey: yield* hmacKey(options.operatorNamespace),
      rolloutOnUpgrade: "Held",
    };
    yield* Effect.logInfo("started").pipe(
      Effect.annotateLogs({
        version: OPERATOR_VERSION,
        namespaces: options.namespaces.join(",") || "all",
        openshift: facts.platform.openshift,
      }),
    );
    return yield* controller.pipe(
      Effect.provideService(OperatorFacts, facts),
      Effect.provideService(Scope, { namespaces: options.namespaces, routes }),
    );
  }).pipe(
    Effect.provide(Layer.mergeAll(Cluster.layer(options.connection), Store.layer)),
    Effect.provide(Logger.layer([Logger.consoleJson])),
  );

const servedGroups = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const answer = yield* cluster.read("/apis") as Effect.Effect<
    { readonly groups?: ReadonlyArray<{ readonly name: string }> },
    never
  >;
  return (answer.groups ?? []).map(({ name }) => name);
});

const HMAC_SECRET = "llama-stack-operator-hmac";

/** Made once per cluster and kept, so that digests of Secret values mean the same after a restart and in every replica. */
const hmacKey = Effect.fnUntraced(function* (namespace: string) {
  const cluster = yield* Cluster;
  const key = { apiVersion: "v1", kind: "Secret", namespace, name: HMAC_SECRET };
  const found = yield* cluster.get(key);
  const known = stringAt(found ?? null, "data", "key");
  if (known !== undefined) return known;
  const fresh = btoa(
    Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => String.fromCharCode(byte)).join(""),
  );
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: HMAC_SECRET, namespace }, data: { key: fresh } };
  const made = yield* cluster.create(`/api/v1/namespaces/${namespace}/secrets`, secret).pipe(
    // Another replica was faster: its key is the key.
    Effect.catchIf((error) => error.status === 409, () => Effect.map(cluster.get(key), (one) => one ?? secret)),
  );
  return stringAt(made, "data", "key") ?? fresh;
});
