/**
 * Which optional kinds the API server serves. It can begin and cease to serve them at any time, as when somebody installs or
 * deletes a CustomResourceDefinition; its discovery is asked for the kind in the version, since a group may come without it.
 */
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import * as SubscriptionRef from "effect/SubscriptionRef";
import { isObject, listAt, stringAt } from "../../core/data/json.ts";
import type { OptionalKind } from "../../core/resources/blueprint.ts";
import { groupPath, OPTIONAL_KINDS } from "../../core/snapshot/kinds.ts";
import { DISCOVERY_DELAY_MS } from "../limits.ts";
import { Cluster, type ClusterError } from "./cluster.ts";

type Served = ReadonlyArray<OptionalKind>;

/** None where nobody looks. */
export const ServedKinds: Context.Reference<SubscriptionRef.SubscriptionRef<Served>> = Context.Reference(
  "llama-stack-operator/shell/ServedKinds",
  { defaultValue: () => Effect.runSync(SubscriptionRef.make<Served>([])) },
);

/** The kinds of the groups that the API server names are taken to be served until it says otherwise. */
export const servedKinds = Effect.fnUntraced(function* (groups: ReadonlyArray<string>) {
  const named = OPTIONAL_KINDS.filter(({ apiVersion }) => groups.includes(groupOf(apiVersion))).map(({ kind }) => kind);
  const served = yield* SubscriptionRef.make<Served>(named);
  yield* lookForKinds.pipe(Effect.provideService(ServedKinds, served));
  return served;
});

const groupOf = (apiVersion: string): string => apiVersion.split("/")[0] ?? "";

const VERSIONS: ReadonlyArray<string> = [...new Set(OPTIONAL_KINDS.map(({ apiVersion }) => apiVersion))];

/** Asks the API server. A version that it cannot answer for, as while an aggregated API is down, stays as it was. */
export const lookForKinds = Effect.gen(function* () {
  const served = yield* ServedKinds;
  const before = yield* SubscriptionRef.get(served);
  const found = (yield* Effect.forEach(VERSIONS, (version) => servedIn(version, before))).flat();
  if (OPTIONAL_KINDS.every(({ kind }) => found.includes(kind) === before.includes(kind))) return;
  yield* Effect.logInfo("optional kinds changed").pipe(Effect.annotateLogs({ served: found.join(",") || "none" }));
  yield* SubscriptionRef.set(served, found);
});

const servedIn = Effect.fnUntraced(function* (version: string, before: Served) {
  const cluster = yield* Cluster;
  const kinds = OPTIONAL_KINDS.filter(({ apiVersion }) => apiVersion === version);
  const answer = yield* Effect.result(cluster.read(groupPath(version)));
  if (answer._tag === "Failure") {
    return isUnserved(answer.failure) ? [] : kinds.map(({ kind }) => kind).filter((kind) => before.includes(kind));
  }
  const resources = listAt(answer.success, "resources").filter(isObject);
  // A definition that is being deleted is still there to read.
  const isWritable = (name: string) =>
    resources.some((resource) => stringAt(resource, "name") === name && listAt(resource, "verbs").includes("patch"));
  return kinds.filter(({ plural }) => isWritable(plural)).map(({ kind }) => kind);
});

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
  const served = yield* ServedKinds;
  for (const pauseMs of [0, DISCOVERY_DELAY_MS]) {
    yield* Effect.sleep(Duration.millis(pauseMs));
    yield* lookForKinds;
    if (!(yield* SubscriptionRef.get(served)).includes(optional.kind)) return true;
  }
  return false;
});

/** Waits until the kind is served, or is not. */
export const untilServed = (kind: OptionalKind, isServed: boolean) =>
  Effect.flatMap(ServedKinds, (served) =>
    SubscriptionRef.changes(served).pipe(
      Stream.filter((kinds) => kinds.includes(kind) === isServed),
      Stream.take(1),
      Stream.runDrain,
    ));
