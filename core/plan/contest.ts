/** Fields of ours that somebody changes back after each repair: another controller, say. */
import type { Manifest } from "../resources/blueprint.ts";
import type { ForeignField } from "../world/contest.ts";
import { changedFields } from "./field_owners.ts";
import { SCALE_MANAGER } from "../world/field_manager.ts";
import type { WriteStep } from "./step.ts";
import { liveKey, type World } from "../world/world.ts";
import type { Contest } from "../world/contest.ts";

/** What the steps repair. */
export const repairsIn = (steps: ReadonlyArray<WriteStep>, world: World): ReadonlyArray<ForeignField> =>
  steps.flatMap((step) => step._tag === "Apply" ? foreignIn(step.manifest, world) : [])
    // Nobody overwrites anything where the number of pods goes from one manager of ours to the other.
    .filter(({ manager }) => manager !== SCALE_MANAGER);

const foreignIn = (manifest: Manifest, world: World): ReadonlyArray<ForeignField> =>
  changedFields(manifest, world.live.get(liveKey(manifest.kind, manifest.metadata.name))).byOthers;

/** Contests that go on at this moment. */
export const contestsNow = ({ contests = [], nowMs }: World): ReadonlyArray<Contest> =>
  contests.filter(({ overAtMs }) => overAtMs > nowMs);

/** The steps without repairs that would only be overwritten again: of objects in which nothing else is to be repaired. */
export const withoutHeld = (steps: ReadonlyArray<WriteStep>, world: World): ReadonlyArray<WriteStep> => {
  const held = contestsNow(world).filter(({ heldUntilMs }) => heldUntilMs > world.nowMs);
  if (held.length === 0) return steps;
  const isHeld = (one: ForeignField) =>
    held.some(({ object, field, manager }) =>
      object === one.object && field === one.field && (manager ?? one.manager) === one.manager
    );
  const waiting = new Set(
    steps.flatMap((step) => {
      if (step._tag !== "Apply") return [];
      const fields = foreignIn(step.manifest, world);
      const { kind, metadata: { name } } = step.manifest;
      return fields.length > 0 && fields.every(isHeld) ? [liveKey(kind, name)] : [];
    }),
  );
  return steps.filter((step) => {
    if (step._tag === "Apply") return !waiting.has(liveKey(step.manifest.kind, step.manifest.metadata.name));
    return step._tag !== "TakeOver" || !waiting.has(liveKey(step.key.kind, step.key.name));
  });
};

/** Pause until the next contest may go on or is over, in milliseconds; undefined where there is none. */
export const nextContestMs = (world: World): number | undefined => {
  const times = contestsNow(world).map(({ heldUntilMs, overAtMs }) =>
    heldUntilMs > world.nowMs ? heldUntilMs : overAtMs
  );
  return times.length === 0 ? undefined : Math.max(1, Math.min(...times) - world.nowMs);
};

/** For people: the field and who overwrites it. */
export const contestText = ({ object, field, manager }: Contest): string => {
  if (manager === undefined) return `${object}: ${field} (several field managers)`;
  return `${object}: ${field} (${
    manager === "" ? "unknown field manager" : `field manager ${JSON.stringify(manager)}`
  })`;
};
