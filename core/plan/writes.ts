/** Which objects are written: those that are not as the API server once answered to our apply of the same manifest. */
import { KIND } from "../api/v1alpha2.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { stamped } from "../resources/objects.ts";
import { amount, saysTheSame } from "./difference.ts";
import { changedFields, isAppliedFrom } from "./field_owners.ts";
import { type Seen, Step } from "./step.ts";
import { liveKey, type World } from "./world.ts";

export const liveOf = (world: World, { kind, metadata }: Manifest): JsonObject | undefined =>
  world.live.get(liveKey(kind, metadata.name));

/** Only what differs: a pass that changes nothing writes nothing. */
export const writes = (
  world: World,
  manifests: ReadonlyArray<Manifest>,
  changed: ReadonlySet<string>,
  why: string,
  blocks: boolean,
): ReadonlyArray<Step> =>
  manifests.map(stamped)
    .filter((one) => !isWritten(one, liveOf(world, one)) || changed.has(liveKey(one.kind, one.metadata.name)))
    .map((manifest) => Step.Apply({ manifest, why, over: seenOf(world, manifest, changed), blocks }));

/** A replica that wakes without its lease, or a look that is out of date, must not undo what was written since. */
const seenOf = (world: World, manifest: Manifest, changed: ReadonlySet<string>): Seen => {
  const live = liveOf(world, manifest);
  if (live === undefined) return "nothing";
  const version = stringAt(live, "metadata", "resourceVersion");
  const isKnown = version !== undefined && !changed.has(liveKey(manifest.kind, manifest.metadata.name));
  return isKnown ? { version } : "just written";
};

const isWritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  if (live === undefined) return false;
  // A claim's own fields can hardly change; a size that grew beyond what is asked for stays (never shrunk).
  if (manifest.kind === "PersistentVolumeClaim" && stringAt(live, "status", "phase") === "Lost") return true;
  return isAppliedFrom(manifest, live) && isAnswered(manifest, live) && !isOwnedTooMuch(manifest, live);
};

/** It says what the manifest says, or what a policy of the cluster made of that when it was applied. */
export const isAnswered = (manifest: Manifest, live: JsonObject | undefined): boolean =>
  saysTheSame(manifest, live) || isOnlyRewritten(manifest, live);

const isOnlyRewritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  const { byPolicy, byOthers } = changedFields(manifest, live);
  return byPolicy.length > 0 && byOthers.length === 0;
};

/** The digest leaves the owner out, which is another one for each copy of a resource: a claim to be kept must not have ours. */
const isOwnedTooMuch = (manifest: Manifest, live: JsonObject): boolean =>
  listAt(manifest, "metadata", "ownerReferences").length === 0 &&
  listAt(live, "metadata", "ownerReferences").some((owner) => stringAt(owner, "kind") === KIND);

/** A claim is expanded, never shrunk: the API server refuses a smaller one, and that would stop every other change. */
export const notShrunk = (manifest: Manifest, live: JsonObject | undefined): Manifest => {
  const size = at(live, "spec", "resources", "requests", "storage");
  if (manifest.kind !== "PersistentVolumeClaim" || size === undefined) return manifest;
  const wanted = at(manifest, "spec", "resources", "requests", "storage") ?? null;
  return (amount(size) ?? 0) <= (amount(wanted) ?? 0)
    ? manifest
    : put(manifest, ["spec", "resources", "requests", "storage"], size) as Manifest;
};
