/** Scheduling of pods: spread over nodes and zones if there are several, unless the resource sets constraints. */
import type { V1Affinity, V1LabelSelector, V1PodSpec } from "@kubernetes/client-node";
import type { Blueprint } from "./blueprint.ts";
import { selectorOf } from "./metadata.ts";
import type { AsJson } from "./kubernetes_objects.ts";

type Placement = Pick<V1PodSpec, "topologySpreadConstraints" | "affinity" | "nodeSelector" | "tolerations">;

const DOMAINS = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"];

/**
 * The parts of a pod spec that place it. All are wishes and not demands, and they are the same for one pod as for many:
 * scaling must not change the template.
 */
export const placement = ({ name, spec }: Blueprint): AsJson<Placement> => {
  const { topologySpreadConstraints: own, overrides = {} } = spec.workload ?? {};
  const labelSelector: AsJson<V1LabelSelector> = {
    matchLabels: { "app.kubernetes.io/instance": selectorOf(name)["app.kubernetes.io/instance"] ?? name },
  };
  const spread = own !== undefined && own.length > 0
    ? own as unknown as NonNullable<AsJson<Placement>["topologySpreadConstraints"]>
    : DOMAINS.map((topologyKey) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector }));
  const apart: AsJson<V1Affinity> = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector } },
      ],
    },
  };
  const affinity = overrides.affinity === undefined ? apart : overrides.affinity as unknown as AsJson<V1Affinity>;
  return {
    topologySpreadConstraints: spread,
    affinity,
    ...(overrides.nodeSelector === undefined ? {} : { nodeSelector: overrides.nodeSelector }),
    ...(overrides.tolerations === undefined
      ? {}
      : { tolerations: overrides.tolerations as unknown as NonNullable<AsJson<Placement>["tolerations"]> }),
  };
};
