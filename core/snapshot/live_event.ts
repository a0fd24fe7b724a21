/** An Event as the API server has it. */
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";

export interface LiveEvent {
  /** `Normal` or `Warning`. */
  readonly type: string | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  /** What it is about. */
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly reporter: string | undefined;
  /** How often it happened, and when it last did, in milliseconds since 1970. */
  readonly count: number;
  readonly lastMs: number;
}

/** Of a list. */
export const eventsIn = (list: Json): ReadonlyArray<LiveEvent> => listAt(list, "items").filter(isObject).map(liveEvent);

/** Events of the old form and of the new one have some of this in different fields. */
export const liveEvent = (event: JsonObject): LiveEvent => {
  const time = stringAt(event, "series", "lastObservedTime") ?? stringAt(event, "lastTimestamp") ??
    stringAt(event, "eventTime") ?? stringAt(event, "metadata", "creationTimestamp");
  return {
    type: stringAt(event, "type"),
    reason: stringAt(event, "reason"),
    message: stringAt(event, "message") ?? stringAt(event, "note") ?? "",
    kind: stringAt(event, "involvedObject", "kind"),
    name: stringAt(event, "involvedObject", "name"),
    reporter: stringAt(event, "reportingComponent"),
    count: Number(member(objectAt(event, "series"), "count") ?? member(event, "count") ?? 1),
    lastMs: time === undefined ? 0 : Date.parse(time),
  };
};
