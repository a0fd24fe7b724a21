/**
 * START HERE: world → plan. One look at the cluster in, the writes with their reasons out; nothing is read or written here.
 *
 * Read next: prepare.ts (what should be), rollout.ts (what is applied now), ownership.ts (what is not ours),
 * prune.ts (what goes), ../status/summarise.ts (what is told).
 */
import { Result } from "effect";
import type { Condition, Status } from "../api/v1alpha2.ts";
import type { OwnershipConflict, ReconcileFailure } from "../failure.ts";
import { at, type Json, type JsonObject, listAt, member, objectAt, put, stringAt } from "../json.ts";
import { autoscales } from "../resources/autoscaler.ts";
import { type Manifest, replicasOf } from "../resources/blueprint.ts";
import { MANIFEST_ANNOTATION, stamped } from "../resources/objects.ts";
import * as events from "../status/events.ts";
import { summarise } from "../status/summarise.ts";
import type { Warning } from "../warning.ts";
import { amount, saysTheSame } from "./difference.ts";
import { conflictOf, isOurs } from "./ownership.ts";
import { prepare, type Prepared } from "./prepare.ts";
import { prunedConfigs, prunedObjects } from "./prune.ts";
import { GENERATION_ANNOTATION, OPERATOR_VERSION_ANNOTATION, recorded, rolloutOf } from "./rollout.ts";
import { keyOf, type Plan, Step } from "./step.ts";
import { liveKey, type World } from "./world.ts";

/** Field manager of every apply; whose fields are whose is told by it. */
export const FIELD_MANAGER = "llama-stack-operator";

/** Pause before the next look at a server that is not ready, in milliseconds; changes of its pods come sooner by themselves. */
const LOOK_AGAIN_MS = 15_000;

export const decide = (world: World): Plan => {
  const { resource } = world;
  // Owner references do the rest of a deletion; a kept claim has none.
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return NOTHING;
  if (member(objectAt(resource, "spec"), "suspend") === true) return suspended(world);
  const prepared = prepare(world);
  return Result.isFailure(prepared)
    ? refused(world, prepared.failure.failures, { warnings: prepared.failure.warnings, prepared: undefined })
    : settled(world, prepared.success);
};

const NOTHING: Plan = { steps: [], lookAgainMs: undefined, failures: [] };

/**
 * What is left to say when the API server refused writes of a plan: status and Events. The writes themselves are tried again
 * after a pause.
 */
export const report = (world: World): Plan => {
  const plan = decide(world);
  return { ...plan, steps: plan.steps.filter(({ _tag }) => _tag === "Announce" || _tag === "SetStatus") };
};

const suspended = (world: World): Plan => ({
  steps: statusSteps(world, {
    prepared: undefined,
    failures: [],
    warnings: [],
    held: undefined,
    causedByUpgrade: false,
    suspended: true,
  }),
  lookAgainMs: undefined,
  failures: [],
});

/** Failure preservation: nothing is written but status, Events and the number of pods. */
const refused = (
  world: World,
  failures: ReadonlyArray<ReconcileFailure>,
  more: { readonly warnings: ReadonlyArray<Warning>; readonly prepared: Prepared | undefined },
): Plan => {
  const decided = { ...more, failures, held: undefined, causedByUpgrade: isUpgrade(world), suspended: false };
  return {
    steps: [...scaling(world), ...announcements(world, failures), ...statusSteps(world, decided)],
    lookAgainMs: undefined,
    failures,
  };
};

const settled = (world: World, prepared: Prepared): Plan => {
  const { objects, blueprint } = prepared;
  const uid = blueprint.uid;
  const conflicts = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<OwnershipConflict> =>
    manifests.flatMap((one) => conflictOf(one, liveOf(world, one), uid) ?? []);
  const fatal = conflicts([...objects.before, objects.deployment]);
  if (fatal.length > 0) return refused(world, fatal, { warnings: prepared.warnings, prepared });
  const told = [...conflicts([...objects.after, ...objects.optional]), ...world.refusals];
  const live = liveOf(world, objects.deployment);
  const rollout = rolloutOf(prepared, live, world.resource, world.operator.rolloutOnUpgrade);
  const wanted = recorded(prepared, world.operator.version, generationOf(world));
  // A held template keeps its config: the new one would be a ConfigMap that nothing runs on.
  const needed = objects.before.map((one) => notShrunk(one, liveOf(world, one)));
  const before = rollout.kind === "hold" ? needed.filter(({ kind }) => kind !== "ConfigMap") : needed;
  const deployments = rollout.kind === "hold"
    ? []
    : [...handOver(world, prepared), ...writes(world, [wanted], rollout.why, true)];
  const free = (manifests: ReadonlyArray<Manifest>) =>
    manifests.filter((one) => conflictOf(one, liveOf(world, one), uid) === undefined);
  const config = blueprint.configFile?.configMapName;
  const all = new Set(
    [...objects.before, wanted, ...objects.after, ...objects.optional].map(({ kind, metadata }) =>
      liveKey(kind, metadata.name)
    ),
  );
  const decided = {
    prepared,
    failures: told,
    warnings: prepared.warnings,
    held: rollout.kind === "hold" ? rollout.digest : undefined,
    causedByUpgrade: false,
    suspended: false,
  };
  const status = summarise(world, decided);
  return {
    steps: [
      ...writes(world, before, "the resource asks for it", true),
      ...deployments,
      ...(rollout.kind === "hold" ? scaling(world) : []),
      ...writes(world, free(objects.after), "the resource asks for it", false),
      ...writes(world, free(objects.optional), "the resource asks for it", false),
      ...prunedObjects(world, all, uid),
      ...prunedConfigs(world, config, uid),
      ...changesTold(world, prepared, deployments.length > 0 && world.refusals.length === 0),
      ...announcements(world, told),
      ...statusSteps(world, decided),
    ],
    lookAgainMs: status.conditions?.some(({ type, status: word }) => type === "Available" && word !== "True") === true
      ? LOOK_AGAIN_MS
      : undefined,
    failures: told,
  };
};

const liveOf = (world: World, { kind, metadata }: Manifest): JsonObject | undefined =>
  world.live.get(liveKey(kind, metadata.name));

/** Only what differs: a pass that changes nothing writes nothing. */
const writes = (world: World, manifests: ReadonlyArray<Manifest>, why: string, blocks: boolean): ReadonlyArray<Step> =>
  manifests.map(stamped).filter((one) => !isWritten(one, liveOf(world, one)))
    .map((manifest) => Step.Apply({ manifest, why, blocks }));

const isWritten = (manifest: Manifest, live: JsonObject | undefined): boolean => {
  if (live === undefined) return false;
  const digest = (one: Json) => stringAt(one, "metadata", "annotations", MANIFEST_ANNOTATION);
  // A claim's own fields can hardly change; a size that grew beyond what is asked for stays (never shrunk).
  if (manifest.kind === "PersistentVolumeClaim" && stringAt(live, "status", "phase") === "Lost") return true;
  return digest(live) === digest(manifest) && saysTheSame(manifest, live);
};

/** A claim is expanded, never shrunk: the API server refuses a smaller one, and that would stop every other change. */
const notShrunk = (manifest: Manifest, live: JsonObject | undefined): Manifest => {
  const size = at(live, "spec", "resources", "requests", "storage");
  if (manifest.kind !== "PersistentVolumeClaim" || size === undefined) return manifest;
  const wanted = at(manifest, "spec", "resources", "requests", "storage") ?? null;
  return (amount(size) ?? 0) <= (amount(wanted) ?? 0)
    ? manifest
    : put(manifest, ["spec", "resources", "requests", "storage"], size) as Manifest;
};

/** Scaling goes on whatever else is wrong (R35), unless an autoscaler has the number. */
const scaling = (world: World): ReadonlyArray<Step> => {
  const name = stringAt(world.resource, "metadata", "name") ?? "";
  const live = world.live.get(liveKey("Deployment", name));
  const workload = objectAt(world.resource, "spec", "workload");
  const wanted = member(workload, "replicas");
  if (live === undefined || typeof wanted !== "number" || wanted < 0 || Object.hasOwn(workload, "autoscaling")) {
    return [];
  }
  if (!isOurs(live, stringAt(world.resource, "metadata", "uid"))) return [];
  if (member(objectAt(live, "spec"), "replicas") === wanted) return [];
  const key = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace: stringAt(live, "metadata", "namespace") ?? "",
    name,
  };
  return [Step.Scale({ key, replicas: wanted, why: "the number of pods changed" })];
};

/**
 * Under an autoscaler our apply names no number of pods. Dropping the field while we alone own it would set it back to one
 * and stop pods; taking it under another manager first keeps it.
 */
const handOver = (world: World, prepared: Prepared): ReadonlyArray<Step> => {
  const live = liveOf(world, prepared.objects.deployment);
  if (live === undefined || !autoscales(prepared.blueprint)) return [];
  const ours = listAt(live, "metadata", "managedFields").some((entry) =>
    stringAt(entry, "manager") === FIELD_MANAGER && stringAt(entry, "operation") === "Apply" &&
    Object.hasOwn(objectAt(entry, "fieldsV1", "f:spec"), "f:replicas")
  );
  const replicas = Number(member(objectAt(live, "spec"), "replicas") ?? replicasOf(prepared.resource.spec));
  return ours
    ? [
      Step.Scale({
        key: keyOf(prepared.objects.deployment),
        replicas,
        why: "the autoscaler takes over the number of pods",
      }),
    ]
    : [];
};

/** FR-101: the operator's doing when the resource is the one that was last applied, and the operator is another one. */
const isUpgrade = (world: World): boolean => {
  const live = world.live.get(liveKey("Deployment", stringAt(world.resource, "metadata", "name") ?? ""));
  const annotation = (name: string) => stringAt(live, "metadata", "annotations", name);
  return annotation(GENERATION_ANNOTATION) === String(generationOf(world)) &&
    annotation(OPERATOR_VERSION_ANNOTATION) !== world.operator.version;
};

const generationOf = ({ resource }: World): number => Number(member(objectAt(resource, "metadata"), "generation") ?? 0);

/** Each failure is said once: not again while the condition carries the same sentence. */
const announcements = (world: World, failures: ReadonlyArray<ReconcileFailure>): ReadonlyArray<Step> => {
  const said = listAt(world.resource, "status", "conditions").map((condition) => stringAt(condition, "message") ?? "")
    .join("\n");
  return failures.filter(({ message }) => !said.includes(message)).map((failure) => {
    switch (failure._tag) {
      case "SecretNotFound":
      case "SecretKeyMissing":
      case "ConfigMapNotFound":
      case "ConfigMapKeyMissing":
        return Step.Announce({ note: events.secretResolutionFailed(failure.message) });
      case "OwnershipConflict":
        return Step.Announce({ note: events.ownershipConflict(failure.message) });
      case "ObjectRefused":
        return Step.Announce({ note: events.objectRefused(failure.message) });
      default:
        return Step.Announce({ note: events.configGenerationFailed(failure.message) });
    }
  });
};

const changesTold = (
  world: World,
  { derived, blueprint, resource }: Prepared,
  rolled: boolean,
): ReadonlyArray<Step> => {
  const name = blueprint.configFile?.configMapName;
  const isNew = name !== undefined && stringAt(world.resource, "status", "configGeneration", "configMapName") !== name;
  return [
    ...(derived._tag === "Generated" && isNew && rolled
      ? [
        Step.Announce({
          note: events.configGenerated(
            name,
            derived.config.providerCount,
            resource.spec.resources?.models?.length ?? 0,
          ),
        }),
      ]
      : []),
    ...(rolled ? [Step.Announce({ note: events.deploymentUpdated(blueprint.image, name) })] : []),
  ];
};

const statusSteps = (world: World, decided: Parameters<typeof summarise>[1]): ReadonlyArray<Step> => {
  const status = summarise(world, decided);
  const before = objectAt(world.resource, "status");
  return sameStatus(status, before) ? [] : [Step.SetStatus({ status, why: whyStatus(status, before) })];
};

const sameStatus = (status: Status, before: JsonObject): boolean =>
  JSON.stringify(sortedKeys(status as unknown as Json)) === JSON.stringify(sortedKeys(before));

const sortedKeys = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value).sort().map((key): [string, Json] => [key, sortedKeys(member(value, key) ?? null)]),
  );
};

/** For the log: the conditions that flipped. */
const whyStatus = (status: Status, before: JsonObject): string => {
  const word = (list: ReadonlyArray<Json>, type: string) =>
    stringAt(list.find((one) => stringAt(one, "type") === type), "status");
  const old = listAt(before, "conditions");
  const flipped = ((status.conditions ?? []) as ReadonlyArray<Condition>)
    .filter(({ type, status: now }) => word(old, type) !== now).map(({ type, status: now }) => `${type}=${now}`);
  return flipped.length === 0 ? "details changed" : flipped.join(", ");
};
