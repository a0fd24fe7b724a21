/** Whose doing a failure is: the author of the resource, or the operator. */
import { member, objectAt, stringAt } from "../json.ts";
import type { Inputs } from "./inputs.ts";
import { GENERATION_ANNOTATION, OPERATOR_VERSION_ANNOTATION } from "./record.ts";
import { inputsChanged } from "./rollout.ts";
import { liveKey, type World } from "./world.ts";

/**
 * Whether a failure comes with the operator (another version, setting, image or base config) and not with what the user decides:
 * the resource, and the Secrets and ConfigMaps that it names, are those that were last applied.
 */
export const isOperatorsDoing = (world: World, inputs: Inputs | undefined): boolean => {
  const live = world.live.get(liveKey("Deployment", stringAt(world.resource, "metadata", "name") ?? ""));
  const recorded = (name: string) => stringAt(live, "metadata", "annotations", name);
  if (recorded(GENERATION_ANNOTATION) === undefined) return false;
  return inputs === undefined
    ? recorded(GENERATION_ANNOTATION) === String(member(objectAt(world.resource, "metadata"), "generation") ?? 0) &&
      recorded(OPERATOR_VERSION_ANNOTATION) !== world.operator.version
    : !inputsChanged(inputs, recorded).byUser;
};
