/**
 * Owners of the fields whose live value differs from the applied one. Admission changes an object after the API server
 * has recorded the field managers (source: `patchResource` and the create and update handlers of Kubernetes 1.36): a
 * field that only the operator's apply owns, with another value or none, was rewritten by a policy in the operator's
 * own request. The API server's response is then the desired value, in every later reconciliation and for every leader,
 * because it is recorded on the object. Anyone who edits a field takes over its ownership.
 */
import { at, type JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { manifestDigest } from "../resources/objects.ts";
import { type DifferencePath, differences, matchesDesired, pathText } from "./difference.ts";
import { recordIn } from "../snapshot/record.ts";
import type { WriteStep } from "./step.ts";
import { keyOf, type ObjectKey } from "../snapshot/object_key.ts";
import { type ClusterSnapshot, liveOf } from "../snapshot/cluster_snapshot.ts";
import type { ForeignField } from "../snapshot/contest.ts";
import { ownsWithin } from "../snapshot/field_set.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Fields whose live value differs from the applied one. */
export interface Changed {
  /** By a policy, in our own request: text of the field paths. */
  readonly byPolicy: ReadonlyArray<string>;
  /** By another field manager. */
  readonly byOthers: ReadonlyArray<ForeignField>;
}

const NOTHING: Changed = { byPolicy: [], byOthers: [] };

/** `manifest` carries its digest. Nothing where the object was not made from this very manifest. */
export const changedFields = (manifest: Manifest, live: JsonObject | undefined): Changed =>
  live === undefined || !isAppliedFrom(manifest, live)
    ? NOTHING
    : sortedOut(manifest, live, differences(manifest, live));

/**
 * Whether the live template of a Deployment was changed since this manifest was applied, so that a repair replaces its
 * pods.
 */
export const isTemplateForeign = (deployment: Manifest, live: JsonObject | undefined): boolean => {
  const path = ["spec", "template"];
  const found = differences(at(deployment, ...path) ?? null, at(live, ...path), path);
  return found.length > 0 && (live === undefined || sortedOut(deployment, live, found).byOthers.length > 0);
};

/**
 * Objects that the steps would write, and of which it must be known first who owns the fields that differ. What was looked at
 * before keeps next to nothing of that, since it is most of an object's bytes.
 */
export const askedForOwners = (steps: ReadonlyArray<WriteStep>, snapshot: ClusterSnapshot): ReadonlyArray<ObjectKey> =>
  steps.flatMap((step) => {
    if (step._tag !== "Apply") return [];
    const { manifest } = step;
    const live = liveOf(snapshot, manifest);
    if (live === undefined) return [];
    const isAsked = isAppliedFrom(manifest, live)
      ? !matchesDesired(manifest, live)
      : manifest.kind === "Deployment" && recordIn(manifest).template === recordIn(live).template &&
        isTemplateForeign(manifest, live);
    return isAsked ? [keyOf(manifest)] : [];
  });

const sortedOut = (manifest: Manifest, live: JsonObject, found: ReadonlyArray<DifferencePath>): Changed => {
  if (found.length === 0) return NOTHING;
  const { fieldSets } = liveObject(live);
  const own = fieldSets.find(({ isOwnApply }) => isOwnApply)?.fields ?? {};
  const others = fieldSets.filter(({ isOwnApply }) => !isOwnApply);
  const byPolicy: Array<string> = [];
  const byOthers: Array<ForeignField> = [];
  for (const path of found) {
    const owners = others.filter(({ fields }) => owns(fields, path));
    if (owners.length === 0 && owns(own, path)) {
      byPolicy.push(pathText(path));
      continue;
    }
    const managers = owners.length > 0 ? owners : others.filter(({ fields }) => isBeside(fields, path));
    byOthers.push({
      object: `${manifest.kind} ${manifest.metadata.name}`,
      field: pathText(path),
      manager: managers[0]?.manager ?? "",
    });
  }
  return { byPolicy, byOthers };
};

/** The object was applied from this manifest, regardless of later changes. */
export const isAppliedFrom = (manifest: Manifest, live: JsonObject): boolean =>
  manifestDigest(live) !== undefined && manifestDigest(live) === manifestDigest(manifest);

const owns = (fields: JsonObject, path: DifferencePath): boolean =>
  ownsWithin(fields, path.map((step) => typeof step === "string" ? step : step.item));

/** Who set the other half of an either-or field of a list item: `value` in place of `valueFrom`. */
const isBeside = (fields: JsonObject, path: DifferencePath): boolean => {
  const item = path.findLastIndex((step) => typeof step !== "string");
  return item >= 0 && owns(fields, path.slice(0, item + 1));
};
