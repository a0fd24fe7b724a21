/** The PodDisruptionBudget `<cr>-pdb`: if requested, or for more than one pod. */
import { type Blueprint, type Manifest, replicasOf } from "./blueprint.ts";
import { metadataOf, selectorOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

/** Pods that may be unavailable at once, if the resource sets neither bound. */
export const UNAVAILABLE_DEFAULT = 1;

const disruptionBudgetName = (name: string): string => `${name}-pdb`;

export const disruptionBudget = (blueprint: Blueprint): Manifest | undefined => {
  const { name, spec } = blueprint;
  const asked = spec.workload?.podDisruptionBudget;
  if (asked === undefined && replicasOf(spec) <= 1) return undefined;
  const { minAvailable, maxUnavailable } = asked ?? {};
  return manifest<"PodDisruptionBudget">({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(blueprint, disruptionBudgetName(name)),
    spec: {
      selector: { matchLabels: selectorOf(name) },
      ...(minAvailable === undefined ? { maxUnavailable: maxUnavailable ?? UNAVAILABLE_DEFAULT } : { minAvailable }),
    },
  });
};
