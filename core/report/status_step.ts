/**
 * The status is only written if it changes. Where conversion shows the name of a resource alone, a write of
 * its status would be accepted, and store the little that is shown in place of the rest (seen on Kubernetes 1.36).
 */
import { UNCONVERTED_ANNOTATION } from "../api/convert/annotation.ts";
import { statusOf } from "../api/status_of.ts";
import type { Status } from "../api/v1alpha2.ts";
import { isSameValue, type Json, type JsonObject } from "../data/json.ts";
import { type Announcement, type StatusUpdate, Step } from "../plan/step.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { liveResource } from "../snapshot/live_resource.ts";

/**
 * `news`: Events about what the status says. It remembers that they were reported, so they follow it, and only if the API server
 * accepts it. If the process ends in between, an Event is lost; in the other order, each retry would report it again.
 */
export const statusSteps = (
  snapshot: ClusterSnapshot,
  status: Status,
  news: ReadonlyArray<Announcement> = [],
): ReadonlyArray<StatusUpdate | Announcement> => {
  const { resource } = snapshot;
  return isUnconverted(resource) || isSameValue(status as unknown as Json, liveResource(resource).status)
    ? []
    : [Step.SetStatus({ status, why: whyStatus(status, statusOf(resource)) }), ...news];
};

const isUnconverted = (resource: JsonObject): boolean =>
  liveObject(resource).annotations[UNCONVERTED_ANNOTATION] !== undefined;

/** For the log: the conditions that flipped. */
const whyStatus = ({ conditions = [] }: Status, { conditions: before = [] }: Status): string => {
  const flipped = conditions.filter(({ type, status }) => before.find((old) => old.type === type)?.status !== status)
    .map(({ type, status }) => `${type}=${status}`);
  return flipped.length === 0 ? "details changed" : flipped.join(", ");
};
