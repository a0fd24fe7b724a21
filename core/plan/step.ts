/** A decision as data: the steps in the order of their execution, each with its reason. */
import * as Data from "effect/Data";
import type { Manifest } from "../resources/blueprint.ts";
import type { ManifestOf } from "../resources/kubernetes_objects.ts";
import type { Note } from "../api/events.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { FieldSteps } from "../snapshot/field_set.ts";
import type { ObjectKey } from "../snapshot/object_key.ts";
import type { Precondition } from "./patch.ts";

/**
 * The precondition of a write: the object does not exist, has this version, or the version that an earlier step of the
 * plan left.
 */
export type StepPrecondition = Exclude<Precondition, "any"> | "as just written";

export type Step = Data.TaggedEnum<{
  /**
   * Server-side apply of one object. If the precondition fails, the object is unchanged. `blocks` is whether a
   * rejection stops the later steps.
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
    /** Fields of any manager that the following apply removes. */
    readonly claims: ReadonlyArray<FieldSteps>;
    readonly why: string;
  };
  /** Deletes one object of the operator, only in the observed version. */
  Prune: { readonly key: ObjectKey; readonly uid: string; readonly version: string; readonly why: string };
  /** Changes the number of pods and nothing else. */
  Scale: {
    readonly key: ObjectKey;
    readonly replicas: number;
    readonly precondition: StepPrecondition;
    readonly why: string;
  };
  /** Reports an Event to the owner of the resource, once. */
  Announce: { readonly note: Note };
  SetStatus: { readonly status: Status; readonly why: string };
}>;
export const Step = Data.taggedEnum<Step>();
export type Announcement = Extract<Step, { readonly _tag: "Announce" }>;
/** Creates an object that running pods need, and that nothing of the config is part of. */
export type Restoration = Extract<Step, { readonly _tag: "Apply" }> & {
  readonly manifest: ManifestOf<"NetworkPolicy" | "Service" | "ServiceAccount">;
  readonly precondition: "must not exist";
};
export type Scaling = Extract<Step, { readonly _tag: "Scale" }>;
export type Pruning = Extract<Step, { readonly _tag: "Prune" }>;
export type StatusUpdate = Extract<Step, { readonly _tag: "SetStatus" }>;
/** Steps of a decision; the others report it. */
export type WriteStep = Exclude<Step, Announcement | StatusUpdate>;

/**
 * The steps in groups that may be made at the same time: what the Deployment needs, the Deployment alone, what follows it.
 * A group begins only when the one before it is done.
 */
export const groupsOf = (steps: ReadonlyArray<WriteStep>): ReadonlyArray<ReadonlyArray<WriteStep>> => {
  const groups: Array<Array<WriteStep>> = [];
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
const groupOf = (step: WriteStep): string | undefined => {
  switch (step._tag) {
    case "Apply":
      return step.manifest.kind === "Deployment" ? undefined : `Apply ${step.blocks}`;
    case "TakeOver":
    case "Prune":
      return step._tag;
    case "Scale":
      return undefined;
    default:
      return step satisfies never;
  }
};
