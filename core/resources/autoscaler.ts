/** The HorizontalPodAutoscaler `<cr>-hpa`. */
import type { V2MetricSpec } from "@kubernetes/client-node";
import { type Blueprint, type Manifest, replicasOf } from "./blueprint.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { metadataOf } from "./metadata.ts";
import { type AsJson, manifest } from "./kubernetes_objects.ts";

const autoscalerName = (name: string): string => `${name}-hpa`;

/** Percent of the CPU request, if the resource sets no target. Source: the Go operator, whose servers are adopted. */
export const CPU_PERCENT_DEFAULT = 80;

/** A maximum of 0 switches it off (such objects of the older API stay writable). */
export const autoscales = ({ spec }: Pick<Blueprint, "spec">): boolean =>
  (spec.workload?.autoscaling?.maxReplicas ?? 0) > 0;

/** Whether the number of pods is not for the operator to set: its own autoscaler does, or somebody else. */
export const isScaledElsewhere = (blueprint: Pick<Blueprint, "spec">): boolean =>
  autoscales(blueprint) || blueprint.spec.workload?.scaling === "External";

/** They would change the number of pods in turns. `scalers`: the names of all that do, the operator's own among them. */
export const scalerWarnings = (
  { spec }: Pick<Blueprint, "spec">,
  scalers: ReadonlyArray<string>,
): ReadonlyArray<Warning> =>
  scalers.length < 2 ? [] : [
    warning(
      "SeveralAutoscalers",
      ["spec", "workload", spec.workload?.scaling === "External" ? "scaling" : "autoscaling"],
      `${scalers.length} HorizontalPodAutoscalers change the number of pods in turns: ${
        scalers.slice(0, NAMES_MAX).join(", ")
      }; keep one of them`,
    ),
  ];

const NAMES_MAX = 5;

/** Never below the replicas of the resource, and never above its maximum. Source: the Go operator. */
export const autoscalerMinimum = ({ spec }: Blueprint): number => {
  const { minReplicas = 1, maxReplicas = 1 } = spec.workload?.autoscaling ?? {};
  return Math.min(Math.max(1, maxReplicas), Math.max(1, replicasOf(spec), minReplicas));
};

export const autoscaler = (blueprint: Blueprint): Manifest | undefined => {
  const autoscaling = blueprint.spec.workload?.autoscaling;
  if (autoscaling === undefined || !autoscales(blueprint)) return undefined;
  const { targetCPUUtilizationPercentage: cpu, targetMemoryUtilizationPercentage: memory } = autoscaling;
  const targets = [
    ...(cpu !== undefined || memory === undefined ? [utilization("cpu", cpu ?? CPU_PERCENT_DEFAULT)] : []),
    ...(memory === undefined ? [] : [utilization("memory", memory)]),
  ];
  return manifest<"HorizontalPodAutoscaler">({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: metadataOf(blueprint, autoscalerName(blueprint.name)),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: blueprint.name },
      minReplicas: autoscalerMinimum(blueprint),
      maxReplicas: autoscaling.maxReplicas,
      metrics: targets,
    },
  });
};

const utilization = (name: string, averageUtilization: number): AsJson<V2MetricSpec> => ({
  type: "Resource",
  resource: { name, target: { type: "Utilization", averageUtilization } },
});
