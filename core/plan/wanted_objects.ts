/** The objects of a rollout as they are to be written now. Writes and the conditions about others' changes follow this list. */
import type { JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { stamped } from "../resources/objects.ts";
import { keptClaim } from "./kept_claim.ts";
import { remadeConfig } from "./mounted_configs.ts";
import { conflictOf } from "./ownership.ts";
import type { Prepared } from "./prepare.ts";
import { adopted, recorded, rolledBackDeployment, type Rollout } from "./rollout/rollout.ts";
import { type ClusterSnapshot, liveOf } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn, type LiveDeployment, liveDeployment } from "../snapshot/live_deployment.ts";

export interface Wanted {
  /** Written before the Deployment, which needs it; the Deployment; or written after it. */
  readonly part: "before" | "deployment" | "after";
  /** With its digest; of a claim, what can be applied to the one that exists. */
  readonly manifest: Manifest;
  readonly live: JsonObject | undefined;
  /** Not now: a ConfigMap of a template that is not applied. */
  readonly isLater: boolean;
}

/** The new template stays out of the cluster for now. */
export const isWaiting = ({ kind }: Rollout): boolean => kind === "hold" || kind === "queue" || kind === "rolledBack";

/**
 * In the order in which they are written, without objects after the Deployment whose names are taken. A template that is not
 * applied keeps its ConfigMaps, on which nothing would run. But whatever the pods mount after this reconciliation is made again
 * if somebody deleted it: no other pod would start.
 */
export const wantedObjects = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
  rollout: Rollout,
): ReadonlyArray<Wanted> => {
  const { before, after } = prepared.objects;
  const live = deploymentIn(snapshot);
  const written = isWaiting(rollout) ? undefined : deploymentFor(snapshot, prepared, rollout, live);
  const next = written === undefined ? live : liveDeployment(written);
  const former = remadeConfig(snapshot, next, before);
  const listed = (part: Wanted["part"], manifests: ReadonlyArray<Manifest | undefined>) =>
    manifests.filter((manifest) => manifest !== undefined).map((manifest): Wanted => {
      const { kind, metadata: { name } } = manifest;
      const found = liveOf(snapshot, manifest);
      const isLater = kind === "ConfigMap" && rollout.kind !== "apply" &&
        (found !== undefined || next?.configMaps.includes(name) !== true);
      return { part, manifest: stamped(keptClaim(manifest, found)), live: found, isLater };
    });
  return [
    ...listed("before", [...before, former]),
    ...listed("deployment", [written]),
    ...listed("after", after).filter(({ manifest, live }) => conflictOf(manifest, live, snapshot) === undefined),
  ];
};

const deploymentFor = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
  rollout: Rollout,
  live: LiveDeployment | undefined,
): Manifest => {
  if (rollout.kind === "rollBack") return rolledBackDeployment(prepared, snapshot, live, rollout);
  if (rollout.kind === "adopt" && live !== undefined) return adopted(prepared, snapshot, live);
  return recorded(prepared, snapshot, live, rollout.kind === "apply" ? rollout.cause : "edit");
};
