/** A decision is data: the steps in the order in which they are made, each with its reason. */
import { Data } from "effect";
import type { Manifest } from "../resources/blueprint.ts";
import type { Note } from "../status/events.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "../failure/reconcile_failure.ts";
import type { ClaimedField } from "./foreign_fields.ts";
import type { ObjectKey } from "./object_key.ts";
import type { Away, Waiting } from "./pacing.ts";
import type { Precondition } from "./patch.ts";

/** Under which a step is written: there is no such object, it has this version, or that which an earlier step of the plan left. */
export type StepPrecondition = Exclude<Precondition, "any"> | "as just written";

export type Step = Data.TaggedEnum<{
  /**
   * Server-side apply of one object. Where the precondition does not hold, the object stays as it is.
   * `blocks` says whether a refusal stops the steps behind it (R35).
   */
  Apply: {
    readonly manifest: Manifest;
    readonly why: string;
    readonly precondition: StepPrecondition;
    readonly blocks: boolean;
  };
  /** Makes the fields that a former operator of the resource set our own; the object itself stays as it is. */
  TakeOver: {
    readonly key: ObjectKey;
    readonly managers: ReadonlyArray<string>;
    /** Fields of whomever that the apply behind this step takes away. */
    readonly claims: ReadonlyArray<ClaimedField>;
    readonly why: string;
  };
  /** Deletes one object of ours, and only as it was seen. */
  Prune: { readonly key: ObjectKey; readonly uid: string; readonly version: string; readonly why: string };
  /** Changes the number of pods and nothing else. */
  Scale: {
    readonly key: ObjectKey;
    readonly replicas: number;
    readonly precondition: StepPrecondition;
    readonly why: string;
  };
  /** Says something to the owner of the resource, once. */
  Announce: { readonly note: Note };
  SetStatus: { readonly status: Status; readonly why: string };
}>;
export const Step = Data.taggedEnum<Step>();
export type Announcement = Extract<Step, { readonly _tag: "Announce" }>;
export type Scaling = Extract<Step, { readonly _tag: "Scale" }>;
export type StatusUpdate = Extract<Step, { readonly _tag: "SetStatus" }>;

export interface Plan {
  readonly steps: ReadonlyArray<Step>;
  /** Look again after this many milliseconds, even if nothing changes; undefined: wait for a change. */
  readonly lookAgainMs: number | undefined;
  /** What stands in the way, for log and metrics. */
  readonly failures: ReadonlyArray<ReconcileFailure>;
  /** Whether the status speaks of what the writes made, or of what they end: after an undo nobody can see any more why. */
  readonly statusIsOf: "what is made" | "what was seen";
  /** Whether this plan takes part in an upgrade that rolls in turns (R34). */
  readonly turn: Turn;
}

export const NO_TURN: Turn = { kind: "none" };

export type Turn =
  | { readonly kind: "none" }
  /** Decide again with a look at the other resources. */
  | { readonly kind: "wanted" }
  /** The plan takes a slot, which counts from now on and not only once its Deployment is written. */
  | { readonly kind: "taken"; readonly slot: Away }
  /** `stoppedAt`: `namespace/name` of the failed upgrade that stops this one; undefined while it waits for a free slot. */
  | { readonly kind: "waiting"; readonly waiting: Waiting; readonly stoppedAt: string | undefined };

/**
 * The steps in groups that may be made at the same time: what the Deployment needs, the Deployment alone, what follows it.
 * A group begins only when the one before it is done.
 */
export const groupsOf = (steps: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<Step>> => {
  const groups: Array<Array<Step>> = [];
  let last: string | undefined;
  for (const step of steps) {
    const group = groupOf(step);
    if (group === undefined || group !== last) groups.push([step]);
    else groups.at(-1)?.push(step);
    last = group;
  }
  return groups;
};

/** Undefined: alone. */
const groupOf = (step: Step): string | undefined => {
  switch (step._tag) {
    case "Apply":
      return step.manifest.kind === "Deployment" ? undefined : `Apply ${step.blocks}`;
    case "TakeOver":
    case "Prune":
    case "Announce":
      return step._tag;
    case "Scale":
    case "SetStatus":
      return undefined;
  }
};
