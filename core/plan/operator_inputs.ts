/** Who caused a failure: the author of the resource, or the operator. */
import type { OperatorInputs } from "./upgrade_config_failure.ts";
import { member, objectAt, stringAt } from "../data/json.ts";
import { type Inputs, inputsChanged } from "./inputs.ts";
import { GENERATION_ANNOTATION, OPERATOR_VERSION_ANNOTATION, PINS_ANNOTATION } from "../snapshot/record.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";

/**
 * What the operator contributed to the last good config, where a failure comes with the operator (another version, setting,
 * image or base config) and not with what the user decides: the resource, and the Secrets and ConfigMaps that it names, are
 * those that were last applied. Undefined where it is the user's doing, or nothing was applied yet.
 */
export const operatorInputsBefore = (
  snapshot: ClusterSnapshot,
  inputs: Inputs | undefined,
): OperatorInputs | undefined => {
  const live = snapshot.live.get(liveKey("Deployment", stringAt(snapshot.resource, "metadata", "name") ?? ""));
  const recorded = (name: string) => stringAt(live, "metadata", "annotations", name);
  if (recorded(GENERATION_ANNOTATION) === undefined) return undefined;
  const version = recorded(OPERATOR_VERSION_ANNOTATION);
  const isOperators = inputs === undefined
    ? recorded(GENERATION_ANNOTATION) === String(member(objectAt(snapshot.resource, "metadata"), "generation") ?? 0) &&
      version !== snapshot.operator.version
    : !inputsChanged(inputs, recorded).isEdited;
  return isOperators ? { version, pins: recorded(PINS_ANNOTATION) } : undefined;
};
