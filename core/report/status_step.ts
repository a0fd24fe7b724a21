/**
 * The status is only written if it changes. Where conversion shows the name of a resource alone, a write of
 * its status would be accepted, and store the little that is shown in place of the rest (seen on Kubernetes 1.36).
 */
import { UNCONVERTED_ANNOTATION } from "../api/convert/annotation.ts";
import type { Condition, Status } from "../api/v1alpha2.ts";
import { type Json, type JsonObject, listAt, objectAt, sortedKeys, stringAt } from "../data/json.ts";
import { type StatusUpdate, Step } from "../plan/step.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { liveObject } from "../snapshot/live_object.ts";

export const statusSteps = (snapshot: ClusterSnapshot, status: Status): ReadonlyArray<StatusUpdate> => {
  const before = objectAt(snapshot.resource, "status");
  return isUnconverted(snapshot.resource) || sameStatus(status, before)
    ? []
    : [Step.SetStatus({ status, why: whyStatus(status, before) })];
};

const isUnconverted = (resource: JsonObject): boolean =>
  liveObject(resource).annotations[UNCONVERTED_ANNOTATION] !== undefined;

const sameStatus = (status: Status, before: JsonObject): boolean =>
  JSON.stringify(sortedKeys(status as unknown as Json)) === JSON.stringify(sortedKeys(before));

/** For the log: the conditions that flipped. */
const whyStatus = (status: Status, before: JsonObject): string => {
  const word = (list: ReadonlyArray<Json>, type: string) =>
    stringAt(list.find((value) => stringAt(value, "type") === type), "status");
  const old = listAt(before, "conditions");
  const flipped = ((status.conditions ?? []) as ReadonlyArray<Condition>)
    .filter(({ type, status: now }) => word(old, type) !== now).map(({ type, status: now }) => `${type}=${now}`);
  return flipped.length === 0 ? "details changed" : flipped.join(", ");
};
