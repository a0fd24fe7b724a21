/**
 * START HERE: world → plan. One look at the cluster in, the writes with their reasons out; nothing is read or written here.
 *
 * Read next: prepare.ts (what should be), rollout.ts (what is applied now), ownership.ts (what is not ours),
 * prune.ts (what goes), ../status/summarise.ts (what is told).
 */
import { Result } from "effect";
import type { Status } from "../api/v1alpha2.ts";
import type { DeletionPending, OwnershipConflict, ReconcileFailure } from "../failure.ts";
import { type JsonObject, member, objectAt, stringAt } from "../json.ts";
import { LOOK_AGAIN_MS, UNWATCHED_LOOK_MS } from "../limits.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { stamped } from "../resources/objects.ts";
import { summarise } from "../status/summarise.ts";
import type { Warning } from "../warning.ts";
import { adoptionsTold, announcements, changesTold, contestsTold, rolledBackTold, stopTold } from "./announcements.ts";
import { isOperatorsDoing } from "./blame.ts";
import { contestsNow, nextContestMs, withoutHeld } from "./contest.ts";
import { changedFields, isTemplateForeign } from "./field_owners.ts";
import { foreignFields } from "./foreign_fields.ts";
import { conflictOf, isOurs, isWatched } from "./ownership.ts";
import { type Inputs, prepare, type Prepared, type Unprepared } from "./prepare.ts";
import { prunedBundles, prunedConfigs, prunedObjects } from "./prune.ts";
import { slotOf } from "./pacing.ts";
import { TEMPLATE_ANNOTATION } from "./record.ts";
import { adopted, recorded, type Rollout, rolloutOf, templateDigest, undone } from "./rollout.ts";
import { storedDataFindings } from "./stored_data.ts";
import { handOver, scaling } from "./scale.ts";
import { statusSteps } from "./status_step.ts";
import { type Plan, Step, type Turn } from "./step.ts";
import { takeOvers } from "./takeover.ts";
import { liveKey, type World } from "./world.ts";
import { isAnswered, liveOf, notShrunk, writes } from "./writes.ts";

const NO_TURN: Turn = { kind: "none" };

/** `before` is what `prepare` made of the same world, where that was needed earlier. */
export const decide = (world: World, before?: Result.Result<Prepared, Unprepared>): Plan => {
  const { resource } = world;
  // Owner references do the rest of a deletion; a kept claim has none.
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return NOTHING;
  if (member(objectAt(resource, "spec"), "suspend") === true) return suspended(world);
  const prepared = before ?? prepare(world);
  return Result.isFailure(prepared)
    ? refused(world, prepared.failure.failures, {
      warnings: prepared.failure.warnings,
      prepared: undefined,
      inputs: prepared.failure.inputs,
    })
    : settled(world, prepared.success);
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
      causedByUpgrade: false,
      suspended: true,
    }),
  ),
  lookAgainMs: undefined,
  failures: [],
  statusIsOf: "what is made",
  turn: NO_TURN,
});

/** Failure preservation: nothing is written but status, Events and the number of pods. */
const refused = (
  world: World,
  failures: ReadonlyArray<ReconcileFailure>,
  { inputs, ...more }: {
    readonly warnings: ReadonlyArray<Warning>;
    readonly prepared: Prepared | undefined;
    readonly inputs: Inputs | undefined;
  },
): Plan => {
  const decided = {
    ...more,
    failures,
    rollout: undefined,
    causedByUpgrade: isOperatorsDoing(world, inputs),
    suspended: false,
  };
  const status = summarise(world, decided);
  return {
    steps: [...scaling(world), ...announcements(world, failures, status), ...statusSteps(world, status)],
    lookAgainMs: unwatchedMs(world),
    failures,
    statusIsOf: "what is made",
    turn: NO_TURN,
  };
};

const settled = (world: World, prepared: Prepared): Plan => {
  const { objects, warnings } = prepared;
  const live = liveOf(world, objects.deployment);
  const data = storedDataFindings(prepared, live, world);
  const fatal = conflictsOf(world, prepared, [...objects.before, objects.deployment]);
  const failures = fatal.length > 0 ? fatal : data.failures;
  if (failures.length > 0) return refused(world, failures, { warnings, prepared, inputs: prepared.inputs });
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
    causedByUpgrade: false,
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

const unwatchedMs = ({ live, resource }: World): number | undefined => {
  const { uid, name } = objectAt(resource, "metadata");
  return [...live.values()].some((one) => isOurs(one, String(uid)) && !isWatched(one, String(name)))
    ? UNWATCHED_LOOK_MS
    : undefined;
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
