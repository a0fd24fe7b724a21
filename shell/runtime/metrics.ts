/** The metrics of the operator, under the names that dashboards of Kubernetes operators expect. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { PrometheusMetrics } from "effect/observability";
import { ABNORMAL, countedBy, type Standings, unreadySince } from "../../core/snapshot/standing.ts";

/** All metrics as Prometheus text. Values that change continuously are computed now: depth, resources, ages, memory. */
export const metricsText = Effect.gen(function* () {
  const figures = yield* LiveFigures;
  const nowMs = yield* Clock.currentTimeMillis;
  const standings = yield* figures.leading?.standings ?? Effect.succeed<Standings>(new Map());
  const phases = countedBy(standings, ({ phase }) => phase);
  const stalled = countedBy(standings, ({ phase, stalledBy }) => stalledBy === "" ? "" : `${phase} ${stalledBy}`);
  const unobserved = countedBy(standings, ({ isObserved }) => isObserved ? "" : "edited");
  const gauges: ReadonlyArray<Gauge> = [
    {
      name: "workqueue_depth",
      help: "Resources that are queued or being reconciled",
      values: [[CONTROLLER, yield* figures.leading?.depth ?? Effect.succeed(0)]],
    },
    {
      name: "llama_stack_operator_resources",
      help: "LlamaStackDistribution resources by phase",
      values: PHASES.map((phase) => [{ phase }, phases.get(phase) ?? 0]),
    },
    {
      name: "llama_stack_operator_stalled_resources",
      help: "LlamaStackDistribution resources that somebody has to fix, by phase and reason",
      values: [...stalled].map(([text, count]) => {
        const [phase = "", reason = ""] = text.split(" ");
        return [{ phase, reason }, count];
      }),
    },
    {
      name: "llama_stack_operator_unobserved_resources",
      help: "LlamaStackDistribution resources whose last edit has not been reconciled",
      values: [[{}, unobserved.get("edited") ?? 0]],
    },
    {
      name: "llama_stack_operator_unready_resources",
      help: "LlamaStackDistribution resources that are neither ready nor stalled, by reason",
      values: [...countedBy(standings, ({ unreadyBy }) => unreadyBy)].map(([reason, count]) => [{ reason }, count]),
    },
    {
      name: "llama_stack_operator_unready_seconds",
      help: "Seconds for which the longest of them has not been ready, by reason",
      values: [...unreadySince(standings)].map(([reason, sinceMs]) => [{ reason }, (nowMs - sinceMs) / 1000]),
    },
    {
      name: "llama_stack_operator_abnormal_resources",
      help: "LlamaStackDistribution resources with an object that is not as they ask for, by condition",
      values: ABNORMAL.map((condition) => [
        { condition },
        countedBy(standings, ({ abnormal }) => abnormal.includes(condition) ? condition : "").get(condition) ?? 0,
      ]),
    },
    {
      name: "llama_stack_operator_invalid_settings",
      help: "Entries of the settings that are invalid; the log says which value applies",
      values: [[{}, figures.invalidSettings]],
    },
    {
      name: "llama_stack_operator_unreadable",
      help: "1 for each kind that the API server does not let the operator list or watch",
      values: [...figures.unreadable.keys()].map((what) => [{ what }, 1]),
    },
    {
      name: "llama_stack_operator_watch_last_event_seconds",
      help: "Seconds since a watch last brought an event or a bookmark",
      values: [...figures.heardAtMs].map(([what, atMs]) => [{ what }, (nowMs - atMs) / 1000]),
    },
    {
      name: "leader_election_master_status",
      help: "1 while this replica is the leader",
      values: [[{ name: "llama-stack-operator" }, figures.leading === undefined ? 0 : 1]],
    },
    {
      name: "llama_stack_operator_certificate_expiry_timestamp_seconds",
      help: "Expiry of a webhook certificate in seconds since the epoch",
      values: [...figures.certificateEndsAtMs].map(([certificate, atMs]) => [{ certificate }, atMs / 1000]),
    },
    {
      name: "process_resident_memory_bytes",
      help: "Resident memory of the process in bytes",
      values: [[{}, Deno.memoryUsage().rss]],
    },
  ];
  return (yield* PrometheusMetrics.format()) + gauges.map(gaugeText).join("");
});

/** The sources of the computed values. */
export class LiveFigures extends Context.Service<LiveFigures, Figures>()("llama-stack-operator/shell/LiveFigures") {}

export interface Figures {
  /** Undefined while another replica works. */
  leading:
    | { readonly standings: Effect.Effect<Standings>; readonly depth: Effect.Effect<number> }
    | undefined;
  /** Milliseconds since 1970 by watch. */
  readonly heardAtMs: Map<string, number>;
  /** What cannot be listed or watched at all, each with the API server's answer. */
  readonly unreadable: Map<string, string>;
  /** Entries of the settings that could not be used. */
  invalidSettings: number;
  /** Milliseconds since 1970 by certificate: serving, authority. */
  readonly certificateEndsAtMs: Map<string, number>;
}

export const newFigures = (): Figures => ({
  leading: undefined,
  heardAtMs: new Map(),
  unreadable: new Map(),
  invalidSettings: 0,
  certificateEndsAtMs: new Map(),
});

/** Gives figures until the scope is closed. */
export const showFigures = (leading: NonNullable<Figures["leading"]>) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const figures = yield* LiveFigures;
      figures.leading = leading;
      return figures;
    }),
    (figures) =>
      Effect.sync(() => {
        figures.leading = undefined;
        figures.heardAtMs.clear();
        figures.unreadable.clear();
        figures.invalidSettings = 0;
      }),
  );

export const heard = Effect.fnUntraced(function* (what: string) {
  const { heardAtMs, unreadable } = yield* LiveFigures;
  heardAtMs.set(what, yield* Clock.currentTimeMillis);
  unreadable.delete(what);
});

/** Nobody watches it any longer. */
export const unheard = (what: string) =>
  Effect.map(LiveFigures, ({ heardAtMs, unreadable }) => {
    heardAtMs.delete(what);
    unreadable.delete(what);
  });

/** The API server responds with not found or forbidden: nothing continues until that is changed. */
export const unreadable = (what: string, answer: string) =>
  Effect.map(LiveFigures, (figures) => void figures.unreadable.set(what, answer));

export const passEnded = (result: "success" | "error" | "requeue" | "requeue_after", seconds: number) =>
  Effect.all([
    Metric.update(passes({ result }), 1),
    Metric.update(passSeconds, seconds),
    ...(result === "error" ? [Metric.update(passErrors, 1)] : []),
  ], { discard: true });

/** Completed reconciliations so far. */
export const passesEnded = Effect.map(Effect.suspend(() => Metric.value(passSeconds)), ({ count }) => count);

/** The cluster's database was restored from a backup while this replica led. */
export const databaseRestored = Effect.suspend(() => Metric.update(restores, 1));

export const keyAdded = Effect.suspend(() => Metric.update(adds, 1));

/** A write that the API server accepted. */
export const wrote = (kind: string, verb: "apply" | "take_over" | "delete" | "scale" | "create" | "update_status") =>
  Metric.update(writes({ kind, verb }), 1);

/** A request to the API server; `code` is its answer, or `<error>` without one. */
export const asked = (method: string, code: number | undefined) =>
  Metric.update(requests({ method, code: code === undefined ? "<error>" : String(code) }), 1);

/** A finding of a reconciliation, by the reason of its condition. */
export const failureFound = (reason: string) => Metric.update(failures({ reason }), 1);

/**
 * A counter for each set of label values, created on first use: all values are known in advance, or few.
 * `Metric.withAttributes` would create keys and contexts again for every update: 3 % of the main thread, in a profile
 * of new resources.
 */
export const counters = (name: string, description: string, common: Metric.Metric.Attributes = {}) => {
  const made = new Map<string, Metric.Counter<number>>();
  return (labels: Readonly<Record<string, string>>): Metric.Counter<number> => {
    const values = Object.values(labels).join(" ");
    const known = made.get(values);
    if (known !== undefined) return known;
    const counter = Metric.counter(name, { description, attributes: { ...common, ...labels }, incremental: true });
    made.set(values, counter);
    return counter;
  };
};

/** The name under which controller-runtime would run. */
const CONTROLLER = { controller: "llamastackdistribution", name: "llamastackdistribution" };

/** Those of the status, and `Suspended` (core/snapshot/standing.ts). */
const PHASES = ["Pending", "Initializing", "Ready", "Failed", "Terminating", "Suspended"];

const passes = counters("controller_runtime_reconcile_total", "Reconciliations by result", {
  controller: CONTROLLER.controller,
});
const passErrors = Metric.counter("controller_runtime_reconcile_errors_total", {
  description: "Reconciliations that ended with an error",
  attributes: { controller: CONTROLLER.controller },
  incremental: true,
});
const passSeconds = Metric.histogram("controller_runtime_reconcile_time_seconds", {
  description: "Duration of a reconciliation in seconds",
  attributes: { controller: CONTROLLER.controller },
  // A reconciliation without writes takes milliseconds, a first install about a second, a call without a response 30 s.
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
});
const restores = Metric.counter("llama_stack_operator_database_restores_total", {
  description: "Detected restores of etcd from a backup",
  incremental: true,
});
const adds = Metric.counter("workqueue_adds_total", {
  description: "Requested reconciliations",
  attributes: CONTROLLER,
  incremental: true,
});
const writes = counters("llama_stack_operator_writes_total", "Accepted writes by kind and verb");
const requests = counters("rest_client_requests_total", "Requests to the API server by method and status code");
const failures = counters("llama_stack_operator_failures_total", "Failures found by reconciliations, by reason");

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly values: ReadonlyArray<readonly [Readonly<Record<string, string>>, number]>;
}

const gaugeText = ({ name, help, values }: Gauge): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n` +
  values.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`).join("");

const labelText = (labels: Readonly<Record<string, string>>): string => {
  // JSON's escapes of quote, backslash and newline are those of the format.
  const parts = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
};
