import { type Json, listAt, member, stringAt } from "../data/json.ts";

export type LiveCondition = Readonly<Record<"status" | "reason" | "message", string | undefined>>;

/** The condition of that type in the status of an object. */
export const conditionOf = (object: Json | undefined, type: string): LiveCondition | undefined => {
  const found = listAt(object, "status", "conditions").find((condition) => member(condition, "type") === type);
  return found === undefined ? undefined : {
    status: stringAt(found, "status"),
    reason: stringAt(found, "reason"),
    message: stringAt(found, "message"),
  };
};
