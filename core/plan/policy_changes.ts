/** Fields that a policy of the cluster rewrote in our own requests. */
import { stamped } from "../resources/objects.ts";
import { conflictOf } from "./ownership.ts";
import { changedFields } from "./field_owners.ts";
import type { Prepared } from "./prepare.ts";
import type { Rollout } from "./rollout/rollout.ts";
import { deploymentFor, isWaiting, liveOf, notShrunk } from "./wanted_objects.ts";
import type { World } from "../world/world.ts";

/** As `Kind name: path`. */
export const byPolicy = (world: World, prepared: Prepared, rollout: Rollout): ReadonlyArray<string> => {
  const { objects, blueprint } = prepared;
  const live = liveOf(world, objects.deployment);
  const ours = [...objects.after, ...objects.optional].filter((one) =>
    conflictOf(one, liveOf(world, one), blueprint.uid) === undefined
  );
  const deployments = isWaiting(rollout) ? [] : [deploymentFor(world, prepared, rollout, live)];
  return [...objects.before.map((one) => notShrunk(one, liveOf(world, one))), ...deployments, ...ours].flatMap((one) =>
    changedFields(stamped(one), liveOf(world, one)).byPolicy.map((field) =>
      `${one.kind} ${one.metadata.name}: ${field}`
    )
  );
};
