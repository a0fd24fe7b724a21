/** Where pods go: spread over nodes and zones where there is more than one, unless the author says otherwise. */
import type { Json, JsonObject } from "../json.ts";
import { type Blueprint, replicasOf } from "./blueprint.ts";
import { selectorOf } from "./metadata.ts";

const DOMAINS = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"];

/** The parts of a pod spec that place it; absent ones are left out. */
export const placement = ({ name, spec }: Blueprint): JsonObject => {
  const { topologySpreadConstraints: own, overrides = {} } = spec.workload ?? {};
  const labelSelector: JsonObject = {
    matchLabels: { "app.kubernetes.io/instance": selectorOf(name)["app.kubernetes.io/instance"] ?? name },
  };
  const several = replicasOf(spec) > 1 || (spec.workload?.autoscaling?.maxReplicas ?? 0) > 1;
  const spread = own !== undefined && own.length > 0
    ? own as unknown as Json
    : several
    ? DOMAINS.map((topologyKey) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector }))
    : undefined;
  const apart: JsonObject = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector } },
      ],
    },
  };
  const affinity = overrides.affinity === undefined
    ? (several ? apart : undefined)
    : overrides.affinity as unknown as Json;
  return {
    ...(spread === undefined ? {} : { topologySpreadConstraints: spread }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(overrides.nodeSelector === undefined ? {} : { nodeSelector: overrides.nodeSelector }),
    ...(overrides.tolerations === undefined ? {} : { tolerations: overrides.tolerations as unknown as Json }),
  };
};
