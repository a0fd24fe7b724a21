import { type JsonObject, listAt, member, stringAt } from "../data/json.ts";

/** The condition of that type in the status of an object. */
export const liveCondition = (object: JsonObject, type: string) => {
  const found = listAt(object, "status", "conditions").find((condition) => member(condition, "type") === type);
  return found === undefined ? undefined : {
    status: stringAt(found, "status"),
    reason: stringAt(found, "reason"),
    message: stringAt(found, "message"),
  };
};
