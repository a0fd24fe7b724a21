/**
 * Observed state → decision, once nothing is left to ask (plan.ts). The input is one cluster snapshot, the output is the
 * writes with their reasons; nothing is read, written or reported here.
 *
 * Read next: prepare.ts (the objects of the resource), preserve.ts (what happens if that fails), rollout/rollout.ts (which
 * template is applied now), wanted_objects.ts (what follows for the objects), writes.ts, prune.ts (deletions), ownership.ts
 * (objects of others).
 */
import * as Result from "effect/Result";
import { type DeletionPending, OlderServer, type OwnershipConflict } from "../failure/failures.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { serverName } from "../config/servers/families/families.ts";
import { allOf } from "../resources/objects.ts";
import { withoutPaused } from "./contest.ts";
import type { Decision, PreservationDecision, RolloutDecision } from "./decision.ts";
import { isTemplateForeign } from "./field_owners.ts";
import { leftDuplicates } from "./duplicates.ts";
import { foreignFields } from "./foreign_fields.ts";
import { conflictOf } from "./ownership.ts";
import { slotOf } from "./rollout/upgrade_slots.ts";
import { withKeptNetwork } from "./kept_network.ts";
import { prepare, type Prepared, type Unprepared } from "./prepare.ts";
import { byCause, preserve } from "./preserve.ts";
import { pruned } from "./prune.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { type NewerServer, newerServer } from "./rollout/newer_server.ts";
import { type Rollout, rolloutOf, templateDigest } from "./rollout/rollout.ts";
import { handOver, scaling } from "./scale.ts";
import { storedDataFindings } from "./stored_data/stored_data.ts";
import { takeOvers } from "./takeover.ts";
import { isRolledOut, whileRollingOut } from "./until_rolled_out.ts";
import { isWaiting, type Wanted, wantedObjects } from "./wanted_objects.ts";
import { type ClusterSnapshot, liveKey, liveOf } from "../snapshot/cluster_snapshot.ts";
import { isAnswered, writes } from "./writes.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** `before` is the result of `prepare` for the same snapshot, if already computed. */
export const decide = (snapshot: ClusterSnapshot, before?: Result.Result<Prepared, Unprepared>): Decision => {
  const { resource } = snapshot;
  // Owner references complete a deletion; a claim to keep has none.
  if (liveObject(resource).isGoing) return { kind: "nothing", steps: [] };
  if (liveResource(resource).isSuspended) return { kind: "suspended", steps: [] };
  const prepared = before ?? prepare(snapshot);
  const decision = Result.isFailure(prepared)
    ? preserve(snapshot, byCause(snapshot, prepared.failure.failures, prepared.failure.inputs), {
      warnings: prepared.failure.warnings,
      prepared: undefined,
      spec: prepared.failure.resource?.spec,
    })
    : planRollout(snapshot, withKeptNetwork(whileRollingOut(prepared.success, snapshot), snapshot));
  return withoutContested(decision, snapshot);
};

const planRollout = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
): PreservationDecision | RolloutDecision => {
  const { objects, warnings, resource: { spec } } = prepared;
  const live = deploymentIn(snapshot);
  const data = storedDataFindings(prepared, live, snapshot);
  const fatal = conflictsOf(snapshot, [...objects.before, objects.deployment]);
  const failures = fatal.length > 0 ? fatal : byCause(snapshot, data.failures, prepared.inputs);
  if (failures.length > 0) return preserve(snapshot, failures, { warnings, prepared, spec });
  const rollout = rolloutOf(prepared, live, snapshot);
  const newer = rollout.kind === "apply" && rollout.cause === "edit"
    ? newerServer(prepared, live, snapshot)
    : undefined;
  if (newer !== undefined) return preserve(snapshot, [olderServer(newer)], { warnings, prepared, spec });
  return {
    kind: "rollout",
    ...objectSteps(snapshot, prepared, rollout, live?.record.template),
    prepared,
    rollout,
    conflicts: conflictsOf(snapshot, objects.after),
    notices: data.notices,
    slot: rollout.kind === "apply" && rollout.cause === "upgrade" &&
        live?.record.template !== templateDigest(objects.deployment)
      ? slotOf(snapshot.resource, prepared.pins, snapshot.nowMs)
      : undefined,
  };
};

const olderServer = ({ distribution, running, ours, image }: NewerServer): OlderServer =>
  new OlderServer({
    path: ["spec", "distribution", "name"],
    distribution,
    running: serverName(running),
    image,
    ours: serverName(ours),
    version: ours,
  });

/** The decision without repairs that would only be overwritten again. */
export const withoutContested = (
  decision: PreservationDecision | RolloutDecision,
  snapshot: ClusterSnapshot,
): PreservationDecision | RolloutDecision => {
  if (decision.kind === "preserved") return { ...decision, steps: withoutPaused(decision.steps, snapshot) };
  const steps = withoutPaused(decision.steps, snapshot);
  return {
    ...decision,
    steps,
    replacesPods: decision.replacesPods &&
      steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment"),
  };
};

const conflictsOf = (
  snapshot: ClusterSnapshot,
  manifests: ReadonlyArray<Manifest>,
): ReadonlyArray<OwnershipConflict | DeletionPending> =>
  manifests.flatMap((manifest) => conflictOf(manifest, liveOf(snapshot, manifest), snapshot) ?? []);

/** What is written and removed, in this order. */
const objectSteps = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
  rollout: Rollout,
  templateNow: string | undefined,
): Pick<RolloutDecision, "steps" | "replacesPods"> => {
  const { objects, blueprint } = prepared;
  const live = liveOf(snapshot, objects.deployment);
  const wanted = wantedObjects(snapshot, prepared, rollout);
  const taken = wanted.flatMap(({ manifest, live: found }) =>
    takeOvers(manifest, found, snapshot.resource, [
      ...foreignFields(manifest, found, snapshot.replicaSets, isAnswered(manifest, found)),
      ...(rollout.kind === "adopt" ? [] : leftDuplicates(manifest, found)),
    ])
  );
  const waits = isWaiting(rollout);
  const hasAutoscaler = wanted.some(({ manifest, live: found }) =>
    manifest.kind === "HorizontalPodAutoscaler" && found !== undefined
  );
  const handed = waits ? [] : handOver(prepared, live, hasAutoscaler);
  // What these change has another version when it is applied.
  const changed = new Set(
    [...taken, ...handed].flatMap((writeStep) =>
      "key" in writeStep ? liveKey(writeStep.key.kind, writeStep.key.name) : []
    ),
  );
  const due = (part: Wanted["part"]) => wanted.filter((item) => item.part === part && !item.isLater);
  const [deployment] = due("deployment");
  const deployments = writes(due("deployment"), changed, whyOf(rollout));
  const names = new Set(allOf(objects).map(({ kind, metadata }) => liveKey(kind, metadata.name)));
  return {
    steps: [
      ...taken,
      ...writes(due("before"), changed, "required by the resource"),
      ...handed,
      ...deployments,
      ...(waits ? scaling(snapshot) : []),
      ...writes(due("after"), changed, "required by the resource"),
      ...pruned(snapshot, names, blueprint, isRolledOut(prepared, snapshot)),
    ],
    replacesPods: deployment !== undefined && handed.length + deployments.length > 0 &&
      (templateNow !== templateDigest(deployment.manifest) || isTemplateForeign(deployment.manifest, live)),
  };
};

const whyOf = (rollout: Rollout): string => {
  if (rollout.kind === "apply") return rollout.why;
  return rollout.kind === "adopt"
    ? "adopted from another operator: its template is unchanged, and its inputs are recorded"
    : "the rollout failed and is rolled back";
};
