/** The HorizontalPodAutoscaler `<cr>-hpa`. */
import type { V2MetricSpec } from "@kubernetes/client-node";
import { type Blueprint, type Manifest, replicasOf } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { type AsJson, manifest } from "./kubernetes_objects.ts";

const autoscalerName = (name: string): string => `${name}-hpa`;

/** Percent of the CPU request, if the resource sets no target. Source: the Go operator, whose servers are adopted. */
export const CPU_PERCENT_DEFAULT = 80;

/** A maximum of 0 switches it off (such objects of the older API stay writable). */
export const autoscales = ({ spec }: Blueprint): boolean => (spec.workload?.autoscaling?.maxReplicas ?? 0) > 0;

/** Whether the number of pods is not for the operator to set: its own autoscaler does, or somebody else. */
export const isScaledElsewhere = (blueprint: Blueprint): boolean =>
  autoscales(blueprint) || blueprint.spec.workload?.scaling === "External";

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
