/** Everything that can keep a resource from being reconciled: what the steps of a reconciliation say that they can fail with. */
import type { PreparationFailure } from "../plan/prepare.ts";
import type { DataFailure } from "../plan/stored_data/stored_data.ts";
import type { DeletionPending, OwnershipConflict, Unwritten } from "./failures.ts";
import type { UpgradeConfigFailure } from "./upgrade_config_failure.ts";

export type ReconcileFailure =
  | PreparationFailure
  | DataFailure
  | UpgradeConfigFailure
  | OwnershipConflict
  | DeletionPending
  | Unwritten;
