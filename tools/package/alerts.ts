/** Alerts on the operator and on the servers that it manages. */
import type { JsonObject } from "../../core/data/json.ts";
import { METRICS_SERVICE } from "../../core/api/own_objects.ts";
import { metadata, NAME, NAMESPACE } from "./names.ts";

export interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly minutes: number;
  readonly severity: "warning" | "critical";
  readonly summary: string;
  /** For docs/observability.md. */
  readonly advice: string;
}

/** A ServiceMonitor names the job after the Service. */
export const JOB = `job="${METRICS_SERVICE}"`;

const EXPIRY_SECONDS = 24 * 3600;
const UNREADY_SECONDS = 1800;

export const ALERTS: ReadonlyArray<Alert> = [
  {
    name: "LlamaStackOperatorDown",
    expression: `absent(up{${JOB}} == 1)`,
    minutes: 10,
    severity: "critical",
    summary: "No replica of the Llama Stack operator answers; servers keep running, but edits are not applied.",
    advice: "check the pods and events of the operator's namespace. If the pods are ready, check that Prometheus may " +
      "read `/metrics` and connect to port 8443",
  },
  {
    name: "LlamaStackOperatorWithoutLeader",
    expression: `sum(leader_election_master_status{${JOB}}) == 0`,
    minutes: 5,
    severity: "critical",
    summary: "No replica of the Llama Stack operator holds the lease.",
    advice: "check the Lease `llama-stack-operator` of the operator's namespace, and the log for `lease call failed`",
  },
  {
    name: "LlamaStackOperatorCannotRead",
    expression: `max by (what) (llama_stack_operator_unreadable{${JOB}}) == 1`,
    minutes: 5,
    severity: "critical",
    summary: "The API server does not let the Llama Stack operator read {{ $labels.what }}; edits are not applied.",
    advice:
      "`/readyz` of the operator and its log line `watch failed` show the response of the API server: usually a " +
      "ClusterRole that was changed, or a CustomResourceDefinition that was deleted. Apply the installation again",
  },
  {
    name: "LlamaStackOperatorIgnoresEdits",
    expression: `sum(llama_stack_operator_unobserved_resources{${JOB}}) > 0`,
    minutes: 15,
    severity: "critical",
    summary: "The last edit of a LlamaStackDistribution has not been reconciled for 15 minutes.",
    advice: "find the resources whose `status.observedGeneration` is less than `metadata.generation`, and the last " +
      "lines of the log about them",
  },
  {
    name: "LlamaStackOperatorPassesFail",
    expression: `sum(rate(controller_runtime_reconcile_errors_total{${JOB}}[10m])) / ` +
      `sum(rate(controller_runtime_reconcile_total{${JOB}}[10m])) > 0.2`,
    minutes: 15,
    severity: "warning",
    summary: "More than a fifth of the reconciliations of the Llama Stack operator end with an error; see its log.",
    advice: "the log lines `call failed` and `reconciliation failed` name the request and the response",
  },
  {
    name: "LlamaStackOperatorQueueGrows",
    expression: `max(workqueue_depth{${JOB}}) > 0 and deriv(max(workqueue_depth{${JOB}})[15m:]) > 0`,
    minutes: 15,
    severity: "warning",
    summary: "The Llama Stack operator does not keep up with the changes of resources.",
    advice:
      "check the CPU of the operator, the latency of the API server, and who changes resources or their objects " +
      "so often (condition `Contested`)",
  },
  {
    name: "LlamaStackOperatorSettingsInvalid",
    expression: `max(llama_stack_operator_invalid_settings{${JOB}}) > 0`,
    minutes: 15,
    severity: "warning",
    summary: "Entries of the settings of the Llama Stack operator are invalid, and have no effect.",
    advice: "the log line `invalid settings` and the Event `SettingsUnreadable` of the ConfigMap list them, and say " +
      "which value applies instead. See [settings.md](settings.md)",
  },
  {
    name: "LlamaStackOperatorCertificateExpires",
    expression: `min by (certificate) (llama_stack_operator_certificate_expiry_timestamp_seconds{${JOB}}) - time() < ` +
      String(EXPIRY_SECONDS),
    minutes: 30,
    severity: "critical",
    summary:
      "The {{ $labels.certificate }} certificate of the Llama Stack operator's webhooks expires within a day; then " +
      "v1alpha1 cannot be read or written.",
    advice: "the operator renews its certificates days before; the log line `certificates not updated` says why it " +
      "could not. If `--certificate-directory` is set, renew that certificate",
  },
  {
    name: "LlamaStackServersNotReady",
    // The time of one resource, so that an upgrade of many, a few at a time, is no reason for an alert.
    expression: `max by (reason) (llama_stack_operator_unready_seconds{${JOB}}) > ${UNREADY_SECONDS}`,
    minutes: 5,
    severity: "warning",
    summary: "A LlamaStackDistribution has not been ready for more than half an hour ({{ $labels.reason }}); " +
      "`llama-stack-operator explain NAME -n NAMESPACE` shows the cause.",
    advice: "the resource has not been ready for half an hour. `kubectl get llsd -A -o wide` shows phase and reason. " +
      "See [the runbook](runbook.md#a-resource-is-not-ready)",
  },
  {
    name: "LlamaStackServersStalled",
    expression: `sum by (phase, reason) (llama_stack_operator_stalled_resources{${JOB}}) > 0`,
    minutes: 15,
    severity: "warning",
    summary: "LlamaStackDistributions need attention ({{ $labels.reason }}). Their phase is {{ $labels.phase }}: if " +
      "Ready, their servers run with an earlier config or image.",
    advice: "`kubectl get llsd -A -o wide` shows the reason of each; see [conditions.md](conditions.md) and " +
      "[the runbook](runbook.md#an-upgrade-is-stuck). An `UpgradeFailed` also stops the upgrades of other servers",
  },
  {
    name: "LlamaStackServersIncomplete",
    expression: `sum by (condition) (llama_stack_operator_abnormal_resources{${JOB}}) > 0`,
    minutes: 30,
    severity: "warning",
    summary: "LlamaStackDistributions have objects that are not as they ask for ({{ $labels.condition }}): the API " +
      "server refuses them, or another controller keeps changing them.",
    advice: "their condition `ObjectRefused` or `Contested` names the object, and the response or the field manager",
  },
];

export const prometheusRule = (): JsonObject => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: metadata(NAME, "metrics", NAMESPACE),
  spec: {
    groups: [{
      name: NAME,
      rules: ALERTS.map(({ name, expression, minutes, severity, summary }) => ({
        alert: name,
        expr: expression,
        for: `${minutes}m`,
        labels: { severity },
        annotations: { summary },
      })),
    }],
  },
});
