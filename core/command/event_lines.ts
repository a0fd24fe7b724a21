/** Events of Kubernetes as lines for people, the newest first. */
import { EVENTS_SHOWN_MAX } from "../data/limits.ts";
import { type JsonObject, member, objectAt, stringAt } from "../data/json.ts";
import { FIELD_MANAGER } from "../snapshot/field_manager.ts";

export const eventLines = (
  events: ReadonlyArray<JsonObject>,
  nowMs: number,
  clean: (text: string) => string,
): ReadonlyArray<string> =>
  newestFirst(events).slice(0, EVENTS_SHOWN_MAX).map((event) => {
    const count = Number(member(objectAt(event, "series"), "count") ?? member(event, "count") ?? 1);
    return `${ago(nowMs - timeOf(event))} ${objectOf(event)}: ${clean(wordsOf(event))}${
      count > 1 ? ` (${count} times)` : ""
    }`;
  });

export const newestFirst = (events: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  events.toSorted((a, b) => timeOf(b) - timeOf(a));

/** Events of the old form and of the new one keep their times in different fields. */
const timeOf = (event: JsonObject): number => {
  const text = stringAt(event, "series", "lastObservedTime") ?? stringAt(event, "lastTimestamp") ??
    stringAt(event, "eventTime") ?? stringAt(event, "metadata", "creationTimestamp");
  return text === undefined ? 0 : Date.parse(text);
};

export const objectOf = (event: JsonObject): string =>
  stringAt(event, "reportingComponent") === FIELD_MANAGER
    ? "operator"
    : `${stringAt(event, "involvedObject", "kind")} ${stringAt(event, "involvedObject", "name")}`;

export const wordsOf = (event: JsonObject): string =>
  `${stringAt(event, "reason") ?? "Event"}: ${stringAt(event, "message") ?? stringAt(event, "note") ?? ""}`.trim();

const ago = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
};
