import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import type { Warning } from "../failure/warning.ts";
import type { Prepared } from "../plan/prepare.ts";
import type { Rollout } from "../plan/rollout/rollout.ts";
import type { Contest } from "../snapshot/contest.ts";

/** The decision of a reconciliation, as far as the status reports it. */
export interface Decided {
  /** Undefined when the resource could not be prepared. */
  readonly prepared: Prepared | undefined;
  readonly failures: ReadonlyArray<ReconcileFailure>;
  readonly warnings: ReadonlyArray<Warning>;
  /** The decision on the pod template; undefined if there is none. */
  readonly rollout: Rollout | undefined;
  readonly suspended: boolean;
  /** Fields that are repeatedly overwritten. */
  readonly contested?: ReadonlyArray<Contest>;
  /** Fields as rewritten by a policy of the cluster, as `Kind name: path`; undefined if not checked. */
  readonly byPolicy?: ReadonlyArray<string>;
}
