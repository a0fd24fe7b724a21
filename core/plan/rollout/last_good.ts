/** The template of a Deployment whose pods were all available before the present one. */
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import { resourceKey } from "../../snapshot/live_object.ts";
import type { LiveReplicaSet } from "../../snapshot/live_replica_set.ts";
import { isAllowedTemplate } from "../allowed_template.ts";
import { isProven, templateProof } from "./keyed_digests.ts";

/**
 * The ReplicaSet with the last good template, if it requests nothing that the operator would not write. Others may write
 * ReplicaSets too, with any record and any owner, so it counts with the proof only.
 */
export const lastGoodReplicaSet = (
  { uid, record: { lastGood, lastGoodProof } }: LiveDeployment,
  snapshot: Pick<ClusterSnapshot, "operator" | "resource" | "replicaSets">,
): LiveReplicaSet | undefined => {
  const { operator: { hmacKey }, resource, replicaSets } = snapshot;
  if (lastGood === undefined || uid === undefined) return undefined;
  const good = replicaSets.find(({ record, controller, template }) =>
    record.template === lastGood && controller === uid &&
    isProven(hmacKey, lastGoodProof, () => templateProof(hmacKey, resourceKey(resource), lastGood, template))
  );
  return good !== undefined && isAllowedTemplate(good.template, snapshot) ? good : undefined;
};
