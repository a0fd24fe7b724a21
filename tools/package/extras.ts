/** Optional pieces: what monitoring needs. */
import type { JsonObject } from "../../core/data/json.ts";
import { dashboardMap, type Panel } from "./dashboards.ts";
import { metadata, NAME, NAMESPACE } from "./names.ts";
import { METRICS_SERVICE } from "../../core/api/own_objects.ts";
import { JOB } from "./alerts.ts";

export const serviceMonitor = (): JsonObject => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "ServiceMonitor",
  metadata: metadata(METRICS_SERVICE, "metrics", NAMESPACE),
  spec: {
    endpoints: [{
      port: "https",
      path: "/metrics",
      scheme: "https",
      bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
      // Each replica signs its own certificate, unless --metrics-certificate-directory gives it one.
      tlsConfig: { insecureSkipVerify: true },
    }],
    selector: { matchLabels: { "app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "metrics" } },
  },
});

const PANELS: ReadonlyArray<Panel> = [
  {
    title: "Resources by phase",
    unit: "short",
    queries: [{ expression: `sum by (phase) (llama_stack_operator_resources{${JOB}})`, legend: "{{phase}}" }],
  },
  {
    title: "Reconciliations by result",
    unit: "ops",
    queries: [{
      expression: `sum by (result) (rate(controller_runtime_reconcile_total{${JOB}}[5m]))`,
      legend: "{{result}}",
    }],
  },
  {
    title: "Duration of a reconciliation",
    unit: "s",
    queries: [0.5, 0.99].map((share) => ({
      expression:
        `histogram_quantile(${share}, sum by (le) (rate(controller_runtime_reconcile_time_seconds_bucket{${JOB}}[5m])))`,
      legend: `p${share * 100}`,
    })),
  },
  {
    title: "Writes by kind",
    unit: "ops",
    queries: [{
      expression: `sum by (kind, verb) (rate(llama_stack_operator_writes_total{${JOB}}[5m]))`,
      legend: "{{verb}} {{kind}}",
    }],
  },
  {
    title: "Failures by reason",
    unit: "ops",
    queries: [{
      expression: `sum by (reason) (rate(llama_stack_operator_failures_total{${JOB}}[5m]))`,
      legend: "{{reason}}",
    }],
  },
  {
    title: "Stalled resources by reason",
    unit: "short",
    queries: [{
      expression: `sum by (phase, reason) (llama_stack_operator_stalled_resources{${JOB}})`,
      legend: "{{reason}}, {{phase}}",
    }],
  },
  {
    title: "Longest time that a resource is not ready, by reason",
    unit: "s",
    queries: [{
      expression: `max by (reason) (llama_stack_operator_unready_seconds{${JOB}})`,
      legend: "{{reason}}",
    }],
  },
  {
    title: "Resources with refused or contested objects",
    unit: "short",
    queries: [{
      expression: `sum by (condition) (llama_stack_operator_abnormal_resources{${JOB}})`,
      legend: "{{condition}}",
    }],
  },
  {
    title: "Edits that have not been reconciled",
    unit: "short",
    queries: [{ expression: `sum(llama_stack_operator_unobserved_resources{${JOB}})`, legend: "resources" }],
  },
  {
    title: "Resident memory",
    unit: "bytes",
    queries: [{ expression: `process_resident_memory_bytes{${JOB}}`, legend: "{{pod}}" }],
  },
];

/** Of the operator itself. */
export const dashboard = (): JsonObject =>
  dashboardMap({ name: NAME, title: "Llama Stack operator", panels: PANELS, variables: [] });
