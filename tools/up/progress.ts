/** The changes between two reads of a resource, as lines of text. A pure function. */
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";

/** One read: the resource and its pods. */
export interface Look {
  readonly resource: JsonObject | undefined;
  readonly pods: ReadonlyArray<JsonObject>;
}

export const NOTHING_SEEN: Look = { resource: undefined, pods: [] };

/** Conditions that flipped or have another reason, then pods that came, changed or went. */
export const progressLines = (before: Look, now: Look): ReadonlyArray<string> => {
  const old = conditionsOf(before);
  const flipped = [...conditionsOf(now)]
    // All conditions begin as Unknown; it is not a change if there was no condition before.
    .filter(([type, { key, status }]) => old.get(type)?.key !== key && (old.has(type) || status !== "Unknown"))
    .map(([type, { status, reason, message }]) => `${type.padEnd(WIDTH)} ${status.padEnd(7)} ${reason}: ${message}`);
  const [podsBefore, podsNow] = [podStates(before), podStates(now)];
  return [
    ...flipped,
    ...[...podsNow].filter(([name, state]) => podsBefore.get(name) !== state)
      .map(([name, state]) => `pod ${name}: ${state}`),
    ...[...podsBefore.keys()].filter((name) => !podsNow.has(name)).map((name) => `pod ${name}: gone`),
  ];
};

/** The operator has seen this version of the resource and calls it ready. */
export const isReady = ({ resource }: Look): boolean =>
  member(objectAt(resource, "status"), "observedGeneration") ===
    member(objectAt(resource, "metadata"), "generation") &&
  listAt(resource, "status", "conditions").some((condition) =>
    stringAt(condition, "type") === "Ready" && stringAt(condition, "status") === "True"
  );

/** Longest name of a usual condition, in characters. */
const WIDTH = 17;

const conditionsOf = ({ resource }: Look) =>
  new Map(
    listAt(resource, "status", "conditions").map((condition) => {
      const [type, status, reason, message] = ["type", "status", "reason", "message"].map((key) =>
        stringAt(condition, key) ?? ""
      ) as [string, string, string, string];
      return [type, { status, reason, message, key: `${status} ${reason}` }];
    }),
  );

const podStates = ({ pods }: Look): ReadonlyMap<string, string> =>
  new Map(pods.map((pod) => [stringAt(pod, "metadata", "name") ?? "?", podState(pod)]));

const podState = (pod: JsonObject): string => {
  if (member(objectAt(pod, "metadata"), "deletionTimestamp") !== undefined) return "going";
  const ready = listAt(pod, "status", "conditions").some((condition: Json) =>
    stringAt(condition, "type") === "Ready" && stringAt(condition, "status") === "True"
  );
  const waiting = listAt(pod, "status", "containerStatuses").map((containerStatuse) =>
    stringAt(containerStatuse, "state", "waiting", "reason")
  )
    .find((item) => item !== undefined);
  return `${stringAt(pod, "status", "phase") ?? "Pending"}${ready ? ", ready" : ""}${
    waiting === undefined ? "" : `, ${waiting}`
  }`;
};
