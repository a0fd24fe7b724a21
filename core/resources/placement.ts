/** Where pods go: spread over nodes and zones where there is more than one, unless the author says otherwise. */
import type { Json, JsonObject } from "../json.ts";
import type { Blueprint } from "./blueprint.ts";
import { selectorOf } from "./metadata.ts";

const DOMAINS = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"];

/**
 * The parts of a pod spec that place it. All are wishes and not demands, and they are the same for one pod as for many:
 * scaling must not change the template.
 */
export const placement = ({ name, spec }: Blueprint): JsonObject => {
  const { topologySpreadConstraints: own, overrides = {} } = spec.workload ?? {};
  const labelSelector: JsonObject = {
    matchLabels: { "app.kubernetes.io/instance": selectorOf(name)["app.kubernetes.io/instance"] ?? name },
  };
  const spread = own !== undefined && own.length > 0
    ? own as unknown as Json
    : DOMAINS.map((topologyKey) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector }));
  const apart: JsonObject = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector } },
      ],
    },
  };
  const affinity = overrides.affinity === undefined ? apart : overrides.affinity as unknown as Json;
  return {
    topologySpreadConstraints: spread,
    affinity,
    ...(overrides.nodeSelector === undefined ? {} : { nodeSelector: overrides.nodeSelector }),
    ...(overrides.tolerations === undefined ? {} : { tolerations: overrides.tolerations as unknown as Json }),
  };
};
