/**
 * Failure preservation: while a resource cannot be reconciled, its Deployment, ConfigMaps and Secrets stay as they are.
 *
 * The type of the plan says so: none of its steps can write one of them. The number of replicas, Events and the status still
 * follow.
 */
import { isReadonlyArrayNonEmpty } from "effect/Array";
import type { ReconcileFailure } from "../failure/reconcile_failure.ts";
import { conditionOf } from "../failure/table.ts";
import { UpgradeConfigFailure } from "../failure/upgrade_config_failure.ts";
import type { Warning } from "../failure/warning.ts";
import { summarise } from "../status/summarise.ts";
import { announcements } from "./announcements.ts";
import { operatorInputsBefore } from "./blame.ts";
import type { Inputs } from "./inputs.ts";
import type { PreparationFailure, Prepared } from "./prepare.ts";
import { scaling } from "./scale.ts";
import { statusSteps } from "./status_step.ts";
import { type Announcement, NO_TURN, type Plan, type Scaling, type StatusUpdate } from "./step.ts";
import type { DataFailure } from "./stored_data.ts";
import { unwatchedMs } from "./unwatched.ts";
import type { World } from "./world.ts";

export interface PreservationPlan extends Plan {
  readonly steps: ReadonlyArray<Scaling | Announcement | StatusUpdate>;
}

/** What was known of the resource when it failed. */
export interface Known {
  readonly warnings: ReadonlyArray<Warning>;
  readonly prepared: Prepared | undefined;
  /** What the author decides; undefined where the resource could not be decoded. */
  readonly inputs: Inputs | undefined;
}

export const preserve = (
  world: World,
  failures: ReadonlyArray<ReconcileFailure>,
  { warnings, prepared }: Omit<Known, "inputs">,
): PreservationPlan => {
  const status = summarise(world, { prepared, failures, warnings, rollout: undefined, suspended: false });
  return {
    steps: [...scaling(world), ...announcements(world, failures, status), ...statusSteps(world, status)],
    lookAgainMs: unwatchedMs(world),
    failures,
    statusIsOf: "what is made",
    turn: NO_TURN,
  };
};

/**
 * By cause: failures that come with the operator become one `UpgradeConfigFailure`, the others stay what they are. Missing
 * Secrets and ConfigMaps are never the operator's doing.
 */
export const byCause = (
  world: World,
  failures: ReadonlyArray<PreparationFailure | DataFailure>,
  inputs: Inputs | undefined,
  pins: string | undefined,
): ReadonlyArray<ReconcileFailure> => {
  const from = operatorInputsBefore(world, inputs);
  const causes = failures.filter((failure) => conditionOf(failure) === "ConfigGenerated");
  if (from === undefined || !isReadonlyArrayNonEmpty(causes)) return failures;
  const to = { version: world.operator.version, pins };
  return [
    new UpgradeConfigFailure({ from, to, causes }),
    ...failures.filter((failure) => conditionOf(failure) !== "ConfigGenerated"),
  ];
};
