/** Ownership of an object. An object of another owner is never changed. */
import { KIND } from "../api/v1alpha2.ts";
import { DeletionPending, OwnershipConflict } from "../failure/failures.ts";
import { type JsonObject } from "../data/json.ts";
import { MANAGED_BY } from "../resources/names.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { manifestDigest } from "../resources/objects.ts";
import { podTemplateOf } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { isAllowedTemplate } from "./allowed_template.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import { ownsField } from "../snapshot/field_set.ts";
import { liveObject, type Texts, textsIn } from "../snapshot/live_object.ts";

/** The resource, and the operator with its allowances. */
type Whose = Pick<ClusterSnapshot, "resource" | "operator">;

/** Undefined if the live object does not exist, is managed by this resource, or may be adopted. */
export const conflictOf = (
  manifest: Manifest,
  live: JsonObject | undefined,
  snapshot: Whose,
): OwnershipConflict | DeletionPending | undefined => {
  if (live === undefined) return undefined;
  const { kind, metadata } = manifest;
  const { controller: owner, isGoing } = liveObject(live);
  const path = ["metadata", "name"];
  const resource = liveObject(snapshot.resource);
  if (isOurs(live, resource.uid)) {
    const differs = hasOtherContent(manifest, live)
      ? "content"
      : isAdoptable(live, snapshot)
      ? undefined
      : "privileges";
    if (differs === undefined) return undefined;
    return isGoing
      ? new DeletionPending({ path, kind, name: metadata.name })
      : new OwnershipConflict({ path, kind, name: metadata.name, owner: undefined, differs });
  }
  // Two resources of one name cannot exist at a time: the other one is gone, and the garbage collector is on its way.
  const isPredecessors = owner?.kind === KIND && owner.name === resource.name;
  if (isPredecessors || isGoing) return new DeletionPending({ path, kind, name: metadata.name });
  return new OwnershipConflict({
    path,
    kind,
    name: metadata.name,
    owner: owner === undefined ? undefined : `${owner.kind} ${owner.name}`,
  });
};

/**
 * Controlled by the resource, or created by the operator and without a controller: a kept claim, or an object restored
 * from a backup.
 */
export const isOurs = (live: JsonObject, uid: string | undefined): boolean => {
  const { controller } = liveObject(live);
  return controller === undefined ? isOrphan(live) : controller.uid === uid;
};

/** An object of the operator without an owner, which is adopted: backups often omit owner references. */
export const isOrphan = (live: JsonObject): boolean => {
  const { kind, controller, isGoing, labels } = liveObject(live);
  return controller === undefined && !isGoing &&
    (labels["app.kubernetes.io/managed-by"] === MANAGED_BY || isAppliedByUs(live)) &&
    (kind === "PersistentVolumeClaim" || manifestDigest(live) !== undefined);
};

/**
 * Labels and digest are not secret: anyone may prepare a Deployment under the name of a future resource. An apply would
 * keep fields in it that the operator does not set, such as a hostPath volume.
 */
export const isAdoptable = (live: JsonObject, snapshot: Whose): boolean =>
  liveObject(live).kind !== "Deployment" || !isOrphan(live) || isAllowedTemplate(podTemplateOf(live), snapshot);

/**
 * A config is immutable and named after its content: one with another content was made by somebody else, an apply of ours would be
 * rejected, and the server would start on it. Neither owner nor field managers count, which anyone can set.
 */
const hasOtherContent = (manifest: Manifest, live: JsonObject): boolean =>
  manifest.kind === "ConfigMap" && manifest.immutable === true &&
  (["data", "binaryData"] as const).some((field) => !sameTexts(textsIn(manifest[field]), textsIn(live[field])));

const sameTexts = (one: Texts, other: Texts): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, text]) => other[key] === text);

/** The label may have been rewritten by a policy. */
const isAppliedByUs = (live: JsonObject): boolean =>
  liveObject(live).fieldSets.some((set) =>
    set.isOwnApply && ownsField(set, "f:metadata", "f:labels", "f:app.kubernetes.io/managed-by")
  );

/** A Deployment that another operator made for this resource, and whose template this one has not recorded yet. */
export const isNotAdopted = (live: LiveDeployment | undefined, resource: JsonObject): boolean =>
  live !== undefined && live.record.template === undefined && live.controller === liveObject(resource).uid;

/** Whether watches report the object: they select by these labels, which anyone may change. */
export const isWatched = (live: JsonObject, resource: string): boolean => {
  const { labels } = liveObject(live);
  return labels["app.kubernetes.io/managed-by"] === MANAGED_BY && labels["app.kubernetes.io/instance"] === resource;
};
