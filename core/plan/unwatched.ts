/** When objects that no watch reports are read again. */
import { UNWATCHED_LOOK_MS } from "../data/limits.ts";
import { isOurs, isWatched } from "./ownership.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Delay in milliseconds before the next read of objects that no watch reports; undefined if there are none. */
export const unwatchedMs = ({ live, resource }: ClusterSnapshot): number | undefined => {
  const { uid, name } = liveObject(resource);
  return [...live.values()].some((object) => isOurs(object, uid) && !isWatched(object, name))
    ? UNWATCHED_LOOK_MS
    : undefined;
};
