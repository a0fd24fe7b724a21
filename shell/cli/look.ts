/** A single read of a cluster for the commands, with the operator's own code, without watches and without writes. */
import { LISTS_AT_ONCE } from "../limits.ts";
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import * as Ref from "effect/Ref";
import { converted } from "../../core/api/convert.ts";
import { V1ALPHA1 } from "../../core/api/v1alpha1.ts";
import { API_VERSION, KIND, PLURAL } from "../../core/api/v1alpha2.ts";
import { HMAC_SECRET, OPERATOR_DEPLOYMENT } from "../../core/api/own_objects.ts";
import { relatedImagesOf } from "../../core/operator/related_images.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { newestFirst } from "../../core/data/newest_first.ts";
import { groupPath, OPTIONAL_KINDS, OWN_KINDS, POD_LABELS } from "../../core/snapshot/kinds.ts";
import { eventsIn } from "../../core/snapshot/live_event.ts";
import { livePod } from "../../core/snapshot/live_pod.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import type { ClusterSnapshot } from "../../core/snapshot/cluster_snapshot.ts";
import { readSettings, SETTINGS_CONFIG_MAP, settingsData } from "../../core/operator/settings.ts";
import { keyIn, ownSecret, validTextsIn } from "../../core/operator/own_secret.ts";
import { lines } from "../../core/command/outcome.ts";
import { write } from "./platform.ts";
import { Cluster, type ClusterError, type Connection } from "../kubernetes/cluster.ts";
import { noSlot, planned } from "../controller/answers.ts";
import { listIntoStore, observe, withServer } from "../controller/observe.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { LiveSettings } from "../controller/operator_settings.ts";
import { goOperatorSettings } from "../process/go_operator_settings.ts";
import { kindsNow, servedGroups, ServedKinds, servedKinds } from "../kubernetes/served_kinds.ts";
import { operatorFacts } from "../process/run.ts";
import { ServerProbe } from "../controller/server_probe.ts";
import { termState } from "../controller/term_state.ts";
import { LabelReader, nobodyAsked, type ReadsLabels } from "../controller/image_labels.ts";
import type { LabelsOfProvider } from "../../core/config/unfit_providers.ts";
import type { ImageLabels } from "../../core/config/servers/image_labels.ts";
import { type LabelsAnswer, reportedLabels } from "../../core/plan/image_question.ts";
import { Store } from "../cache/store.ts";
import { decide } from "../../core/plan/decide.ts";
import { type Planned, withFound } from "../../core/plan/plan.ts";
import { deploymentIn } from "../../core/snapshot/live_deployment.ts";
import { liveObject, resourceKey } from "../../core/snapshot/live_object.ts";

export interface LookOptions {
  readonly connection: Connection;
  /** Where the operator keeps its own objects. */
  readonly operatorNamespace: string;
  /** Of the environment, which override those of the installed operator. */
  readonly relatedImages: ReadonlyMap<string, string>;
  /** Labels of images from a file; without, no registry is asked, and what the operator reported about them counts. */
  readonly labels?: (image: string, wanted: string | undefined) => ImageLabels | undefined;
  readonly providerLabels?: LabelsOfProvider;
  /** The operator has not started here yet: it will begin with the settings of the Go operator, if it has none of its own. */
  readonly isFirst?: boolean;
}

/** No such resource in the cluster. */
export class ResourceNotFound extends Data.TaggedError("ResourceNotFound")<{
  readonly namespace: string;
  readonly name: string;
}> {
  override get message(): string {
    return `${KIND} "${this.name}" not found in namespace "${this.namespace}"`;
  }
}

/** What `observe` and `planned` need. */
type Observing =
  | Cluster
  | Store
  | OperatorFacts
  | ServerProbe
  | LiveSettings
  | Layer.Success<typeof termState>
  | LabelReader
  | ServedKinds;

/** Provides the services that `observe` needs; none of them can write. */
export const looking = <A, E>(
  program: Effect.Effect<A, E, Observing>,
  options: LookOptions,
) =>
  Effect.gen(function* () {
    const groups = yield* servedGroups;
    const relatedImages = new Map([...yield* installedImages(options.operatorNamespace), ...options.relatedImages]);
    const own = yield* readable(ownSecret(options.operatorNamespace));
    // Without the key, digests of Secret values are others than the operator's.
    const installed = operatorFacts({ ...options, relatedImages }, groups, keyIn(own) ?? "");
    const { providerLabels } = options;
    const facts = providerLabels === undefined
      ? installed
      : { ...installed, surroundings: { ...installed.surroundings, providerLabels } };
    const settings = yield* settingsNow(options, own, [...facts.surroundings.distributions.keys()]);
    return yield* program.pipe(
      Effect.provideServiceEffect(LabelReader, knownLabels(options)),
      Effect.provide(Store.layer),
      Effect.provideService(OperatorFacts, facts),
      Effect.provideServiceEffect(ServedKinds, servedKinds(groups)),
      Effect.provideServiceEffect(LiveSettings, Ref.make(settings)),
      Effect.provide(termState),
    );
  }).pipe(
    Effect.provide(Layer.mergeAll(Cluster.layer(options.connection), NOBODY_ASKED)),
    Effect.scoped,
  );

/**
 * The operator's settings; defaults if they cannot be read. The operator itself reports errors in them, and keeps the last valid
 * values in `own`, its Secret.
 */
const settingsNow = Effect.fnUntraced(function* (
  { operatorNamespace: namespace, isFirst }: LookOptions,
  own: JsonObject | undefined,
  distributions: ReadonlyArray<string>,
) {
  const copied = isFirst === true ? yield* goOperatorSettings(namespace, distributions) : undefined;
  const key = { apiVersion: "v1", kind: "ConfigMap", namespace, name: SETTINGS_CONFIG_MAP };
  const map = copied?.copy ?? (yield* readable(key));
  const { settings, complaints } = readSettings(map && settingsData(map), validTextsIn(own), distributions);
  if (own === undefined && complaints.length > 0) write(Deno.stderr, lines([UNKNOWN_VALUES, ...complaints]));
  return settings;
});

const UNKNOWN_VALUES =
  `entries of the operator's settings are invalid, and its Secret ${HMAC_SECRET}, which has their last valid values, cannot be ` +
  "read; the operator may use another value:";

/** A single read does not wait for servers: their answers are in the status. */
const NOBODY_ASKED = Layer.succeed(ServerProbe, {
  answers: () => Effect.succeed(undefined),
  changed: Effect.never,
});

const UNKNOWN: LabelsAnswer = { kind: "unknown" };

const knownLabels = ({ labels }: LookOptions) =>
  Effect.map(Store, (store): ReadsLabels => ({
    ...nobodyAsked,
    labels: (key, question) =>
      Effect.gen(function* () {
        if (question === undefined) return UNKNOWN;
        return labels?.(question.image, question.wanted) ??
          reportedLabels((yield* store.resource(key))?.object) ?? UNKNOWN;
      }),
  }));

/**
 * Whether the operator's key would be needed to compare the server with what the resource says, and cannot be read: only existing
 * objects contain digests to compare with.
 */
export const lacksKey = (snapshot: ClusterSnapshot): boolean =>
  Redacted.value(snapshot.operator.hmacKey) === "" &&
  (snapshot.secrets.size > 0 || snapshot.labels?.kind === "read") && deploymentIn(snapshot) !== undefined;

/** Those that the installed operator has; none where its Deployment cannot be read. */
const installedImages = Effect.fnUntraced(function* (namespace: string) {
  const found = yield* readable({ apiVersion: "apps/v1", kind: "Deployment", namespace, name: OPERATOR_DEPLOYMENT });
  return relatedImagesOf(found ?? null);
});

/** Undefined too where we may not read it. */
const readable = (key: ObjectKey) => Effect.flatMap(Cluster, (cluster) => allowed(cluster.get(key), undefined));

const allowed = <A>(run: Effect.Effect<A, ClusterError>, none: A) =>
  Effect.catchTag(run, "Forbidden", () => Effect.succeed(none));

export const keyOfResource = (namespace: string, name: string): ObjectKey => ({
  apiVersion: API_VERSION,
  kind: KIND,
  namespace,
  name,
});

/** The resource as it is. */
export const resourceOf = Effect.fn("resourceOf")(function* (namespace: string, name: string) {
  const found = yield* (yield* Cluster).get(keyOfResource(namespace, name));
  return found === undefined ? yield* new ResourceNotFound({ namespace, name }) : found;
});

/**
 * The first object that there is. One that cannot be read is passed over, such as a version whose conversion webhook is down; if
 * there is no other, that is the error.
 */
export const firstOf = Effect.fn("firstOf")(function* (keys: ReadonlyArray<ObjectKey>) {
  const cluster = yield* Cluster;
  let failure: ClusterError | undefined;
  for (const key of keys) {
    const read = yield* Effect.result(cluster.get(key));
    if (Result.isFailure(read)) failure ??= read.failure;
    else if (read.success !== undefined) return read.success;
  }
  return failure === undefined ? undefined : yield* failure;
});

/** The decision about this resource, the resource being the given one, with everything that it rests on. */
export const plannedFor = Effect.fn("plannedFor")(function* (resource: JsonObject) {
  const store = yield* Store;
  const key = resourceKey(resource);
  yield* store.put(resource, "list");
  const served = yield* kindsNow;
  const kinds = [...OWN_KINDS, ...OPTIONAL_KINDS.filter(({ kind }) => served.includes(kind))];
  yield* listIntoStore(resource, kinds, LISTS_AT_ONCE);
  // The store keeps a part of a large one, and the API server may have another one than this, or another version.
  const facts = yield* observe(key, resource);
  if (facts === undefined) return yield* Effect.die(new Error(`${key} was put into the store and is not there`));
  const made = yield* planned(key, facts, noSlot);
  // The store keeps a part of who owns which fields; what a take-over removes follows from all of it.
  const taken = made.decision.steps.flatMap((step) => step._tag === "TakeOver" ? [step.key] : []);
  const cluster = yield* Cluster;
  const found = yield* Effect.forEach(taken, (one) => cluster.get(one), { concurrency: LISTS_AT_ONCE });
  const whole = withFound(made.snapshot, taken, found);
  const decision = taken.length === 0 ? made.decision : decide(whole, made.prepared);
  const result: Planned = { ...made, snapshot: yield* withServer(key, whole, facts.decoded), decision };
  return result;
});

/** Those of all namespaces or of one, before or after the installation of this operator: both operators serve v1alpha1. */
export const resourcesIn = Effect.fn("resourcesIn")(function* (namespace: string | undefined) {
  const place = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${groupPath(V1ALPHA1)}${place}/${PLURAL}`;
  const { items } = yield* (yield* Cluster).list({ path });
  // Items of a list have neither kind nor version.
  return items.map((item) => converted({ ...item, apiVersion: V1ALPHA1, kind: KIND }, API_VERSION));
});

/**
 * ReplicaSets and pods of a resource, and the Events on all of its objects. Objects that may not be read are omitted.
 */
export const podsAndEventsOf = Effect.fn("podsAndEventsOf")(function* (resource: JsonObject) {
  const cluster = yield* Cluster;
  const { namespace, name } = liveObject(resource);
  const labels = `${POD_LABELS},app.kubernetes.io/instance=${name}`;
  const listed = (group: string, plural: string) =>
    allowed(
      Effect.map(cluster.list({ path: `${group}/namespaces/${namespace}/${plural}`, labels }), ({ items }) => items),
      [],
    );
  const pods = newestFirst(yield* listed("/api/v1", "pods"));
  const replicaSets = newestFirst(yield* listed("/apis/apps/v1", "replicasets"));
  const deployment = yield* readable({ apiVersion: "apps/v1", kind: "Deployment", namespace, name });
  const speakers = [resource, deployment, ...replicaSets.slice(0, SETS_HEARD), ...pods.slice(0, PODS_HEARD)]
    .flatMap((item) => item === undefined ? [] : liveObject(item).uid ?? []);
  const heard = yield* Effect.forEach(speakers, (uid) => {
    const query = new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}`, limit: EVENTS_PER_OBJECT });
    return allowed(cluster.read(`/api/v1/namespaces/${namespace}/events?${query}`), null);
  }, { concurrency: LISTS_AT_ONCE });
  return { pods: pods.map(livePod), events: heard.flatMap(eventsIn) };
});

/** Objects whose Events are read, the newest ones, and Events of each. */
const SETS_HEARD = 2;
const PODS_HEARD = 5;
const EVENTS_PER_OBJECT = "50";
