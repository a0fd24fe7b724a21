/** `explain`: why a resource is not ready, what happened, and what to do next. */
import { statusOf } from "../api/status_of.ts";
import type { Condition, Status } from "../api/v1alpha2.ts";
import { needsAttention } from "../api/conditions.ts";
import { wordsFor } from "../api/convert/v1alpha1_paths.ts";
import { POD_REASONS, type StateReason, type WriteReason } from "../api/reasons.ts";
import { type Advice, adviceOnOwnConfig } from "../report/advice.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import { conditionOf, reasonOf, rowOf } from "../report/failure_table.ts";
import { type Warning, warningLine } from "../failure/warning.ts";
import type { JsonObject } from "../data/json.ts";
import type { Decision } from "../plan/decision.ts";
import type { Planned } from "../plan/plan.ts";
import { isNotAdopted } from "../plan/ownership.ts";
import { report } from "../report/report.ts";
import { serviceName } from "../resources/service.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { liveCondition } from "../snapshot/live_condition.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import type { LiveEvent } from "../snapshot/live_event.ts";
import type { LivePod } from "../snapshot/live_pod.ts";
import { valuesRead } from "../plan/secret_values.ts";
import { withoutSecrets } from "../data/redaction.ts";
import { eventLines, newestFirst, objectOf, wordsOf } from "./event_lines.ts";
import { adviceOnReason } from "./next_steps.ts";
import { lines, type Outcome, type Printing, type Style } from "./outcome.ts";
import { liveObject } from "../snapshot/live_object.ts";
import { liveResource } from "../snapshot/live_resource.ts";

/** What was read for one resource. */
export interface Seen {
  readonly resource: JsonObject;
  /** Undefined without permission to read everything that a decision needs; only the status is explained then. */
  readonly planned: Planned | undefined;
  readonly pods: ReadonlyArray<LivePod>;
  /** Events (v1) of the resource, its Deployment, ReplicaSets and pods. */
  readonly events: ReadonlyArray<LiveEvent>;
  readonly nowMs: number;
}

export const explainCommand = (seen: Seen, { format, style }: Printing): Outcome => {
  const explanation = explanationOf(seen);
  return {
    stdout: format === "json" ? `${JSON.stringify(explanation, null, 2)}\n` : lines(textOf(explanation, style)),
    stderr: "",
    code: 0,
  };
};

/** The JSON form; stable for scripts. */
export interface Explanation {
  readonly name: string;
  readonly namespace: string;
  readonly ready: boolean;
  readonly phase: string;
  /** Reason of the Ready condition, or Deleting or NotSeen, which take precedence. */
  readonly reason: string;
  readonly summary: string;
  readonly why: ReadonlyArray<string>;
  readonly happened: ReadonlyArray<string>;
  /** Of the resource, whether it is ready or not. */
  readonly warnings: ReadonlyArray<string>;
  readonly next: ReadonlyArray<Advice>;
  /** Null while there is none. */
  readonly serviceURL: string | null;
  readonly routeURL: string | null;
  readonly models: ReadonlyArray<string>;
}

export const explanationOf = (seen: Seen): Explanation => {
  const { resource, planned } = seen;
  const snapshot = planned?.snapshot;
  const { name, namespace } = liveObject(resource);
  const reported = planned && report(planned.snapshot, planned.decision, {
    live: planned.snapshot.live,
    rejectedWrites: [],
  });
  const written = statusOf(resource);
  const status = reported?.steps.find((step) => step._tag === "SetStatus")?.status ?? written;
  const isCutOff = snapshot !== undefined && serviceMissing(snapshot, name);
  const state = stateOf(resource, written, isCutOff);
  const failures = reported?.failures ?? [];
  const values = snapshot === undefined ? [] : valuesRead(snapshot);
  const words = wordsFor(resource);
  const clean = (text: string): string => words(withoutSecrets(text, values));
  const failing = [...failingOf(status), ...rejectedIn(written, resource, status)];
  // A condition has the reason of the failure that it is made from; that of external providers is made from pods alone.
  const isListed = ({ type, reason }: Condition) =>
    type !== "ExternalProvidersReady" &&
    failures.some((failure) => conditionOf(failure) === type && reasonOf(failure) === reason);
  const others = failing.filter(isCause).filter((condition) => !isListed(condition)).map(({ message }) => message);
  // A ready server may lack an object, as the advice then says.
  const why = [...new Set(state.ready ? others : [...failures.map(({ message }) => words(message)), ...others])];
  const url = (text: string | undefined) => text === undefined || text === "" ? null : text;
  return {
    name,
    namespace,
    ...state,
    phase: written.phase ?? "Pending",
    why: [...why, ...(why.length > 0 || state.ready ? [] : quietCauses(seen, clean))],
    happened: [
      ...happenedOf(seen, written),
      ...(isCutOff && !state.ready
        ? [`Service ${serviceName(name)} not found; the operator is creating it again`]
        : []),
      ...seen.pods.map(podLine),
      ...(state.ready ? [] : eventLines(seen.events, seen.nowMs, clean)),
    ],
    warnings: planned === undefined
      ? written.configGeneration?.warnings ?? []
      : warningsIn(planned.decision).map((item) => clean(warningLine(item))),
    next: nextOf(seen, state, failures, failing).map((advice) => ({ ...advice, action: words(advice.action) })),
    serviceURL: url(written.serviceURL),
    routeURL: url(written.routeURL),
    models: written.models ?? liveResource(resource).models,
  };
};

const warningsIn = (decision: Decision): ReadonlyArray<Warning> => {
  if (decision.kind === "rollout") return decision.prepared.warnings;
  return decision.kind === "preserved" ? decision.warnings : [];
};

interface State {
  readonly ready: boolean;
  readonly reason: string;
  readonly summary: string;
}

/** A server without its Service is not reachable. While the resource has errors, no object is created for it. */
const serviceMissing = (snapshot: ClusterSnapshot, name: string): boolean => {
  const deployment = deploymentIn(snapshot);
  return deployment !== undefined && !snapshot.live.has(liveKey("Service", serviceName(name))) &&
    !isNotAdopted(deployment, snapshot.resource);
};

const stateOf = (resource: JsonObject, status: Status, isCutOff: boolean): State => {
  const { generation, isGoing, finalizers } = liveObject(resource);
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  const looked = status.observedGeneration ?? -1;
  if (isGoing) {
    const waits = finalizers.length === 0 ? "" : `; waiting for the finalizers ${finalizers.join(", ")}`;
    return { ready: false, reason: "Deleting", summary: `is being deleted${waits}` };
  }
  if (ready === undefined) {
    return { ready: false, reason: "NotSeen", summary: "has not been reconciled yet" };
  }
  if (looked !== generation) {
    const summary = `was edited and has not been reconciled since (generation ${generation}, reconciled: ${looked})`;
    return { ready: false, reason: "NotSeen", summary };
  }
  // A server that is scaled to zero has no error, but does not answer either.
  const isUp = ready.reason !== "ScaledToZero";
  if (ready.status === "True" && isUp) return { ready: true, reason: ready.reason, summary: "is ready" };
  const serves = !isCutOff && status.phase === "Ready" && isUp && ready.reason !== "Suspended";
  return {
    ready: false,
    reason: ready.reason,
    summary: `is not ready: ${ready.reason}${serves ? ". The previous revision is still serving" : ""}`,
  };
};

const failingOf = ({ conditions = [] }: Status): ReadonlyArray<Condition> =>
  conditions.filter((condition) => needsAttention(condition) && !SUMMARIES.has(condition.type));

/** Conditions that repeat another one, or are less specific than what they wait for. */
const SUMMARIES: ReadonlySet<string> = new Set(["Ready", "DeploymentReady", "HealthCheck", "Reconciling", "Stalled"]);

/** Rejections by the API server are known from the write only, so they are read from the status. */
const rejectedIn = ({ conditions = [] }: Status, resource: JsonObject, now: Status): ReadonlyArray<Condition> => {
  const { generation } = liveObject(resource);
  const known = new Set(failingOf(now).map(({ type }) => type));
  return conditions.filter(({ type, reason, observedGeneration }) =>
    observedGeneration === generation && WRITE_REASONS.has(reason) && !known.has(type) && type !== "Ready" &&
    type !== "Stalled"
  );
};

const WRITE_REASONS: ReadonlySet<string> = new Set<WriteReason>([
  "DeletionRefused",
  "WriteFailed",
  "DeploymentUpdateFailed",
  "ClaimUpdateFailed",
  "ObjectRefused",
]);

/** A missing Deployment is a consequence of another failure. */
const isCause = ({ reason }: Condition, _: number, all: ReadonlyArray<Condition>): boolean =>
  reason !== "ReplicasUnavailable" || all.length === 1;

/** Without a failure, but not ready: the newest warning of Kubernetes is the most likely cause. */
const quietCauses = ({ events, resource }: Seen, clean: (text: string) => string): ReadonlyArray<string> => {
  const warning = newestFirst(events).find(({ type }) => type === "Warning");
  if (warning !== undefined) return [`${objectOf(warning)}: ${clean(wordsOf(warning))}`];
  const { status, message } = liveCondition(resource, "Ready") ?? {};
  return message === undefined || status === "True" ? [] : [message];
};

const happenedOf = ({ resource, planned }: Seen, status: Status): ReadonlyArray<string> => {
  const { name } = liveObject(resource);
  const live = planned && deploymentIn(planned.snapshot);
  const config = live === undefined ? status.configGeneration?.configMapName : live.config;
  if (planned !== undefined && live === undefined) {
    return ["Deployment not found; the operator creates it when all errors are fixed"];
  }
  const image = live?.image ?? status.resolvedDistribution?.image;
  const wanted = live?.wantedReplicas ?? status.replicas ?? 0;
  const isForeign = isNotAdopted(live, resource);
  const what = isForeign ? " under another operator's template" : config === undefined ? "" : ` with config ${config}`;
  return image === undefined ? [] : [
    `Deployment ${name} runs ${image}${what}: ${status.availableReplicas ?? 0} of ${wanted} replicas available` +
    (isForeign ? "; it is adopted without a restart when all errors are fixed" : ""),
  ];
};

const podLine = ({ name, phase, isReady, containers }: LivePod): string => {
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const [waiting] = containers.flatMap(({ state }) => state._tag === "Waiting" ? state.reason ?? [] : []);
  return `Pod ${name}: ${phase}, ${isReady ? "ready" : "not ready"}${waiting === undefined ? "" : `, ${waiting}`}${
    restarts === 0 ? "" : `, ${restarts} restarts`
  }`;
};

const nextOf = (
  { resource, pods, planned }: Seen,
  state: State,
  failures: ReadonlyArray<ReconcileFailure>,
  failing: ReadonlyArray<Condition>,
): ReadonlyArray<Advice> => {
  const { name, namespace } = liveObject(resource);
  if (state.reason === "Deleting") return [];
  const unready = pods.find(({ isReady }) => !isReady);
  const isUpgrade = planned !== undefined && deploymentIn(planned.snapshot)?.record.cause === "upgrade";
  const place = { name, namespace, pod: unready?.name, isUpgrade };
  if (state.reason === "NotSeen") return [OPERATOR_RUNS];
  const reasons = failing.map(({ reason }) => reason);
  const all = [
    ...(state.ready ? adviceOnOwnConfig(resource) : []),
    ...failures.map((failure) => rowOf(failure).advice(failure, resource)),
    // The advice of a failure is better, because it contains names.
    ...(state.reason === "Suspended"
      ? ["Suspended"]
      : failures.length > 0
      ? reasons.filter((text) => UNEXPLAINED.has(text))
      : reasons)
      .flatMap((reason) => adviceOnReason(reason, place) ?? []),
  ];
  return [...new Map(all.map((item) => [JSON.stringify(item), item])).values()];
};

/** Reasons of conditions that no failure explains. */
const UNEXPLAINED: ReadonlySet<string> = new Set<StateReason>([...POD_REASONS, "OperatorChanged"]);

const OPERATOR_RUNS: Advice = {
  action: "Check that the operator is running and watches this namespace; its lease names the active replica",
  command: "kubectl get lease -A --field-selector metadata.name=llama-stack-operator",
};

const textOf = (explanation: Explanation, style: Style): ReadonlyArray<string> => {
  const part = (title: string, all: ReadonlyArray<string>) =>
    all.length === 0 ? [] : ["", style.name(title), ...all.map((line) => `  ${line}`)];
  const summary = explanation.ready ? style.good(explanation.summary) : style.error(explanation.summary);
  const reach = [
    ...(explanation.serviceURL === null ? [] : [`inside the cluster: ${explanation.serviceURL}`]),
    ...(explanation.routeURL === null ? [] : [`from outside: ${explanation.routeURL}`]),
    ...(explanation.models.length === 0 ? [] : [`models: ${explanation.models.join(", ")}`]),
  ];
  return [
    `${style.name(explanation.name)} in namespace ${explanation.namespace} ${summary}.`,
    ...part(explanation.ready ? "Problems" : "Why", explanation.why),
    ...part(explanation.ready ? "State" : "State and recent Events", explanation.happened),
    ...part("Warnings", explanation.warnings),
    ...(explanation.ready ? part("How to reach it", reach) : []),
    ...part(
      "What to do",
      explanation.next.flatMap(({ action, command }, index) => [
        `${index + 1}. ${action}`,
        ...(command === undefined ? [] : [`     ${command}`]),
      ]),
    ),
  ];
};
