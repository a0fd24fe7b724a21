/** What the server of a resource runs already, from its Deployment, or from its status where there is none. */
import { type RunningImage, serverOfImage } from "../config/servers/distribution.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { LAST_GOOD_ANNOTATION, SERVER_ANNOTATION } from "../plan/rollout/record.ts";
import { imageOf, templateSpec } from "../resources/pod_spec.ts";

/**
 * Undefined if no pod of the resource was ever available. A Deployment of another operator is taken to have served: nothing
 * records otherwise, as after a restore from a backup.
 */
export const runningImage = (resource: JsonObject, live: JsonObject | undefined): RunningImage | undefined => {
  const reported = stringAt(resource, "status", "version", "llamaStackServerVersion");
  if (live === undefined) {
    const image = stringAt(resource, "status", "resolvedDistribution", "image");
    return reported === undefined
      ? undefined
      : { image, serverVersion: serverOfImage(image ?? "")?.version ?? reported };
  }
  const recorded = stringAt(live, "metadata", "annotations", SERVER_ANNOTATION);
  if (recorded !== undefined && !hasServed(live)) return undefined;
  const image = imageOf(templateSpec(live));
  return { image, serverVersion: recorded ?? serverOfImage(image ?? "")?.version ?? reported };
};

/** A completed rollout is recorded, even if the pods are not running now. */
export const hasServed = (live: JsonObject): boolean =>
  Number(member(objectAt(live, "status"), "availableReplicas") ?? 0) > 0 ||
  stringAt(live, "metadata", "annotations", LAST_GOOD_ANNOTATION) !== undefined ||
  listAt(live, "status", "conditions").some((condition) => stringAt(condition, "reason") === "NewReplicaSetAvailable");
