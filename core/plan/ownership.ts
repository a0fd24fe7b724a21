/** Whose object is it? One that is not ours is never touched. */
import { OwnershipConflict } from "../failure.ts";
import { type JsonObject, listAt, member, stringAt } from "../json.ts";
import { MANAGED_BY } from "../names.ts";
import type { Manifest } from "../resources/blueprint.ts";

/** Undefined when the live object is absent or ours. */
export const conflictOf = (
  { kind, metadata }: Manifest,
  live: JsonObject | undefined,
  uid: string | undefined,
): OwnershipConflict | undefined => {
  if (live === undefined || isOurs(live, uid)) return undefined;
  const owner = listAt(live, "metadata", "ownerReferences").find((one) => member(one, "controller") === true);
  return new OwnershipConflict({
    path: ["metadata", "name"],
    kind,
    name: metadata.name,
    owner: owner === undefined ? undefined : `${stringAt(owner, "kind")} ${stringAt(owner, "name")}`,
  });
};

/** Controlled by the resource, or a kept claim with our label that nobody controls (R47). */
export const isOurs = (live: JsonObject, uid: string | undefined): boolean => {
  const controller = listAt(live, "metadata", "ownerReferences").find((one) => member(one, "controller") === true);
  if (controller !== undefined) return stringAt(controller, "uid") === uid;
  return stringAt(live, "kind") === "PersistentVolumeClaim" &&
    stringAt(live, "metadata", "labels", "app.kubernetes.io/managed-by") === MANAGED_BY;
};
