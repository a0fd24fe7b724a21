/**
 * Which optional kinds the API server serves. It can begin and cease to serve them at any time, as when somebody installs or
 * deletes a CustomResourceDefinition; its discovery is asked for the kind in the version, since a group may come without it.
 */
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import * as SubscriptionRef from "effect/SubscriptionRef";
import { listAt, stringAt } from "../../core/data/json.ts";
import type { OptionalKind } from "../../core/resources/blueprint.ts";
import { type Kind, OPTIONAL_KINDS } from "../../core/snapshot/kinds.ts";
import { DISCOVERY_DELAY_MS } from "../limits.ts";
import { Cluster, type ClusterError, type Discovery } from "./cluster.ts";

export interface Served {
  readonly kinds: ReadonlyArray<OptionalKind>;
  /** Of the discovery that says so. */
  readonly etag: string | undefined;
}

export class ServedKinds extends Context.Service<ServedKinds, SubscriptionRef.SubscriptionRef<Served>>()(
  "llama-stack-operator/shell/ServedKinds",
) {}

export const knownKinds = (kinds: ReadonlyArray<OptionalKind>) =>
  SubscriptionRef.make<Served>({ kinds, etag: undefined });

/** The kinds that are served now. */
export const kindsNow = Effect.gen(function* () {
  return (yield* SubscriptionRef.get(yield* ServedKinds)).kinds;
});

/** The names of all groups. */
export const servedGroups = Effect.gen(function* () {
  const cluster = yield* Cluster;
  return listAt(yield* cluster.read("/apis"), "groups").flatMap((group) => stringAt(group, "name") ?? []);
});

/** The kinds of the groups that the API server names are taken to be served until it says otherwise. */
export const servedKinds = Effect.fnUntraced(function* (groups: ReadonlyArray<string>) {
  const served = yield* knownKinds(
    OPTIONAL_KINDS.filter(({ apiVersion }) => groups.includes(groupOf(apiVersion))).map(({ kind }) => kind),
  );
  yield* lookForKinds.pipe(Effect.provideService(ServedKinds, served));
  return served;
});

const groupOf = (apiVersion: string): string => apiVersion.split("/")[0] ?? "";

/** Asks the API server. What it cannot answer for stays as it was. */
export const lookForKinds = Effect.gen(function* () {
  const served = yield* ServedKinds;
  const cluster = yield* Cluster;
  const before = yield* SubscriptionRef.get(served);
  const discovery = yield* Effect.orElseSucceed(cluster.discover(before.etag), () => undefined);
  if (discovery === undefined) return;
  const kinds = OPTIONAL_KINDS.filter((kind) => isServed(kind, discovery) ?? before.kinds.includes(kind.kind))
    .map(({ kind }) => kind);
  yield* SubscriptionRef.set(served, { kinds, etag: discovery.etag });
  if (kinds.join() === before.kinds.join()) return;
  yield* Effect.logInfo("optional kinds changed").pipe(Effect.annotateLogs({ served: kinds.join(",") || "none" }));
});

/** Undefined while an aggregated API is down. */
const isServed = ({ apiVersion, plural }: Kind, { groups }: Discovery): boolean | undefined => {
  const group = groups.find((one) => stringAt(one, "metadata", "name") === groupOf(apiVersion));
  const version = listAt(group, "versions").find((one) =>
    `${groupOf(apiVersion)}/${stringAt(one, "version")}` === apiVersion
  );
  if (stringAt(version, "freshness") === "Stale") return undefined;
  // A definition that is being deleted is still there to read.
  return listAt(version, "resources").some((one) =>
    stringAt(one, "resource") === plural && listAt(one, "verbs").includes("patch")
  );
};

/** The answer to a read of a kind that is not served. */
export const isUnserved = ({ _tag }: ClusterError): boolean => _tag === "NotFound" || _tag === "MethodNotAllowed";

/**
 * Whether a write failed because its kind is optional and is not served any more. While a definition is being deleted, new objects
 * are forbidden, and discovery says so a moment later; it is asked again, since accounts without the right get the same answer.
 */
export const isKindGone = Effect.fnUntraced(function* (kind: string, error: ClusterError) {
  const optional = OPTIONAL_KINDS.find((known) => known.kind === kind);
  if (optional === undefined) return false;
  if (isUnserved(error)) return yield* Effect.as(lookForKinds, true);
  if (error._tag !== "Forbidden") return false;
  for (const pauseMs of [0, DISCOVERY_DELAY_MS]) {
    yield* Effect.sleep(Duration.millis(pauseMs));
    yield* lookForKinds;
    if (!(yield* kindsNow).includes(optional.kind)) return true;
  }
  return false;
});

/** Waits until the kind is served, or is not. */
export const untilServed = (kind: OptionalKind, isServed: boolean) =>
  Effect.flatMap(ServedKinds, (served) =>
    SubscriptionRef.changes(served).pipe(
      Stream.filter(({ kinds }) => kinds.includes(kind) === isServed),
      Stream.take(1),
      Stream.runDrain,
    ));
