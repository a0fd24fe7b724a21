/**
 * The PrometheusRule `<cr>-metrics`: alerts about one server. Its series are those of one namespace and resource, since names
 * repeat across namespaces. The buckets of the server's own histograms begin at five seconds, so that means count, not quantiles.
 */
import type { Blueprint, Manifest } from "./blueprint.ts";
import { startupSeconds } from "./deployment.ts";
import { manifest, type PrometheusAlert } from "./kubernetes_objects.ts";
import { isMonitoredBy, monitoringMetadata, monitorName } from "./pod_monitor.ts";

/** Undefined where it is not wanted, the server has no metrics, or the API server does not have the kind. */
export const prometheusRule = (blueprint: Blueprint): Manifest | undefined =>
  blueprint.spec.monitoring?.rules === false || !isMonitoredBy("PrometheusRule", blueprint)
    ? undefined
    : manifest<"PrometheusRule">({
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: monitoringMetadata(blueprint),
      spec: { groups: [{ name: "llama-stack-server", rules: alerts(blueprint) }] },
    });

const alerts = (
  { name, namespace, spec }: Pick<Blueprint, "name" | "namespace" | "spec">,
): ReadonlyArray<PrometheusAlert> => {
  const series = (metric: string, ...more: ReadonlyArray<string>) =>
    `${metric}{${[`namespace="${namespace}"`, `app_kubernetes_io_instance="${name}"`, ...more].join(",")}}`;
  const rate = (metric: string, ...more: ReadonlyArray<string>) =>
    `sum by (namespace, app_kubernetes_io_instance) (rate(${series(metric, ...more)}[5m]))`;
  const server = `The server ${name} in namespace ${namespace}`;
  return [
    {
      alert: "LlamaStackServerUnreachable",
      expr: `min by (namespace, app_kubernetes_io_instance, pod) (${
        // Of the PodMonitor, and of no other job that has the label.
        series("up", `job="${namespace}/${monitorName(name)}"`)}) == 0`,
      for: `${Math.ceil(startupSeconds(spec) / 60) + 5}m`,
      labels: { severity: "warning" },
      annotations: { summary: `${server} has a pod whose metrics Prometheus cannot read: {{ $labels.pod }}.` },
    },
    {
      alert: "LlamaStackServerErrors",
      expr: `${rate("ogx_requests_total", 'api!="inspect"', 'status_code=~"5.."')} / ` +
        `${rate("ogx_requests_total", 'api!="inspect"')} > 0.05`,
      for: "10m",
      labels: { severity: "warning" },
      annotations: { summary: `${server} answers more than a twentieth of its requests with an error of its own.` },
    },
    {
      alert: "LlamaStackServerSlow",
      expr: `${rate("ogx_request_duration_seconds_sum", 'api="inspect"')} / ` +
        `${rate("ogx_request_duration_seconds_count", 'api="inspect"')} > 1`,
      for: "15m",
      labels: { severity: "warning" },
      annotations: {
        summary: `${server} takes more than a second to answer requests for its health: it is overloaded.`,
      },
    },
  ];
};
