/** Fields that a policy of the cluster rewrote in our own requests. */
import { stamped } from "../resources/objects.ts";
import { conflictOf } from "./ownership.ts";
import { changedFields } from "./field_owners.ts";
import { keptClaim } from "./kept_claim.ts";
import type { Prepared } from "./prepare.ts";
import type { Rollout } from "./rollout/rollout.ts";
import { deploymentFor, isWaiting, liveOf } from "./wanted_objects.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

/** As `Kind name: path`. */
export const byPolicy = (snapshot: ClusterSnapshot, prepared: Prepared, rollout: Rollout): ReadonlyArray<string> => {
  const { objects } = prepared;
  const live = liveOf(snapshot, objects.deployment);
  const ours = [...objects.after, ...objects.optional].filter((manifest) =>
    conflictOf(manifest, liveOf(snapshot, manifest), snapshot) === undefined
  );
  const deployments = isWaiting(rollout) ? [] : [deploymentFor(snapshot, prepared, rollout, live)];
  return [...objects.before.map((manifest) => keptClaim(manifest, liveOf(snapshot, manifest))), ...deployments, ...ours]
    .flatMap((
      manifest,
    ) =>
      changedFields(stamped(manifest), liveOf(snapshot, manifest)).byPolicy.map((field) =>
        `${manifest.kind} ${manifest.metadata.name}: ${field}`
      )
    );
};
