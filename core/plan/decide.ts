/**
 * START HERE: observed state → decision. The input is one cluster snapshot, the output is the writes with their
 * reasons; nothing is read, written or reported here.
 *
 * Read next: prepare.ts (the desired objects), preserve.ts (what happens if that fails), rollout.ts (what is applied
 * now), ownership.ts (objects of others), prune.ts (deletions), report.ts (Events and status after the writes).
 */
import * as Result from "effect/Result";
import { type DeletionPending, OlderServer, type OwnershipConflict } from "../failure/failures.ts";
import { member, objectAt, stringAt } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import { serverName } from "../config/servers/families/families.ts";
import { stamped } from "../resources/objects.ts";
import { withoutHeld } from "./contest.ts";
import { type Decision, NO_SLOT, type RolloutDecision, type SlotUse } from "./decision.ts";
import { isTemplateForeign } from "./field_owners.ts";
import { leftDuplicates } from "./duplicates.ts";
import { foreignFields } from "./foreign_fields.ts";
import { conflictOf } from "./ownership.ts";
import { slotOf } from "./rollout/upgrade_slots.ts";
import { keptClaim } from "./kept_claim.ts";
import { withKeptNetwork } from "./kept_network.ts";
import { remadeConfig } from "./mounted_configs.ts";
import { prepare, type Prepared, type Unprepared } from "./prepare.ts";
import { byCause, preserve } from "./preserve.ts";
import { prunedBundles, prunedConfigs, prunedObjects } from "./prune.ts";
import { TEMPLATE_ANNOTATION } from "../snapshot/record.ts";
import { type NewerServer, newerServer } from "./rollout/newer_server.ts";
import { type Rollout, rolloutOf, templateDigest } from "./rollout/rollout.ts";
import { handOver, scaling } from "./scale.ts";
import { storedDataFindings } from "./stored_data/stored_data.ts";
import { takeOvers } from "./takeover.ts";
import { deploymentFor, isWaiting, liveOf } from "./wanted_objects.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { isAnswered, writes } from "./writes.ts";

/** `before` is the result of `prepare` for the same snapshot, if already computed. */
export const decide = (snapshot: ClusterSnapshot, before?: Result.Result<Prepared, Unprepared>): Decision => {
  const { resource } = snapshot;
  // Owner references complete a deletion; a claim to keep has none.
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return { kind: "nothing", steps: [] };
  if (member(objectAt(resource, "spec"), "suspend") === true) return { kind: "suspended", steps: [] };
  const prepared = before ?? prepare(snapshot);
  return Result.isFailure(prepared)
    ? preserve(snapshot, byCause(snapshot, prepared.failure.failures, prepared.failure.inputs, undefined), {
      warnings: prepared.failure.warnings,
      prepared: undefined,
    })
    : planRollout(snapshot, withKeptNetwork(prepared.success, snapshot));
};

const planRollout = (snapshot: ClusterSnapshot, prepared: Prepared): Decision => {
  const { objects, warnings } = prepared;
  const live = liveOf(snapshot, objects.deployment);
  const data = storedDataFindings(prepared, live, snapshot);
  const fatal = conflictsOf(snapshot, [...objects.before, objects.deployment]);
  const failures = fatal.length > 0 ? fatal : byCause(snapshot, data.failures, prepared.inputs, prepared.pins);
  if (failures.length > 0) return preserve(snapshot, failures, { warnings, prepared });
  const rollout = rolloutOf(prepared, live, snapshot);
  const newer = rollout.kind === "apply" && rollout.cause === "edit"
    ? newerServer(prepared, live, snapshot)
    : undefined;
  if (newer !== undefined) return preserve(snapshot, [olderServer(newer)], { warnings, prepared });
  return withoutContested({
    kind: "rollout",
    ...objectSteps(snapshot, prepared, rollout),
    prepared,
    rollout,
    conflicts: conflictsOf(snapshot, [...objects.after, ...objects.optional]),
    notices: data.notices,
    slot: slotUseOf(rollout, snapshot, prepared),
  }, snapshot);
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
export const withoutContested = (decision: RolloutDecision, snapshot: ClusterSnapshot): RolloutDecision => {
  const steps = withoutHeld(decision.steps, snapshot);
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
): Pick<RolloutDecision, "steps" | "replacesPods"> => {
  const { objects, blueprint } = prepared;
  const { uid } = blueprint;
  const live = liveOf(snapshot, objects.deployment);
  const deployment = deploymentFor(snapshot, prepared, rollout, live);
  const waits = isWaiting(rollout);
  const needed = objects.before.map((manifest) => keptClaim(manifest, liveOf(snapshot, manifest)));
  // A template that waits keeps its config: the new one would be a ConfigMap that nothing runs on. What the running pods mount
  // is made again if somebody deleted it: no other pod would start.
  const mounted = waits ? configMapsOf(templateSpec(live)) : [];
  const isThere = (name: string) =>
    snapshot.live.has(liveKey("ConfigMap", name)) ||
    snapshot.configs.some((config) => stringAt(config, "metadata", "name") === name);
  const isKept = ({ kind, metadata: { name } }: Manifest) =>
    kind !== "ConfigMap" || mounted.includes(name) && !isThere(name);
  const former = waits ? remadeConfig(snapshot, live) : undefined;
  const before = rollout.kind === "apply" ? needed : [
    ...needed.filter(isKept),
    ...(former === undefined || needed.some(({ metadata }) => metadata.name === former.metadata.name) ? [] : [former]),
  ];
  const ours = [...objects.after, ...objects.optional].filter((manifest) =>
    conflictOf(manifest, liveOf(snapshot, manifest), snapshot) === undefined
  );
  const taken = [...needed, ...(waits ? [] : [deployment]), ...ours]
    .flatMap((manifest) =>
      takeOvers(
        manifest,
        liveOf(snapshot, manifest),
        snapshot.resource,
        [
          ...foreignFields(
            manifest,
            liveOf(snapshot, manifest),
            snapshot.replicaSets,
            isAnswered(stamped(manifest), liveOf(snapshot, manifest)),
          ),
          ...(rollout.kind === "adopt" ? [] : leftDuplicates(manifest, liveOf(snapshot, manifest))),
        ],
      )
    );
  const handed = waits ? [] : handOver(prepared, live);
  // What these change has another version when it is applied.
  const changed = new Set(
    [...taken, ...handed].flatMap((writeStep) =>
      "key" in writeStep ? liveKey(writeStep.key.kind, writeStep.key.name) : []
    ),
  );
  // A claim that exists serves as it is, although the API server may refuse to let it grow.
  const isNeeded = (manifest: Manifest) =>
    manifest.kind !== "PersistentVolumeClaim" || liveOf(snapshot, manifest) === undefined;
  const deployments = waits ? [] : [...handed, ...writes(snapshot, [deployment], changed, whyOf(rollout), true)];
  const wanted = new Set(
    [...objects.before, deployment, ...objects.after, ...objects.optional]
      .map(({ kind, metadata }) => liveKey(kind, metadata.name)),
  );
  return {
    steps: [
      ...taken,
      ...writes(snapshot, before, changed, "required by the resource", isNeeded),
      ...deployments,
      ...(waits ? scaling(snapshot) : []),
      ...writes(snapshot, ours, changed, "required by the resource", false),
      ...prunedObjects(snapshot, wanted, uid),
      ...prunedBundles(snapshot, wanted, uid),
      ...prunedConfigs(snapshot, blueprint.configFile?.configMapName, uid),
    ],
    replacesPods: deployments.length > 0 &&
      (stringAt(live, "metadata", "annotations", TEMPLATE_ANNOTATION) !== templateDigest(deployment) ||
        isTemplateForeign(deployment, live)),
  };
};

const whyOf = (rollout: Rollout): string => {
  if (rollout.kind === "apply") return rollout.why;
  return rollout.kind === "adopt"
    ? "adopted from another operator: its template is unchanged, and its inputs are recorded"
    : "the rollout failed and is rolled back";
};

const slotUseOf = (rollout: Rollout, snapshot: ClusterSnapshot, prepared: Prepared): SlotUse => {
  if (rollout.kind === "apply" && rollout.cause === "upgrade") {
    const { resource, nowMs } = snapshot;
    const live = liveOf(snapshot, prepared.objects.deployment);
    const isNew =
      stringAt(live, "metadata", "annotations", TEMPLATE_ANNOTATION) !== templateDigest(prepared.objects.deployment);
    return isNew ? { kind: "taken", slot: slotOf(resource, prepared.pins, nowMs) } : NO_SLOT;
  }
  if (rollout.kind !== "queue") return NO_SLOT;
  const { obstacle, waiting } = rollout;
  return obstacle === undefined
    ? { kind: "wanted" }
    : { kind: "waiting", waiting, stoppedAt: obstacle.kind === "stopped" ? obstacle.at : undefined };
};
