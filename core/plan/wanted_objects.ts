/** Which objects a rollout wants, as they are to be written now. */
import type { JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import type { Prepared } from "./prepare.ts";
import { adopted, recorded, type Rollout, undone } from "./rollout/rollout.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";

export const liveOf = (snapshot: ClusterSnapshot, { kind, metadata }: Manifest): JsonObject | undefined =>
  snapshot.live.get(liveKey(kind, metadata.name));

/** The new template stays out of the cluster for now. */
export const isWaiting = ({ kind }: Rollout): boolean => kind === "hold" || kind === "queue" || kind === "undone";

export const deploymentFor = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
  rollout: Rollout,
  live: JsonObject | undefined,
): Manifest => {
  if (rollout.kind === "undo") return undone(prepared, snapshot, live, rollout);
  if (rollout.kind === "adopt" && live !== undefined) return adopted(prepared, snapshot, live);
  return recorded(prepared, snapshot, live, rollout.kind === "apply" ? rollout.cause : "edit");
};
