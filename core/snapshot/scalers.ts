/** HorizontalPodAutoscalers of anybody that set the number of pods of one server; KEDA makes one of each ScaledObject. */
import { GROUP, KIND } from "../api/v1alpha2.ts";
import { isObject, type Json, listAt, member, objectAt, stringAt } from "../data/json.ts";

/** Whose autoscalers are looked for. */
export interface Scaled {
  readonly namespace: string;
  readonly name: string;
  /** Whether those count that have the resource as their target, and set its `replicas`: with `scaling: External`, that is not read. */
  readonly readsReplicas: boolean;
}

/** Names, in order. `autoscalers` is a list as the API server returns it. */
export const scalersOf = (autoscalers: Json, { name, readsReplicas }: Scaled): ReadonlyArray<string> =>
  listAt(autoscalers, "items").filter(isObject).filter((item) => {
    const target = objectAt(item, "spec", "scaleTargetRef");
    const [group] = (stringAt(target, "apiVersion") ?? "apps/v1").split("/");
    const isTarget = target.kind === "Deployment" && group === "apps" ||
      readsReplicas && target.kind === KIND && group === GROUP;
    return isTarget && target.name === name && member(objectAt(item, "metadata"), "deletionTimestamp") === undefined;
  }).map((item) => stringAt(item, "metadata", "name") ?? "").sort();
