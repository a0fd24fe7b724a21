import type { ReconcileFailure } from "../failure/reconcile_failure.ts";
import type { Warning } from "../failure/warning.ts";
import type { Prepared } from "../plan/prepare.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import type { Contest } from "../snapshot/contest.ts";

/** What a reconciliation decided, as far as status tells of it. */
export interface Decided {
  /** Undefined when the resource could not be prepared. */
  readonly prepared: Prepared | undefined;
  readonly failures: ReadonlyArray<ReconcileFailure>;
  readonly warnings: ReadonlyArray<Warning>;
  /** What becomes of the pod template; undefined when nothing could be decided about it. */
  readonly rollout: Rollout | undefined;
  readonly suspended: boolean;
  /** Fields that somebody overwrites again and again. */
  readonly contested?: ReadonlyArray<Contest>;
  /** Fields as a policy of the cluster rewrote them, as `Kind name: path`; undefined when nobody looked. */
  readonly byPolicy?: ReadonlyArray<string>;
}
