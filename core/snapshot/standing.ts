/** How a resource stands, as far as metrics count it. */
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";

export interface Standing {
  /** The phase of the status. A suspended resource that has not been deployed waits for nobody: `Suspended`. */
  readonly phase: string;
  /** The reason of `Stalled`: somebody has to act. Empty if it is not stalled. */
  readonly stalledBy: string;
  /** The status describes the last edit. */
  readonly isObserved: boolean;
  /** The reason of `Ready` while it is not true; empty if the resource is ready, stalled, or suspended on purpose. */
  readonly unreadyBy: string;
  /** Since when that is so, in milliseconds since 1970; 0 if it is not. */
  readonly unreadySinceMs: number;
  /** Those of `ABNORMAL` that are true: the server works, but is not what the resource asks for. */
  readonly abnormal: ReadonlyArray<string>;
}

/** Number of resources by their standing, as `standingOf` writes it. */
export type Standings = ReadonlyMap<string, number>;

export const ABNORMAL: ReadonlyArray<string> = ["ObjectRefused", "Contested"];

export const standingOf = (resource: JsonObject): string => {
  const status = objectAt(resource, "status");
  const conditions = listAt(status, "conditions");
  const trueCondition = (type: string) =>
    conditions.find((value) => stringAt(value, "type") === type && stringAt(value, "status") === "True");
  const phase = label(stringAt(status, "phase") ?? "Pending");
  const isSuspended = phase === "Pending" && member(objectAt(resource, "spec"), "suspend") === true;
  const stalled = trueCondition("Stalled");
  const generation = Number(member(objectAt(resource, "metadata"), "generation") ?? 0);
  return [
    isSuspended ? "Suspended" : phase,
    stalled === undefined ? "" : label(stringAt(stalled, "reason")),
    Number(member(status, "observedGeneration") ?? -1) >= generation,
    ...(stalled === undefined ? unready(resource, phase) : ["", 0]),
    ABNORMAL.filter((type) => trueCondition(type) !== undefined).join(),
  ].join(" ");
};

/** Reason and beginning of not being ready; a resource without a status begins with its creation. */
const unready = (resource: JsonObject, phase: string): readonly [reason: string, sinceMs: number] => {
  const ready = listAt(resource, "status", "conditions").find((value) => stringAt(value, "type") === "Ready");
  const deleted = stringAt(resource, "metadata", "deletionTimestamp");
  if (deleted !== undefined) return ["Terminating", msOf(deleted)];
  if (ready === undefined) return ["Unobserved", msOf(stringAt(resource, "metadata", "creationTimestamp"))];
  const reason = stringAt(ready, "reason");
  // Somebody wants it suspended, but not with pods that fail.
  const isWanted = reason === "Suspended" && phase !== "Initializing";
  return stringAt(ready, "status") === "True" || isWanted
    ? ["", 0]
    : [label(reason), msOf(stringAt(ready, "lastTransitionTime"))];
};

const msOf = (time: string | undefined): number => Date.parse(time ?? "") || 0;

/** Whoever may write a status could otherwise make up labels without end. */
const label = (reason = ""): string => /^[A-Za-z]{1,64}$/.test(reason) ? reason : "Other";

export const readStanding = (text: string): Standing => {
  const [phase = "", stalledBy = "", isObserved = "", unreadyBy = "", sinceMs = "", abnormal = ""] = text.split(" ");
  return {
    phase,
    stalledBy,
    isObserved: isObserved === "true",
    unreadyBy,
    unreadySinceMs: Number(sinceMs),
    abnormal: abnormal === "" ? [] : abnormal.split(","),
  };
};

/** Number of resources for each value of `of`; empty values are not counted. */
export const countedBy = (standings: Standings, of: (standing: Standing) => string): Standings => {
  const counts = new Map<string, number>();
  for (const [text, count] of standings) {
    const value = of(readStanding(text));
    if (value !== "") counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return counts;
};

/** For each reason of not being ready, since when the longest one is. */
export const unreadySince = (standings: Standings): ReadonlyMap<string, number> => {
  const since = new Map<string, number>();
  for (const text of standings.keys()) {
    const { unreadyBy, unreadySinceMs } = readStanding(text);
    // Without a time it cannot be told.
    if (unreadyBy === "" || unreadySinceMs === 0) continue;
    since.set(unreadyBy, Math.min(since.get(unreadyBy) ?? Infinity, unreadySinceMs));
  }
  return since;
};
