/** Ownership of an object. An object of another owner is never changed. */
import { KIND } from "../api/v1alpha2.ts";
import { DeletionPending, OwnershipConflict } from "../failure/failures.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { MANAGED_BY } from "../resources/names.ts";
import { isOwnApply } from "../snapshot/field_manager.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { MANIFEST_ANNOTATION } from "../resources/objects.ts";
import { podTemplateOf } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { isAllowedTemplate } from "./allowed_template.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";

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
  const path = ["metadata", "name"];
  if (isOurs(live, stringAt(snapshot.resource, "metadata", "uid"))) {
    const differs = hasOtherContent(manifest, live)
      ? "content"
      : isAdoptable(live, snapshot)
      ? undefined
      : "privileges";
    if (differs === undefined) return undefined;
    return isGoing(live)
      ? new DeletionPending({ path, kind, name: metadata.name })
      : new OwnershipConflict({ path, kind, name: metadata.name, owner: undefined, differs });
  }
  const owner = controllerOf(live);
  const resource = stringAt(metadata, "labels", "app.kubernetes.io/instance");
  // Two resources of one name cannot exist at a time: the other one is gone, and the garbage collector is on its way.
  const isPredecessors = owner !== undefined && stringAt(owner, "kind") === KIND &&
    stringAt(owner, "name") === resource;
  if (isPredecessors || isGoing(live)) return new DeletionPending({ path, kind, name: metadata.name });
  return new OwnershipConflict({
    path,
    kind,
    name: metadata.name,
    owner: owner === undefined ? undefined : `${stringAt(owner, "kind")} ${stringAt(owner, "name")}`,
  });
};

/**
 * Controlled by the resource, or created by the operator and without a controller: a kept claim, or an object restored
 * from a backup.
 */
export const isOurs = (live: JsonObject, uid: string | undefined): boolean => {
  const controller = controllerOf(live);
  return controller === undefined ? isOrphan(live) : stringAt(controller, "uid") === uid;
};

/** An object of the operator without an owner, which is adopted: backups often omit owner references. */
export const isOrphan = (live: JsonObject): boolean =>
  controllerOf(live) === undefined && !isGoing(live) &&
  (stringAt(live, "metadata", "labels", "app.kubernetes.io/managed-by") === MANAGED_BY || isAppliedByUs(live)) &&
  (stringAt(live, "kind") === "PersistentVolumeClaim" ||
    stringAt(live, "metadata", "annotations", MANIFEST_ANNOTATION) !== undefined);

/**
 * Labels and digest are not secret: anyone may prepare a Deployment under the name of a future resource. An apply would
 * keep fields in it that the operator does not set, such as a hostPath volume.
 */
export const isAdoptable = (live: JsonObject, snapshot: Whose): boolean =>
  stringAt(live, "kind") !== "Deployment" || !isOrphan(live) || isAllowedTemplate(podTemplateOf(live), snapshot);

/**
 * A config is immutable and named after its content: one with another content was made by somebody else, an apply of ours would be
 * rejected, and the server would start on it. Neither owner nor field managers count, which anyone can set.
 */
const hasOtherContent = (manifest: Manifest, live: JsonObject): boolean =>
  manifest.kind === "ConfigMap" && member(manifest, "immutable") === true &&
  ["data", "binaryData"].some((field) => !sameTexts(objectAt(manifest, field), objectAt(live, field)));

const sameTexts = (one: JsonObject, other: JsonObject): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, text]) => member(other, key) === text);

/** The label may have been rewritten by a policy. */
const isAppliedByUs = (live: JsonObject): boolean =>
  listAt(live, "metadata", "managedFields").some((entry) =>
    isOwnApply(entry) &&
    Object.hasOwn(objectAt(entry, "fieldsV1", "f:metadata", "f:labels"), "f:app.kubernetes.io/managed-by")
  );

/** A Deployment that another operator made for this resource, and whose template this one has not recorded yet. */
export const isNotAdopted = (live: LiveDeployment | undefined, resource: JsonObject): boolean =>
  live !== undefined && live.record.template === undefined && live.controller === stringAt(resource, "metadata", "uid");

/** Whether watches report the object: they select by these labels, which anyone may change. */
export const isWatched = (live: JsonObject, resource: string): boolean =>
  stringAt(live, "metadata", "labels", "app.kubernetes.io/managed-by") === MANAGED_BY &&
  stringAt(live, "metadata", "labels", "app.kubernetes.io/instance") === resource;

export const isGoing = (live: JsonObject): boolean =>
  member(objectAt(live, "metadata"), "deletionTimestamp") !== undefined;

const controllerOf = (live: JsonObject) =>
  listAt(live, "metadata", "ownerReferences").find((owner) => member(owner, "controller") === true);
