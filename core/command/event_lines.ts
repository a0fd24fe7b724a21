/** Events of Kubernetes as lines for people, the newest first. */
import { EVENTS_SHOWN_MAX } from "../data/limits.ts";
import { FIELD_MANAGER } from "../snapshot/field_manager.ts";
import type { LiveEvent } from "../snapshot/live_event.ts";

export const eventLines = (
  events: ReadonlyArray<LiveEvent>,
  nowMs: number,
  clean: (text: string) => string,
): ReadonlyArray<string> =>
  newestFirst(events).slice(0, EVENTS_SHOWN_MAX).map((event) =>
    `${ago(nowMs - event.lastMs)} ${objectOf(event)}: ${clean(wordsOf(event))}${
      event.count > 1 ? ` (${event.count} times)` : ""
    }`
  );

export const newestFirst = (events: ReadonlyArray<LiveEvent>): ReadonlyArray<LiveEvent> =>
  events.toSorted((a, b) => b.lastMs - a.lastMs);

export const objectOf = ({ reporter, kind, name }: LiveEvent): string =>
  reporter === FIELD_MANAGER ? "operator" : `${kind} ${name}`;

export const wordsOf = ({ reason, message }: LiveEvent): string => `${reason ?? "Event"}: ${message}`.trim();

const ago = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
};
