/** A decision about one resource: the writes, and what the report about them needs to know. */
import type { DeletionPending, OwnershipConflict } from "../failure/failures.ts";
import type { ReconcileFailure } from "./reconcile_failure.ts";
import type { Warning } from "../failure/warning.ts";
import type { RollingUpgrade } from "../snapshot/rolling_upgrade.ts";
import type { Waiting } from "./rollout/upgrade_slots.ts";
import type { Prepared } from "./prepare.ts";
import type { Rollout } from "./rollout/rollout.ts";
import type { Restoration, Scaling, WriteStep } from "./step.ts";

export type Decision =
  /** The resource is being deleted: owner references do the rest. */
  | { readonly kind: "nothing"; readonly steps: ReadonlyArray<never> }
  | { readonly kind: "suspended"; readonly steps: ReadonlyArray<never> }
  | PreservationDecision
  | RolloutDecision;

/** The resource cannot be reconciled. No step of this type can write a Deployment, a ConfigMap or a Secret. */
export interface PreservationDecision {
  readonly kind: "preserved";
  readonly steps: ReadonlyArray<Scaling | Restoration>;
  readonly failures: ReadonlyArray<ReconcileFailure>;
  readonly warnings: ReadonlyArray<Warning>;
  /** What was prepared, where that succeeded. */
  readonly prepared: Prepared | undefined;
}

export interface RolloutDecision {
  readonly kind: "rollout";
  readonly steps: ReadonlyArray<WriteStep>;
  readonly prepared: Prepared;
  readonly rollout: Rollout;
  /** Objects that the server can do without, and whose names are taken. */
  readonly conflicts: ReadonlyArray<OwnershipConflict | DeletionPending>;
  /** What the change means for data that the server stored. */
  readonly notices: ReadonlyArray<string>;
  /** Whether the Deployment gets another pod template. */
  readonly replacesPods: boolean;
  /** The upgrade slot that it takes, which counts from now on and not only once its Deployment is written. */
  readonly slot: RollingUpgrade | undefined;
}

/** The upgrade that waits in the queue, with the failed one that stops it. */
export const waitingIn = (decision: Decision): (Waiting & { readonly stoppedAt: string | undefined }) | undefined => {
  if (decision.kind !== "rollout" || decision.rollout.kind !== "queue") return undefined;
  const { waiting, stoppedAt } = decision.rollout;
  return { ...waiting, stoppedAt };
};
