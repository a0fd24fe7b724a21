/** Which objects are written: those that are not as the API server once answered to our apply of the same manifest. */
import { KIND } from "../api/v1alpha2.ts";
import { type JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { matchesDesired } from "./difference.ts";
import { changedFields, isAppliedFrom } from "./field_owners.ts";
import { Step, type StepPrecondition, type WriteStep } from "./step.ts";
import { liveKey } from "../snapshot/cluster_snapshot.ts";
import type { Wanted } from "./wanted_objects.ts";
import { liveClaim } from "../snapshot/live_claim.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Only what differs: a reconciliation that changes nothing writes nothing. */
export const writes = (
  wanted: ReadonlyArray<Wanted>,
  changed: ReadonlySet<string>,
  why: string,
): ReadonlyArray<WriteStep> =>
  wanted.flatMap(({ part, manifest, live }) => {
    const isChanged = changed.has(liveKey(manifest.kind, manifest.metadata.name));
    if (isWritten(manifest, live) && !isChanged) return [];
    return Step.Apply({
      manifest,
      why,
      precondition: preconditionOf(live, isChanged),
      // A claim that exists serves as it is, although the API server may refuse to let it grow.
      blocks: part !== "after" && (manifest.kind !== "PersistentVolumeClaim" || live === undefined),
    });
  });

/** A replica that wakes up without its lease, or a stale read, must not undo later writes. */
const preconditionOf = (live: JsonObject | undefined, isChanged: boolean): StepPrecondition => {
  if (live === undefined) return "must not exist";
  const { version } = liveObject(live);
  return version !== "" && !isChanged ? { version } : "as just written";
};

const isWritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  if (live === undefined) return false;
  // The fields of a claim are mostly immutable; a size larger than desired is kept (claims never shrink).
  if (manifest.kind === "PersistentVolumeClaim" && liveClaim(live).phase === "Lost") return true;
  return isAppliedFrom(manifest, live) && isAnswered(manifest, live) && !isOwnedTooMuch(manifest, live);
};

/** It matches the manifest, or the manifest as changed by a policy of the cluster when it was applied. */
export const isAnswered = (manifest: Manifest, live: JsonObject | undefined): boolean =>
  matchesDesired(manifest, live) || isOnlyRewritten(manifest, live);

const isOnlyRewritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  const { byPolicy, byOthers } = changedFields(manifest, live);
  return byPolicy.length > 0 && byOthers.length === 0;
};

/** The digest excludes the owner, which differs for each copy of a resource: a claim to keep must not have an owner. */
const isOwnedTooMuch = (manifest: Manifest, live: JsonObject): boolean =>
  manifest.metadata.ownerReferences === undefined &&
  liveObject(live).owners.some(({ kind }) => kind === KIND);
