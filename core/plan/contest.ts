/** What is undone after each repair: fields that another controller changes back, objects that it deletes, annotations that a policy removes. */
import type { JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { manifestDigest } from "../resources/objects.ts";
import type { Contest, ForeignField, LastApplied } from "../snapshot/contest.ts";
import { changedFields } from "./field_owners.ts";
import { SCALE_MANAGER } from "../snapshot/field_manager.ts";
import type { WriteStep } from "./step.ts";
import { recordIn } from "../snapshot/record.ts";
import { type ClusterSnapshot, liveKey, liveOf } from "../snapshot/cluster_snapshot.ts";

/** What the steps repair. */
export const repairsIn = (steps: ReadonlyArray<WriteStep>, snapshot: ClusterSnapshot): ReadonlyArray<ForeignField> =>
  steps.flatMap((step) => step._tag === "Apply" ? foreignIn(step.manifest, snapshot) : [])
    // A change of the field manager for the number of pods, from one of the operator's managers to another, is not a
    // contest.
    .filter(({ manager }) => manager !== SCALE_MANAGER);

/** What the steps repaired: an object whose write was refused, or skipped after such a refusal, is the one that was observed. */
export const repairsDone = (
  steps: ReadonlyArray<WriteStep>,
  snapshot: ClusterSnapshot,
  live: ReadonlyMap<string, JsonObject>,
): ReadonlyArray<ForeignField> => repairsIn(stepsDone(steps, snapshot, live), snapshot);

const stepsDone = (
  steps: ReadonlyArray<WriteStep>,
  snapshot: ClusterSnapshot,
  live: ReadonlyMap<string, JsonObject>,
): ReadonlyArray<WriteStep> =>
  steps.filter((step) => {
    if (step._tag !== "Apply") return false;
    const key = liveKey(step.manifest.kind, step.manifest.metadata.name);
    return live.get(key) !== snapshot.live.get(key);
  });

const foreignIn = (manifest: Manifest, snapshot: ClusterSnapshot): ReadonlyArray<ForeignField> => {
  const { byOthers } = changedFields(manifest, liveOf(snapshot, manifest));
  if (byOthers.length > 0) return byOthers;
  const { kind, metadata: { name } } = manifest;
  // Another manifest is an edit, which does not wait.
  const isAgain = snapshot.lastApplied?.get(liveKey(kind, name)) === manifestDigest(manifest);
  return isAgain || isTemplateAgain(manifest, snapshot) ? [{ object: `${kind} ${name}`, field: "", manager: "" }] : [];
};

/**
 * Another operator with another key replaces the pod template, records included, and each replacement restarts the pods. When an
 * upgrade began is another time in each manifest.
 */
const isTemplateAgain = (manifest: Manifest, snapshot: ClusterSnapshot): boolean => {
  if (manifest.kind !== "Deployment") return false;
  const { template } = recordIn(manifest);
  return template !== undefined && template !== recordIn(liveOf(snapshot, manifest)).template &&
    snapshot.lastApplied?.get(templateKey(manifest)) === template;
};

const templateKey = ({ metadata: { name } }: Manifest): string => `template of ${liveKey("Deployment", name)}`;

/** What the steps applied, whatever the API server made of it. */
export const appliedIn = (
  steps: ReadonlyArray<WriteStep>,
  snapshot: ClusterSnapshot,
  live: ReadonlyMap<string, JsonObject>,
): LastApplied =>
  new Map(
    stepsDone(steps, snapshot, live).flatMap((step) => {
      if (step._tag !== "Apply") return [];
      const { manifest } = step;
      const { kind, metadata: { name } } = manifest;
      return [
        [liveKey(kind, name), manifestDigest(manifest)] as const,
        ...(kind === "Deployment" ? [[templateKey(manifest), recordIn(manifest).template] as const] : []),
      ].flatMap(([key, digest]) => digest === undefined ? [] : [[key, digest] as const]);
    }),
  );

/** Contests in progress. */
export const contestsNow = ({ contests = [], nowMs }: ClusterSnapshot): ReadonlyArray<Contest> =>
  contests.filter(({ overAtMs }) => overAtMs > nowMs);

/** The steps without repairs that would only be overwritten again: of objects in which nothing else is to be repaired. */
export const withoutPaused = <Any extends WriteStep>(
  steps: ReadonlyArray<Any>,
  snapshot: ClusterSnapshot,
): ReadonlyArray<Any> => {
  const held = contestsNow(snapshot).filter(({ heldUntilMs }) => heldUntilMs > snapshot.nowMs);
  if (held.length === 0) return steps;
  const isHeld = (foreignField: ForeignField) =>
    held.some(({ object, field, manager }) =>
      object === foreignField.object && field === foreignField.field &&
      (manager ?? foreignField.manager) === foreignField.manager
    );
  const waiting = new Set(
    steps.flatMap((step) => {
      if (step._tag !== "Apply") return [];
      const fields = foreignIn(step.manifest, snapshot);
      const { kind, metadata: { name } } = step.manifest;
      return fields.length > 0 && fields.every(isHeld) ? [liveKey(kind, name)] : [];
    }),
  );
  return steps.filter((step) => {
    if (step._tag === "Apply") return !waiting.has(liveKey(step.manifest.kind, step.manifest.metadata.name));
    return step._tag !== "TakeOver" || !waiting.has(liveKey(step.key.kind, step.key.name));
  });
};

/** Delay until the next contest may be retried or is over, in milliseconds; undefined if there is none. */
export const nextContestMs = (snapshot: ClusterSnapshot): number | undefined => {
  const times = contestsNow(snapshot).map(({ heldUntilMs, overAtMs }) =>
    heldUntilMs > snapshot.nowMs ? heldUntilMs : overAtMs
  );
  return times.length === 0 ? undefined : Math.max(1, Math.min(...times) - snapshot.nowMs);
};

/** For people: the field and who overwrites it. */
export const contestText = ({ object, field, manager }: Contest): string => {
  if (field === "") return `${object} (deleted, its annotations are removed, or a second operator writes it)`;
  if (manager === undefined) return `${object}: ${field} (several field managers)`;
  return `${object}: ${field} (${
    manager === "" ? "unknown field manager" : `field manager ${JSON.stringify(manager)}`
  })`;
};
