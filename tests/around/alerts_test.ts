/** The alert rules by the judgement of promtool: well-formed, and each fires after its time for its series only. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { objectAt } from "../../core/data/json.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { ended } from "../../tools/install/run_program.ts";
import { ALERTS, JOB, prometheusRule } from "../../tools/package/alerts.ts";

/** Values of series by minute, in the notation of promtool. */
type SeriesByName = Readonly<Record<string, string>>;

const HOURS = 12;
const MINUTES = HOURS * 60;
const constant = (value: number): string => `${value}x${MINUTES}`;

/** Two replicas that do their work; a certificate of seven days that is renewed when two thirds are over. */
const HEALTHY: SeriesByName = {
  'up{pod="a"}': constant(1),
  'up{pod="b"}': constant(1),
  'leader_election_master_status{pod="a"}': constant(1),
  'leader_election_master_status{pod="b"}': constant(0),
  "controller_runtime_reconcile_total": `0+60x${MINUTES}`,
  "controller_runtime_reconcile_errors_total": `0+6x${MINUTES}`,
  "workqueue_depth": "0 3 0 0 5 0 ".repeat(MINUTES / 6).trimEnd(),
  'llama_stack_operator_certificate_expiry_timestamp_seconds{certificate="serving"}': constant(2.4 * 24 * 3600),
  'llama_stack_operator_resources{phase="Ready"}': constant(5),
  'llama_stack_operator_resources{phase="Suspended"}': constant(1),
  'llama_stack_operator_resources{phase="Failed"}': constant(0),
  'llama_stack_operator_resources{phase="Initializing"}': constant(3),
  // An upgrade of many servers, a few at a time: each takes up to 20 minutes.
  'llama_stack_operator_unready_resources{reason="RolloutInProgress"}': constant(3),
  'llama_stack_operator_unready_seconds{reason="RolloutInProgress"}': "0+60x19 ".repeat(MINUTES / 20).trimEnd(),
  'llama_stack_operator_abnormal_resources{condition="ObjectRefused"}': constant(0),
  // An edit is seen by a scrape before it is reconciled.
  "llama_stack_operator_invalid_settings": constant(0),
  "llama_stack_operator_unobserved_resources": "1 0 ".repeat(MINUTES / 2).trimEnd(),
};

interface Situation {
  readonly series: SeriesByName;
  /** Of the alert, besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  LlamaStackOperatorDown: { series: { 'up{pod="a"}': constant(0), 'up{pod="b"}': constant(0) } },
  LlamaStackOperatorWithoutLeader: { series: { 'leader_election_master_status{pod="a"}': constant(0) } },
  LlamaStackOperatorCannotRead: {
    series: { 'llama_stack_operator_unreadable{what="/api/v1/secrets"}': constant(1) },
    labels: { what: "/api/v1/secrets" },
  },
  LlamaStackOperatorIgnoresEdits: { series: { "llama_stack_operator_unobserved_resources": constant(1) } },
  LlamaStackOperatorPassesFail: { series: { "controller_runtime_reconcile_errors_total": `0+15x${MINUTES}` } },
  LlamaStackOperatorQueueGrows: { series: { "workqueue_depth": `1+2x${MINUTES}` } },
  LlamaStackOperatorSettingsInvalid: { series: { "llama_stack_operator_invalid_settings": constant(1) } },
  LlamaStackOperatorCertificateExpires: {
    series: {
      'llama_stack_operator_certificate_expiry_timestamp_seconds{certificate="serving"}': constant(24 * 3600),
    },
    labels: { certificate: "serving" },
  },
  LlamaStackServersNotReady: {
    series: { 'llama_stack_operator_unready_seconds{reason="CrashLoop"}': `1800+60x${MINUTES}` },
    labels: { reason: "CrashLoop" },
  },
  LlamaStackServersStalled: {
    series: { 'llama_stack_operator_stalled_resources{phase="Ready",reason="UpgradeFailed"}': constant(1) },
    labels: { phase: "Ready", reason: "UpgradeFailed" },
  },
  LlamaStackServersIncomplete: {
    series: { 'llama_stack_operator_abnormal_resources{condition="ObjectRefused"}': constant(1) },
    labels: { condition: "ObjectRefused" },
  },
};

Deno.test("promtool finds nothing to complain about in the rules", async () => {
  await withRules(async (folder, promtool) => {
    const { code, stdout, stderr } = await ended(promtool, ["check", "rules", "--lint=all", join(folder, RULES)]);
    strictEqual(code, 0, `${stdout}${stderr}`);
    ok(stdout.includes(`${ALERTS.length} rules found`), stdout);
  });
});

Deno.test("every alert fires after its time in its situation, no other one with it, and none on a healthy cluster", async () => {
  deepStrictEqual(Object.keys(SITUATIONS), ALERTS.map(({ name }) => name));
  await withRules(async (folder, promtool) => {
    const tests = [
      testOf("healthy", HEALTHY, undefined),
      ...Object.entries(SITUATIONS).map(([name, { series, labels }]) =>
        testOf(name, { ...HEALTHY, ...series }, { name, labels: labels ?? {} })
      ),
    ];
    const file = join(folder, "tests.yaml");
    await Deno.writeTextFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
    const { code, stdout, stderr } = await ended(promtool, ["test", "rules", file]);
    strictEqual(code, 0, `${stdout}${stderr}`);
  });
});

const RULES = "rules.yaml";

const withRules = async (use: (folder: string, promtool: string) => Promise<void>): Promise<void> => {
  const { promtool } = await installControlPlane(["promtool"]);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, RULES), JSON.stringify(objectAt(prometheusRule(), "spec")));
    await use(folder, promtool);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

/** An alert is not there just before its time, and is there some evaluations later; the others are never there. */
const testOf = (
  name: string,
  series: SeriesByName,
  expected: { readonly name: string; readonly labels: Readonly<Record<string, string>> } | undefined,
) => ({
  name,
  interval: "1m",
  input_series: Object.entries(series).map(([series, values]) => ({ series: withJob(series), values })),
  alert_rule_test: ALERTS.flatMap((alert) => {
    const silent = (at: string) => ({ eval_time: at, alertname: alert.name, exp_alerts: [] });
    if (alert.name !== expected?.name) return ["20m", "65m", `${MINUTES}m`].map(silent);
    const summary = Object.entries(expected.labels).reduce(
      (text, [label, value]) => text.replaceAll(`{{ $labels.${label} }}`, value),
      alert.summary,
    );
    const fires = {
      eval_time: `${alert.minutes + SLACK_MINUTES}m`,
      alertname: alert.name,
      exp_alerts: [{
        exp_labels: { ...expected.labels, severity: alert.severity },
        exp_annotations: { summary },
      }],
    };
    return [silent(`${alert.minutes - 1}m`), fires];
  }),
});

/** Growth of a queue is known after two values. */
const SLACK_MINUTES = 3;

const withJob = (series: string): string =>
  series.includes("{") ? series.replace("{", `{${JOB},`) : `${series}{${JOB}}`;
