/** The conditions of a live object, whoever wrote them. */
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";

export interface LiveCondition {
  readonly type: string;
  readonly status: string | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Undefined if the condition does not say it. */
  readonly observedGeneration: Json | undefined;
}

/** Of what has the field `conditions`, such as a status. */
export const conditionsIn = (holder: Json | undefined): ReadonlyArray<LiveCondition> =>
  listAt(holder, "conditions").filter(isObject).map((condition) => ({
    type: stringAt(condition, "type") ?? "",
    status: stringAt(condition, "status"),
    reason: stringAt(condition, "reason"),
    message: stringAt(condition, "message"),
    observedGeneration: member(condition, "observedGeneration"),
  }));

/** The condition of that type in the status of an object. */
export const liveCondition = (object: JsonObject, type: string): LiveCondition | undefined =>
  conditionsIn(objectAt(object, "status")).find((condition) => condition.type === type);
