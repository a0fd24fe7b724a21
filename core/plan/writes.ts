/** Which objects are written: those that are not as the API server once answered to our apply of the same manifest. */
import { KIND } from "../api/v1alpha2.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { stamped } from "../resources/objects.ts";
import { matchesDesired } from "./difference.ts";
import { changedFields, isAppliedFrom } from "./field_owners.ts";
import { Step, type StepPrecondition, type WriteStep } from "./step.ts";
import { liveOf } from "./wanted_objects.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";

/** Only what differs: a reconciliation that changes nothing writes nothing. */
export const writes = (
  snapshot: ClusterSnapshot,
  manifests: ReadonlyArray<Manifest>,
  changed: ReadonlySet<string>,
  why: string,
  blocks: boolean,
): ReadonlyArray<WriteStep> =>
  manifests.map(stamped)
    .filter((item) => !isWritten(item, liveOf(snapshot, item)) || changed.has(liveKey(item.kind, item.metadata.name)))
    .map((manifest) =>
      Step.Apply({ manifest, why, precondition: preconditionOf(snapshot, manifest, changed), blocks })
    );

/** A replica that wakes without its lease, or a look that is out of date, must not undo what was written since. */
const preconditionOf = (
  snapshot: ClusterSnapshot,
  manifest: Manifest,
  changed: ReadonlySet<string>,
): StepPrecondition => {
  const live = liveOf(snapshot, manifest);
  if (live === undefined) return "must not exist";
  const version = stringAt(live, "metadata", "resourceVersion");
  const isKnown = version !== undefined && !changed.has(liveKey(manifest.kind, manifest.metadata.name));
  return isKnown ? { version } : "as just written";
};

const isWritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  if (live === undefined) return false;
  // A claim's own fields can hardly change; a size that grew beyond what is asked for stays (never shrunk).
  if (manifest.kind === "PersistentVolumeClaim" && stringAt(live, "status", "phase") === "Lost") return true;
  return isAppliedFrom(manifest, live) && isAnswered(manifest, live) && !isOwnedTooMuch(manifest, live);
};

/** It says what the manifest says, or what a policy of the cluster made of that when it was applied. */
export const isAnswered = (manifest: Manifest, live: JsonObject | undefined): boolean =>
  matchesDesired(manifest, live) || isOnlyRewritten(manifest, live);

const isOnlyRewritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  const { byPolicy, byOthers } = changedFields(manifest, live);
  return byPolicy.length > 0 && byOthers.length === 0;
};

/** The digest leaves the owner out, which is another one for each copy of a resource: a claim to be kept must not have ours. */
const isOwnedTooMuch = (manifest: Manifest, live: JsonObject): boolean =>
  listAt(manifest, "metadata", "ownerReferences").length === 0 &&
  listAt(live, "metadata", "ownerReferences").some((owner) => stringAt(owner, "kind") === KIND);
