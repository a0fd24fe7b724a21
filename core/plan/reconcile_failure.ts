/** Every failure that can prevent the reconciliation of a resource, as declared by the steps of a reconciliation. */
import type { PreparationFailure } from "./prepare.ts";
import type { DataFailure } from "./stored_data/stored_data.ts";
import type { DeletionPending, OlderServer, OwnershipConflict, Unwritten } from "../failure/failures.ts";
import type { UpgradeConfigFailure } from "./upgrade_config_failure.ts";

export type ReconcileFailure =
  | PreparationFailure
  | DataFailure
  | UpgradeConfigFailure
  | OlderServer
  | OwnershipConflict
  | DeletionPending
  | Unwritten;
