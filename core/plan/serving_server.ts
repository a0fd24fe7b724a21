/** The server of a resource that serves: until all pods of a new template were available, that of the last good one. */
import type { RunningServer } from "../config/servers/distribution.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { runningServer } from "../snapshot/running_server.ts";
import { lastGoodReplicaSet } from "./rollout/last_good.ts";
import { rolloutState } from "./rollout/rollout_state.ts";

/** An edit that is taken back before its pods were available leaves nothing behind. Undefined if nothing ever served. */
export const servingServer = (
  snapshot: Pick<ClusterSnapshot, "operator" | "resource" | "live" | "pods" | "replicaSets">,
): RunningServer | undefined => {
  const deployment = deploymentIn(snapshot);
  const isUnderWay = deployment !== undefined && ["progressing", "failed"].includes(rolloutState(deployment, snapshot));
  const former = isUnderWay ? lastGoodReplicaSet(deployment, snapshot) : undefined;
  return runningServer(snapshot.resource, deployment, former);
};
