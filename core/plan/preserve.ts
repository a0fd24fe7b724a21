/**
 * Failure preservation: while a resource cannot be reconciled, its Deployment, ConfigMaps and Secrets are unchanged.
 *
 * The type of the decision guarantees this: none of its steps can write one of them. The number of replicas, Events and
 * the status are still updated, and a Service, ServiceAccount or NetworkPolicy that somebody deleted is created again.
 */
import { isReadonlyArrayNonEmpty } from "effect/Array";
import type { Spec } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "./reconcile_failure.ts";
import { UpgradeConfigFailure } from "./upgrade_config_failure.ts";
import { type Inputs, inputsChanged } from "./inputs.ts";
import type { PreservationDecision } from "./decision.ts";
import type { PreparationFailure } from "./prepare.ts";
import { restored } from "./restore_missing.ts";
import { restsOn } from "./rests_on.ts";
import { scaling } from "./scale.ts";
import type { DataFailure } from "./stored_data/stored_data.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { liveObject } from "../snapshot/live_object.ts";
import type { RolloutRecord } from "../snapshot/record.ts";

export const preserve = (
  snapshot: ClusterSnapshot,
  failures: ReadonlyArray<ReconcileFailure>,
  { spec, ...known }: Pick<PreservationDecision, "warnings" | "prepared"> & { readonly spec: Spec | undefined },
): PreservationDecision => ({
  kind: "preserved",
  steps: [...restored(snapshot, spec), ...scaling(snapshot)],
  failures,
  ...known,
});

/**
 * By cause: failures that come with the operator become one `UpgradeConfigFailure`, the others stay what they are. Missing
 * Secrets and ConfigMaps, and registries, are never attributed to the operator.
 */
export const byCause = (
  snapshot: ClusterSnapshot,
  failures: ReadonlyArray<PreparationFailure | DataFailure>,
  inputs: Inputs | undefined,
): ReadonlyArray<ReconcileFailure> => {
  const { record = {} } = deploymentIn(snapshot) ?? {};
  const isCause = (failure: PreparationFailure | DataFailure) =>
    restsOn(failure) !== "elsewhere" && !isOfLabels(failure);
  const causes = failures.filter(isCause);
  if (!comesWithOperator(snapshot, inputs, record) || !isReadonlyArrayNonEmpty(causes)) return failures;
  return [
    new UpgradeConfigFailure({ from: record.operatorVersion, to: snapshot.operator.version, causes }),
    ...failures.filter((failure) => !isCause(failure)),
  ];
};

/**
 * Whether a failure comes with the operator (another version, setting, image or base config) and not with what the user decides:
 * the resource, and the Secrets and ConfigMaps that it names, are those that were last applied. Not if nothing was applied yet.
 */
const comesWithOperator = (
  { resource, operator }: ClusterSnapshot,
  inputs: Inputs | undefined,
  record: RolloutRecord,
): boolean => {
  const { generation, operatorVersion } = record;
  if (generation === undefined) return false;
  return inputs === undefined
    ? generation === String(liveObject(resource).generation) && operatorVersion !== operator.version
    : !inputsChanged(inputs, record).isEdited;
};

const isOfLabels = (failure: PreparationFailure | DataFailure): boolean =>
  failure._tag === "BaseConfigRequired" && failure.labels !== undefined ||
  (failure._tag === "UnsupportedImageVersion" || failure._tag === "OverrideForOtherServerFamily") &&
    failure.isRequested === true;
