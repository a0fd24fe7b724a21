/**
 * START HERE: world → plan. One look at the cluster in, the writes with their reasons out; nothing is read or written here.
 *
 * Read next: prepare.ts (what should be), rollout.ts (what is applied now), ownership.ts (what is not ours),
 * prune.ts (what goes), ../status/summarise.ts (what is told).
 */
import { Result } from "effect";
import { KIND, type Status } from "../api/v1alpha2.ts";
import type { DeletionPending, OwnershipConflict } from "../failure/failures.ts";
import { at, type JsonObject, listAt, member, objectAt, put, stringAt } from "../json.ts";
import { LOOK_AGAIN_MS } from "../limits.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { stamped } from "../resources/objects.ts";
import { summarise } from "../status/summarise.ts";
import { adoptionsTold, announcements, changesTold, contestsTold, rolledBackTold, stopTold } from "./announcements.ts";
import { amount, saysTheSame } from "./difference.ts";
import { contestsNow, nextContestMs, withoutHeld } from "./contest.ts";
import { changedFields, isAppliedFrom, isTemplateForeign } from "./field_owners.ts";
import { foreignFields } from "./foreign_fields.ts";
import { conflictOf } from "./ownership.ts";
import { prepare, type Prepared, type Unprepared } from "./prepare.ts";
import { byCause, preserve } from "./preserve.ts";
import { prunedBundles, prunedConfigs, prunedObjects } from "./prune.ts";
import { slotOf } from "./pacing.ts";
import { TEMPLATE_ANNOTATION } from "./record.ts";
import { adopted, recorded, type Rollout, rolloutOf, templateDigest, undone } from "./rollout.ts";
import { storedDataFindings } from "./stored_data.ts";
import { handOver, scaling } from "./scale.ts";
import { statusSteps } from "./status_step.ts";
import { NO_TURN, type Plan, Step, type StepPrecondition, type Turn } from "./step.ts";
import { takeOvers } from "./takeover.ts";
import { unwatchedMs } from "./unwatched.ts";
import { liveKey, type World } from "./world.ts";

/** `before` is what `prepare` made of the same world, where that was needed earlier. */
export const decide = (world: World, before?: Result.Result<Prepared, Unprepared>): Plan => {
  const { resource } = world;
  // Owner references do the rest of a deletion; a kept claim has none.
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return NOTHING;
  if (member(objectAt(resource, "spec"), "suspend") === true) return suspended(world);
  const prepared = before ?? prepare(world);
  return Result.isFailure(prepared)
    ? preserve(world, byCause(world, prepared.failure.failures, prepared.failure.inputs, undefined), {
      warnings: prepared.failure.warnings,
      prepared: undefined,
    })
    : planRollout(world, prepared.success);
};

const NOTHING: Plan = {
  steps: [],
  lookAgainMs: undefined,
  failures: [],
  statusIsOf: "what is made",
  turn: NO_TURN,
};

/**
 * What is left to say when the API server refused writes of a plan: status and Events. The writes themselves are tried again
 * after a pause.
 */
export const report = (world: World, before?: Result.Result<Prepared, Unprepared>): Plan => {
  const plan = decide(world, before);
  return { ...plan, steps: plan.steps.filter(({ _tag }) => _tag === "Announce" || _tag === "SetStatus") };
};

const suspended = (world: World): Plan => ({
  steps: statusSteps(
    world,
    summarise(world, {
      prepared: undefined,
      failures: [],
      warnings: [],
      rollout: undefined,
      suspended: true,
    }),
  ),
  lookAgainMs: undefined,
  failures: [],
  statusIsOf: "what is made",
  turn: NO_TURN,
});

const planRollout = (world: World, prepared: Prepared): Plan => {
  const { objects, warnings } = prepared;
  const live = liveOf(world, objects.deployment);
  const data = storedDataFindings(prepared, live, world);
  const fatal = conflictsOf(world, prepared, [...objects.before, objects.deployment]);
  const failures = fatal.length > 0 ? fatal : byCause(world, data.failures, prepared.inputs, prepared.pins);
  if (failures.length > 0) return preserve(world, failures, { warnings, prepared });
  const told = [...conflictsOf(world, prepared, [...objects.after, ...objects.optional]), ...world.refusals];
  const rollout = rolloutOf(prepared, live, world);
  const { steps: all, byPolicy, ...made } = objectSteps(world, prepared, rollout);
  const steps = withoutHeld(all, world);
  const replacesPods = made.replacesPods &&
    steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment");
  const status = summarise(world, {
    prepared,
    failures: told,
    warnings,
    rollout,
    suspended: false,
    contested: contestsNow(world),
    byPolicy,
  });
  return {
    steps: [
      ...steps,
      ...(rollout.kind === "undo" ? rolledBackTold(world, live, prepared) : []),
      ...stopTold(world, status),
      ...contestsTold(world),
      ...(rollout.kind === "apply"
        ? changesTold(world, prepared, replacesPods && world.refusals.length === 0, data.notices)
        : []),
      ...adoptionsTold(world, [...objects.before, objects.deployment, ...objects.after, ...objects.optional]),
      ...announcements(world, told, status),
      ...statusSteps(world, status),
    ],
    lookAgainMs: nextLookMs(world, status),
    failures: told,
    statusIsOf: rollout.kind === "undo" ? "what was seen" : "what is made",
    turn: turnOf(rollout, world, prepared),
  };
};

/** Of these pauses the shortest; undefined: watches tell of everything. */
const nextLookMs = (world: World, { conditions = [] }: Status): number | undefined => {
  const isUnavailable = conditions.some(({ type, status }) => type === "Available" && status !== "True");
  const pauses = [nextContestMs(world), unwatchedMs(world), isUnavailable ? LOOK_AGAIN_MS : undefined];
  return pauses.reduce((least, one) => one === undefined ? least : Math.min(least ?? one, one), undefined);
};

const conflictsOf = (
  world: World,
  { blueprint }: Prepared,
  manifests: ReadonlyArray<Manifest>,
): ReadonlyArray<OwnershipConflict | DeletionPending> =>
  manifests.flatMap((one) => conflictOf(one, liveOf(world, one), blueprint.uid) ?? []);

/**
 * What is written and removed, in this order. `replacesPods`: the Deployment gets another pod template. `byPolicy`: fields that
 * are as a policy of the cluster rewrote them.
 */
const objectSteps = (
  world: World,
  prepared: Prepared,
  rollout: Rollout,
): {
  readonly steps: ReadonlyArray<Step>;
  readonly replacesPods: boolean;
  readonly byPolicy: ReadonlyArray<string>;
} => {
  const { objects, blueprint } = prepared;
  const { uid } = blueprint;
  const live = liveOf(world, objects.deployment);
  const deployment = deploymentOf(world, prepared, rollout, live);
  const waits = rollout.kind === "hold" || rollout.kind === "queue" || rollout.kind === "undone";
  const needed = objects.before.map((one) => notShrunk(one, liveOf(world, one)));
  // A template that waits keeps its config: the new one would be a ConfigMap that nothing runs on.
  const before = rollout.kind === "apply" ? needed : needed.filter(({ kind }) => kind !== "ConfigMap");
  const ours = [...objects.after, ...objects.optional].filter((one) =>
    conflictOf(one, liveOf(world, one), uid) === undefined
  );
  const taken = [...needed, ...(waits ? [] : [deployment]), ...ours]
    .flatMap((one) =>
      takeOvers(
        one,
        liveOf(world, one),
        world.resource,
        foreignFields(one, liveOf(world, one), world.replicaSets, isAnswered(stamped(one), liveOf(world, one))),
      )
    );
  const handed = waits ? [] : handOver(prepared, live);
  // What these change has another version when it is applied.
  const changed = new Set(
    [...taken, ...handed].flatMap((one) => "key" in one ? liveKey(one.key.kind, one.key.name) : []),
  );
  const deployments = waits ? [] : [...handed, ...writes(world, [deployment], changed, whyOf(rollout), true)];
  const wanted = new Set(
    [...objects.before, deployment, ...objects.after, ...objects.optional]
      .map(({ kind, metadata }) => liveKey(kind, metadata.name)),
  );
  return {
    steps: [
      ...taken,
      ...writes(world, before, changed, "the resource asks for it", true),
      ...deployments,
      ...(waits ? scaling(world) : []),
      ...writes(world, ours, changed, "the resource asks for it", false),
      ...prunedObjects(world, wanted, uid),
      ...prunedBundles(world, wanted, uid),
      ...prunedConfigs(world, blueprint.configFile?.configMapName, uid),
    ],
    replacesPods: deployments.length > 0 &&
      (stringAt(live, "metadata", "annotations", TEMPLATE_ANNOTATION) !== templateDigest(deployment) ||
        isTemplateForeign(deployment, live)),
    byPolicy: [...needed, ...(waits ? [] : [deployment]), ...ours].flatMap((one) =>
      changedFields(stamped(one), liveOf(world, one)).byPolicy.map((field) =>
        `${one.kind} ${one.metadata.name}: ${field}`
      )
    ),
  };
};

const deploymentOf = (world: World, prepared: Prepared, rollout: Rollout, live: JsonObject | undefined): Manifest => {
  if (rollout.kind === "undo") return undone(prepared, world, live, rollout);
  if (rollout.kind === "adopt" && live !== undefined) return adopted(prepared, world, live);
  return recorded(prepared, world, live, rollout.kind === "apply" ? rollout.cause : "edit");
};

const whyOf = (rollout: Rollout): string => {
  if (rollout.kind === "apply") return rollout.why;
  return rollout.kind === "adopt"
    ? "another operator made it: its template stays, and what it was made from is recorded"
    : "the change did not become ready and is undone";
};

const turnOf = (rollout: Rollout, world: World, prepared: Prepared): Turn => {
  if (rollout.kind === "apply" && rollout.cause === "upgrade") {
    const { resource, nowMs } = world;
    const live = liveOf(world, prepared.objects.deployment);
    const isNew =
      stringAt(live, "metadata", "annotations", TEMPLATE_ANNOTATION) !== templateDigest(prepared.objects.deployment);
    return isNew ? { kind: "taken", slot: slotOf(resource, prepared.pins, nowMs) } : NO_TURN;
  }
  if (rollout.kind !== "queue") return NO_TURN;
  const { turn, waiting } = rollout;
  return turn === undefined
    ? { kind: "wanted" }
    : { kind: "waiting", waiting, stoppedAt: turn.kind === "stopped" ? turn.at : undefined };
};

const liveOf = (world: World, { kind, metadata }: Manifest): JsonObject | undefined =>
  world.live.get(liveKey(kind, metadata.name));

/** Only what differs: a pass that changes nothing writes nothing. */
const writes = (
  world: World,
  manifests: ReadonlyArray<Manifest>,
  changed: ReadonlySet<string>,
  why: string,
  blocks: boolean,
): ReadonlyArray<Step> =>
  manifests.map(stamped)
    .filter((one) => !isWritten(one, liveOf(world, one)) || changed.has(liveKey(one.kind, one.metadata.name)))
    .map((manifest) => Step.Apply({ manifest, why, precondition: preconditionOf(world, manifest, changed), blocks }));

/** A replica that wakes without its lease, or a look that is out of date, must not undo what was written since. */
const preconditionOf = (world: World, manifest: Manifest, changed: ReadonlySet<string>): StepPrecondition => {
  const live = liveOf(world, manifest);
  if (live === undefined) return "must not exist";
  const version = stringAt(live, "metadata", "resourceVersion");
  const isKnown = version !== undefined && !changed.has(liveKey(manifest.kind, manifest.metadata.name));
  return isKnown ? { version } : "as just written";
};

const isWritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  if (live === undefined) return false;
  // A claim's own fields can hardly change; a size that grew beyond what is asked for stays (never shrunk).
  if (manifest.kind === "PersistentVolumeClaim" && stringAt(live, "status", "phase") === "Lost") return true;
  return isAppliedFrom(manifest, live) && isAnswered(manifest, live) && !isOwnedTooMuch(manifest, live);
};

/** It says what the manifest says, or what a policy of the cluster made of that when it was applied. */
const isAnswered = (manifest: Manifest, live: JsonObject | undefined): boolean =>
  saysTheSame(manifest, live) || isOnlyRewritten(manifest, live);

const isOnlyRewritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  const { byPolicy, byOthers } = changedFields(manifest, live);
  return byPolicy.length > 0 && byOthers.length === 0;
};

/** The digest leaves the owner out, which is another one for each copy of a resource: a claim to be kept must not have ours. */
const isOwnedTooMuch = (manifest: Manifest, live: JsonObject): boolean =>
  listAt(manifest, "metadata", "ownerReferences").length === 0 &&
  listAt(live, "metadata", "ownerReferences").some((owner) => stringAt(owner, "kind") === KIND);

/** A claim is expanded, never shrunk: the API server refuses a smaller one, and that would stop every other change. */
const notShrunk = (manifest: Manifest, live: JsonObject | undefined): Manifest => {
  const size = at(live, "spec", "resources", "requests", "storage");
  if (manifest.kind !== "PersistentVolumeClaim" || size === undefined) return manifest;
  const wanted = at(manifest, "spec", "resources", "requests", "storage") ?? null;
  return (amount(size) ?? 0) <= (amount(wanted) ?? 0)
    ? manifest
    : put(manifest, ["spec", "resources", "requests", "storage"], size) as Manifest;
};
