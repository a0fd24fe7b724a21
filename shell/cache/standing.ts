/** How a resource stands, as far as metrics count it. */
import { isObject, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";

export interface Standing {
  /** The phase of the status. A suspended resource that has not been deployed waits for nobody: `Suspended`. */
  readonly phase: string;
  /** The reason of `Stalled`: somebody has to act. Empty if it is not stalled. */
  readonly stalledBy: string;
  /** The status describes the last edit. */
  readonly isObserved: boolean;
}

/** Number of resources by their standing, as `standingOf` writes it. */
export type Standings = ReadonlyMap<string, number>;

export const standingOf = (resource: JsonObject): string => {
  const status = objectAt(resource, "status");
  const phase = stringAt(status, "phase") ?? "Pending";
  const isSuspended = phase === "Pending" && member(objectAt(resource, "spec"), "suspend") === true;
  const stalled = listAt(status, "conditions").find((condition) =>
    stringAt(condition, "type") === "Stalled" && stringAt(condition, "status") === "True"
  );
  const reason = isObject(stalled) ? stringAt(stalled, "reason") ?? "" : "";
  const generation = Number(member(objectAt(resource, "metadata"), "generation") ?? 0);
  const isObserved = Number(member(status, "observedGeneration") ?? -1) >= generation;
  return [isSuspended ? "Suspended" : phase, isWord(reason) ? reason : "Other", isObserved].join(" ");
};

/** Whoever may write a status could otherwise make up labels without end. */
const isWord = (reason: string): boolean => /^[A-Za-z]{0,64}$/.test(reason);

export const readStanding = (text: string): Standing => {
  const [phase = "", stalledBy = "", isObserved = ""] = text.split(" ");
  return { phase, stalledBy, isObserved: isObserved === "true" };
};

/** Number of resources for each value of `of`; resources without a value are not counted. */
export const countedBy = (standings: Standings, of: (standing: Standing) => string | undefined): Standings => {
  const counts = new Map<string, number>();
  for (const [text, count] of standings) {
    const value = of(readStanding(text));
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return counts;
};
