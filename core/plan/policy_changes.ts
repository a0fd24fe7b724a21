/** Fields that a policy of the cluster rewrote in our own requests. */
import { stamped } from "../resources/objects.ts";
import { conflictOf } from "./ownership.ts";
import { changedFields } from "./field_owners.ts";
import type { Prepared } from "./prepare.ts";
import type { Rollout } from "./rollout/rollout.ts";
import { deploymentFor, isWaiting, liveOf, notShrunk } from "./wanted_objects.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

/** As `Kind name: path`. */
export const byPolicy = (snapshot: ClusterSnapshot, prepared: Prepared, rollout: Rollout): ReadonlyArray<string> => {
  const { objects, blueprint } = prepared;
  const live = liveOf(snapshot, objects.deployment);
  const ours = [...objects.after, ...objects.optional].filter((one) =>
    conflictOf(one, liveOf(snapshot, one), blueprint.uid) === undefined
  );
  const deployments = isWaiting(rollout) ? [] : [deploymentFor(snapshot, prepared, rollout, live)];
  return [...objects.before.map((one) => notShrunk(one, liveOf(snapshot, one))), ...deployments, ...ours].flatMap((
    one,
  ) =>
    changedFields(stamped(one), liveOf(snapshot, one)).byPolicy.map((field) =>
      `${one.kind} ${one.metadata.name}: ${field}`
    )
  );
};
