/**
 * Whether a live pod template requests no more than the operator itself would write. Anyone who may write ReplicaSets
 * or Deployments can prepare one; applied by the operator, it would pass every policy that trusts the operator.
 */
import type { Spec } from "../api/v1alpha2.ts";
import { notAllowedIn } from "../config/not_allowed.ts";
import { isObject, type Json, type JsonObject, listAt, member, objectAt, omit, stringAt } from "../data/json.ts";
import { serviceAccountName } from "../resources/service_account.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** For the resource of the snapshot, as its spec is now. */
export const isAllowedTemplate = (
  template: JsonObject,
  { resource, operator }: Pick<ClusterSnapshot, "resource" | "operator">,
): boolean => {
  const pod = objectAt(template, "spec");
  const containers = [...listAt(pod, "initContainers"), ...listAt(pod, "containers")];
  return hasOurAccount(pod, resource) &&
    HOST_NAMESPACES.every((field) => member(pod, field) !== true) &&
    containers.every(isUnprivileged) &&
    // As if the author of the resource had requested it.
    [pod, ...containers].every((holder) =>
      notAllowedIn(
        {
          workload: {
            overrides: {
              volumes: volumesOfOthers(pod),
              volumeMounts: containers.flatMap((container) => listAt(container, "volumeMounts")),
              podAnnotations: objectAt(template, "metadata", "annotations"),
              securityContext: objectAt(holder, "securityContext"),
            },
          },
        } as unknown as Spec,
        undefined,
        operator.surroundings.allow,
      ).length === 0
    );
};

const HOST_NAMESPACES = ["hostNetwork", "hostPID", "hostIPC"];

/** A former template may have had the operator's account, and the one of today another. */
const hasOurAccount = (pod: JsonObject, resource: JsonObject): boolean => {
  const accounts = [
    serviceAccountName(liveObject(resource).name),
    stringAt(resource, "spec", "workload", "overrides", "serviceAccountName"),
  ];
  // The API server keeps the older name of the field too.
  return ["serviceAccountName", "serviceAccount"].every((field) =>
    member(pod, field) === undefined || accounts.includes(stringAt(pod, field))
  );
};

/** Kinds of volumes that the operator writes itself, whatever authors may ask for. */
const OWN_VOLUMES = ["configMap", "emptyDir", "persistentVolumeClaim", "secret"];

const volumesOfOthers = (pod: JsonObject): ReadonlyArray<Json> =>
  listAt(pod, "volumes").map((volume) => isObject(volume) ? omit(volume, ...OWN_VOLUMES) : volume);

/** No setting allows the others to an author. */
const isUnprivileged = (container: Json): boolean => {
  const context = objectAt(container, "securityContext");
  return member(context, "privileged") !== true && member(context, "allowPrivilegeEscalation") !== true &&
    listAt(context, "capabilities", "add").length === 0 &&
    (stringAt(context, "procMount") ?? "Default") === "Default" &&
    listAt(container, "ports").every((port) => Number(member(port, "hostPort") ?? 0) === 0);
};
