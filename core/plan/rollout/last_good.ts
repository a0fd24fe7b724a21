/** The template of a Deployment whose pods were all available before the present one. */
import * as Redacted from "effect/Redacted";
import type { JsonObject } from "../../data/json.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import { resourceKey } from "../../snapshot/live_object.ts";
import type { LiveReplicaSet } from "../../snapshot/live_replica_set.ts";
import { isAllowedTemplate } from "../allowed_template.ts";
import { templateProof } from "./keyed_digests.ts";

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
  // Without a key (a read-only command) records are trusted.
  const isProven = (template: JsonObject) =>
    Redacted.value(hmacKey) === "" ||
    lastGoodProof === templateProof(hmacKey, resourceKey(resource), lastGood, template);
  const good = replicaSets.find(({ record, controller, template }) =>
    record.template === lastGood && controller === uid && isProven(template)
  );
  return good !== undefined && isAllowedTemplate(good.template, snapshot) ? good : undefined;
};
