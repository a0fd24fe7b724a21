/** Turns of an upgrade: which resources are away from their new state because the operator rolled them (R34). */
import { type JsonObject, member, objectAt, stringAt } from "../json.ts";
import { CAUSE_ANNOTATION, PINS_ANNOTATION, ROLLED_BACK_ANNOTATION } from "./record.ts";
import { rolloutState } from "./rollout_state.ts";

export interface Away {
  /** `namespace/name` of the resource. */
  readonly key: string;
  /** Resources of one distribution wait in one queue. */
  readonly queue: string;
  /** Digest of the image and base that it rolls to. */
  readonly pins: string;
  /** A failed one stops its queue and takes no place in the others. */
  readonly state: "rolling" | "failed";
}

export const queueOf = (resource: JsonObject): string =>
  stringAt(resource, "spec", "distribution", "name") ?? stringAt(resource, "spec", "distribution", "image") ?? "";

/** Undefined for a resource that no upgrade has away: complete, rolled by its owner, suspended, or without pods. */
export const awayOf = (
  resource: JsonObject,
  deployment: JsonObject,
  pods: ReadonlyArray<JsonObject>,
  replicaSets: ReadonlyArray<JsonObject>,
): Away | undefined => {
  const recorded = (name: string) => stringAt(deployment, "metadata", "annotations", name);
  if (recorded(CAUSE_ANNOTATION) !== "upgrade") return undefined;
  if (member(objectAt(resource, "spec"), "suspend") === true) return undefined;
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return undefined;
  const failed = recorded(ROLLED_BACK_ANNOTATION) !== undefined;
  const state = rolloutState(deployment, pods, replicaSets);
  if (!failed && state === "complete") return undefined;
  return {
    key: `${stringAt(resource, "metadata", "namespace") ?? ""}/${stringAt(resource, "metadata", "name") ?? ""}`,
    queue: queueOf(resource),
    pins: recorded(PINS_ANNOTATION) ?? "",
    state: failed || state === "failed" ? "failed" : "rolling",
  };
};

/** The first that failed with these pins stops them in its queue; one that failed with others tells nothing about these. */
export const stopperOf = (away: ReadonlyArray<Away>, queue: string, pins: string): Away | undefined =>
  away.find((one) => one.state === "failed" && one.queue === queue && one.pins === pins);

/**
 * At whom each queue stopped, by queue: who stops each pins, as one text. Those that wait in it say so, and say something else
 * as soon as this changes.
 */
export const stopsOf = (away: ReadonlyArray<Away>): ReadonlyMap<string, string> => {
  const stops = new Map<string, string>();
  for (const one of away) {
    const { queue, pins, key } = one;
    if (stopperOf(away, queue, pins) !== one) continue;
    const before = stops.get(queue);
    stops.set(queue, `${before === undefined ? "" : `${before} `}${pins} ${key}`);
  }
  return stops;
};
