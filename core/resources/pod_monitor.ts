/** The PodMonitor `<cr>-metrics`: Prometheus reads the metrics of the pods of this resource, and of no other. */
import { METRICS_PORT_NAME } from "../config/metrics.ts";
import type { Blueprint, Manifest, OptionalKind } from "./blueprint.ts";
import { manifest } from "./kubernetes_objects.ts";
import { metadataOf, selectorOf } from "./metadata.ts";

export const monitorName = (name: string): string => `${name}-metrics`;

/** Undefined where the server has no metrics, or the API server does not have the kind. */
export const podMonitor = (blueprint: Blueprint): Manifest | undefined =>
  !isMonitoredBy("PodMonitor", blueprint) ? undefined : manifest<"PodMonitor">({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: monitoringMetadata(blueprint),
    spec: {
      selector: { matchLabels: selectorOf(blueprint.name) },
      // Series then name the resource, as app_kubernetes_io_instance.
      podTargetLabels: ["app.kubernetes.io/instance"],
      podMetricsEndpoints: [{ port: METRICS_PORT_NAME }],
    },
  });

export const isMonitoredBy = (kind: OptionalKind, { metrics, platform }: Blueprint): boolean =>
  metrics.kind === "served" && platform.served.includes(kind);

/** With the labels by which a Prometheus selects what it reads. */
export const monitoringMetadata = (blueprint: Blueprint) => {
  const metadata = metadataOf(blueprint, monitorName(blueprint.name));
  return { ...metadata, labels: { ...blueprint.spec.monitoring?.labels, ...metadata.labels } };
};
