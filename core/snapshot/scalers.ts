/** HorizontalPodAutoscalers of anybody that set the number of pods of one server; KEDA makes one of each ScaledObject. */
import { GROUP, KIND } from "../api/v1alpha2.ts";
import { isObject, type Json, listAt, member, objectAt, stringAt } from "../data/json.ts";

/** Names, in order. `autoscalers` is a list as the API server returns it. */
export const scalersOf = (autoscalers: Json, server: string): ReadonlyArray<string> =>
  listAt(autoscalers, "items").filter(isObject).filter((item) => {
    const target = objectAt(item, "spec", "scaleTargetRef");
    const [group] = (stringAt(target, "apiVersion") ?? "apps/v1").split("/");
    const isTarget = target.kind === "Deployment" && group === "apps" || target.kind === KIND && group === GROUP;
    return isTarget && target.name === server && member(objectAt(item, "metadata"), "deletionTimestamp") === undefined;
  }).map((item) => stringAt(item, "metadata", "name") ?? "").sort();
