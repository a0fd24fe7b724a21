/** Who caused a failure: the author of the resource, or the operator. */
import type { OperatorInputs } from "./upgrade_config_failure.ts";
import { type Inputs, inputsChanged } from "./inputs.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { liveObject } from "../snapshot/live_object.ts";

/**
 * What the operator contributed to the last good config, where a failure comes with the operator (another version, setting,
 * image or base config) and not with what the user decides: the resource, and the Secrets and ConfigMaps that it names, are
 * those that were last applied. Undefined where it is the user's doing, or nothing was applied yet.
 */
export const operatorInputsBefore = (
  snapshot: ClusterSnapshot,
  inputs: Inputs | undefined,
): OperatorInputs | undefined => {
  const { record = {} } = deploymentIn(snapshot) ?? {};
  const { generation, operatorVersion: version, pins } = record;
  if (generation === undefined) return undefined;
  const isOperators = inputs === undefined
    ? generation === String(liveObject(snapshot.resource).generation) &&
      version !== snapshot.operator.version
    : !inputsChanged(inputs, record).isEdited;
  return isOperators ? { version, pins } : undefined;
};
