/** The operator as a program: its parts, put together. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as Metric from "effect/Metric";
import * as Redacted from "effect/Redacted";
import * as Ref from "effect/Ref";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import type { Operator } from "../../core/snapshot/operator.ts";
import { SETTINGS_DEFAULT } from "../../core/operator/settings.ts";
import { PROFILE_GROUP } from "../../core/operator/tls_profile.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { Cluster, type Connection } from "../kubernetes/cluster.ts";
import { lookForKinds, servedGroups, ServedKinds, servedKinds } from "../kubernetes/served_kinds.ts";
import { KINDS_LOOK_MS } from "../limits.ts";
import { termState } from "../controller/term_state.ts";
import { controller } from "../controller/controller.ts";
import { serveHealth } from "./health.ts";
import { type MetricsOptions, serveMetrics } from "./metrics_server.ts";
import { leading } from "./leader.ts";
import { LiveFigures, newFigures, passesEnded } from "../runtime/metrics.ts";
import { Scope } from "../controller/watches.ts";
import { SecretPolling } from "../controller/referenced_objects.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { labelReaderLayer } from "../controller/image_labels.ts";
import { LiveSettings, ValidSettings } from "../controller/operator_settings.ts";
import { keyIn, ownSecret, validTextsIn, withKey } from "../../core/operator/own_secret.ts";
import { collectAtRest, ownMemory } from "../runtime/rest.ts";
import { type Route, ServerProbe } from "../controller/server_probe.ts";
import { migrateStorage } from "../controller/storage_migration.ts";
import { Store } from "../cache/store.ts";
import { startWebhooks, type WebhookOptions } from "../webhooks/webhook_start.ts";
import { copyGoOperatorSettings } from "./go_operator_settings.ts";
import { creation, replacement } from "../../core/plan/patch.ts";
import { anewAfterRestores } from "../runtime/restored_database.ts";
import { followTlsProfile, LiveTlsProfile } from "../kubernetes/tls_profile.ts";

export interface RunOptions extends MetricsOptions {
  readonly connection: Connection;
  /** Empty: all namespaces. */
  readonly namespaces: ReadonlyArray<string>;
  readonly operatorNamespace: string;
  readonly relatedImages: ReadonlyMap<string, string>;
  /** Whether only one of several replicas is active at a time (leader.ts). */
  readonly leaderElect: boolean;
  /** Start of this replica's name in the lease, e.g. the pod's name. */
  readonly replica: string;
  /** `host:port` or `:port` of `/livez` and `/readyz`; `0`: none. */
  readonly healthAddress: string;
  /** How servers are asked for their version, providers and models. */
  readonly route: Route;
  /** Secrets are read by name only, once a minute, where listing and watching them is forbidden. */
  readonly secretPolling?: boolean;
  readonly webhooks?: Pick<
    WebhookOptions,
    "webhookAddress" | "certificateDirectory" | "clientCaPem" | "webhookNames" | "drainMs"
  >;
  /** Ends as a killed process would: the lease stays until it runs out. For tests. */
  readonly keepsLease?: boolean;
}

/** Reconciles until it is interrupted. */
export const operator = (options: RunOptions) =>
  Effect.gen(function* () {
    let reached = false;
    let callable = () => false;
    const { unreadable } = yield* LiveFigures;
    const notReady = (): string | undefined => {
      if (!reached) return "the API server has not been reached yet";
      if (!callable()) return "the webhooks do not have a certificate yet";
      if (unreadable.size === 0) return undefined;
      return [...unreadable].map(([what, answer]) => `cannot list or watch ${what}: ${answer}`).join("\n");
    };
    yield* serveHealth({ ...options, notReady });
    yield* serveMetrics(options);
    const webhooks = yield* startWebhooks({ webhookAddress: "0", ...options.webhooks, ...options });
    callable = webhooks.isReady;
    const memory = ownMemory();
    if (memory !== undefined) yield* Effect.forkScoped(collectAtRest(memory, passesEnded));
    const groups = yield* servedGroups;
    // The object is of no namespace, and not everyone may read it.
    if (groups.includes(PROFILE_GROUP) && options.namespaces.length === 0) yield* Effect.forkScoped(followTlsProfile);
    // A replica that waits for the lease is ready too, or a rolling update would wait for it.
    reached = true;
    yield* Effect.logInfo("started").pipe(
      Effect.annotateLogs({
        version: OPERATOR_VERSION,
        namespaces: options.namespaces.join(",") || "all",
        openshift: groups.includes(OPENSHIFT),
      }),
    );
    const program = working(options, groups);
    const work = !options.leaderElect ? anewAfterRestores(program) : leading(program, {
      namespace: options.operatorNamespace,
      identity: `${options.replica}_${crypto.randomUUID()}`,
      releases: options.keepsLease !== true,
    });
    return yield* Effect.raceFirst(work, webhooks.failed);
  }).pipe(
    Effect.scoped,
    // Of this operator alone; a test process runs several.
    Effect.provideService(LiveFigures, newFigures()),
    Effect.provideServiceEffect(LiveTlsProfile, LiveTlsProfile.make),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provide(Cluster.layer(options.connection)),
    Effect.provide(Logger.layer([Logger.consoleJson])),
  );

const OPENSHIFT = "security.openshift.io";

/** Of the API server in a pod; elsewhere they have no address. */
const API_SERVER_NAMES = ["kubernetes.default.svc"];

/** The work of the leader. Its state is created anew for each term, because a waiting replica has missed changes. */
const working = Effect.fnUntraced(function* (options: RunOptions, groups: ReadonlyArray<string>) {
  const own = yield* ownSecretOf(options.operatorNamespace);
  const facts = operatorFacts(options, groups, keyIn(own) ?? "");
  if (options.namespaces.length === 0) {
    yield* copyGoOperatorSettings(options.operatorNamespace, [...facts.surroundings.distributions.keys()]);
  }
  // If only some namespaces are watched, the resources of others must not be written.
  const migration = options.namespaces.length === 0 ? migrateStorage : Effect.void;
  const registries = {
    operatorNamespace: options.operatorNamespace,
    forbidden: [new URL(options.connection.url).hostname, ...API_SERVER_NAMES],
    mayListNodes: options.namespaces.length === 0,
  };
  const looks = Effect.forever(Effect.andThen(Effect.sleep(Duration.millis(KINDS_LOOK_MS)), lookForKinds));
  return yield* Effect.all([controller, migration, looks], { concurrency: "unbounded", discard: true }).pipe(
    Effect.provideService(SecretPolling, options.secretPolling === true),
    Effect.provideServiceEffect(ServedKinds, servedKinds(groups)),
    Effect.provideServiceEffect(LiveSettings, Ref.make(SETTINGS_DEFAULT)),
    Effect.provideServiceEffect(ValidSettings, Ref.make(validTextsIn(own))),
    Effect.provide(termState),
    Effect.provideService(Scope, options.namespaces),
    Effect.provide(
      Layer.fresh(Layer.provideMerge(
        Layer.mergeAll(ServerProbe.layer(options.connection, options.route), labelReaderLayer(registries)),
        Store.layer,
      )),
    ),
    Effect.provideService(OperatorFacts, facts),
  );
});

/** Facts about the operator for every decision; also for read-only commands. */
export const operatorFacts = (
  { operatorNamespace, relatedImages }: Pick<RunOptions, "operatorNamespace" | "relatedImages">,
  groups: ReadonlyArray<string>,
  hmacKey: string,
): Operator => ({
  version: OPERATOR_VERSION,
  surroundings: { ...DEFAULT_SURROUNDINGS, overrides: { settings: new Map(), related: relatedImages } },
  platform: {
    openshift: groups.includes(OPENSHIFT),
    served: [],
    operatorNamespace,
    networkPolicies: false,
  },
  hmacKey: Redacted.make(hmacKey),
  rolloutOnUpgrade: SETTINGS_DEFAULT.rolloutOnUpgrade,
  namespaceCaBundle: SETTINGS_DEFAULT.namespaceCaBundle,
  upgradeParallelism: SETTINGS_DEFAULT.upgradeParallelism,
});

const NAMESPACES = "/api/v1/namespaces";
const namespaceOf = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/**
 * With a key. It is created once per cluster and stored, so that digests of Secret values are the same after a restart and in every
 * replica. A Secret that lost its key gets a new one that is stored as well: a key known only to this process would
 * restart servers at each change of the leader.
 */
const ownSecretOf = Effect.fnUntraced(function* (namespace: string) {
  const cluster = yield* Cluster;
  const key = ownSecret(namespace);
  const { name } = key;
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  for (;;) {
    const found = yield* cluster.get(key);
    if (keyIn(found) !== undefined) return found;
    const fresh = crypto.getRandomValues(new Uint8Array(32)).toBase64();
    if (found !== undefined) {
      yield* Effect.logWarning("created a new HMAC key, because the Secret of the operator has none").pipe(
        Effect.annotateLogs({ secret: `${namespace}/${name}` }),
      );
    }
    const written = yield* (found === undefined
      ? cluster.send(
        creation(path, withKey({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } }, fresh)),
      )
      : cluster.send(replacement(`${path}/${name}`, withKey(found, fresh)))).pipe(
        // Another replica was faster: its key is the key.
        Effect.catchTag("Conflict", () => Effect.succeed(undefined)),
        // Outside of a cluster nobody has made the namespace of the operator yet.
        Effect.catchIf(
          (error) => error._tag === "NotFound" && found === undefined,
          () => Effect.as(cluster.send(creation(NAMESPACES, namespaceOf(namespace))), undefined),
        ),
      );
    if (keyIn(written) !== undefined) return written;
  }
});
