import { objectAt } from "../data/json.ts";
import { UNWATCHED_LOOK_MS } from "../data/limits.ts";
import { isOurs, isWatched } from "./ownership.ts";
import type { World } from "../world/world.ts";

/** Pause in milliseconds before the next look at objects of ours that no watch follows; undefined: there are none. */
export const unwatchedMs = ({ live, resource }: World): number | undefined => {
  const { uid, name } = objectAt(resource, "metadata");
  return [...live.values()].some((one) => isOurs(one, String(uid)) && !isWatched(one, String(name)))
    ? UNWATCHED_LOOK_MS
    : undefined;
};
