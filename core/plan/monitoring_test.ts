/** Who has metrics without asking: servers that are new where Prometheus finds them, and nobody else. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, converged, edited, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { conditionOf } from "../report/failure_table.ts";
import type { OptionalKind } from "../resources/blueprint.ts";
import { templateSpec } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const OGX = { distribution: { name: "ogx-starter" } };
const BOTH = ["PodMonitor", "PrometheusRule"] as const;

const served = (kinds: ReadonlyArray<OptionalKind>): Pick<ClusterSnapshot, "operator"> => ({
  operator: { ...OPERATOR, platform: { ...OPERATOR.platform, served: kinds } },
});
const hasPort = ({ live }: ClusterSnapshot): boolean =>
  listAt(listAt(templateSpec(live.get("Deployment/my")), "containers")[0], "ports")
    .some((port) => stringAt(port, "name") === "metrics");
const monitors = ({ live }: ClusterSnapshot): ReadonlyArray<string> =>
  [...live.keys()].filter((key) => BOTH.some((kind) => key.startsWith(`${kind}/`)));
const condition = ({ resource }: ClusterSnapshot): JsonObject | undefined =>
  listAt(resource.status, "conditions").find((found) => stringAt(found, "type") === "MetricsAvailable") as
    | JsonObject
    | undefined;

Deno.test("a new server has metrics where PodMonitors are served", () => {
  const { snapshot: made } = converged(snapshot(OGX, served(BOTH)));
  deepStrictEqual([hasPort(made), monitors(made)], [true, ["PodMonitor/my-metrics", "PrometheusRule/my-metrics"]]);
  strictEqual(stringAt(condition(made), "reason"), "MetricsServed");
  const { snapshot: without } = converged(snapshot(OGX, served(["PrometheusRule"])));
  deepStrictEqual([hasPort(without), monitors(without), condition(without)], [false, [], undefined]);
  const { snapshot: refused } = converged(snapshot({ ...OGX, monitoring: { enabled: false } }, served(BOTH)));
  deepStrictEqual([hasPort(refused), monitors(refused), condition(refused)], [false, [], undefined]);
});

Deno.test("a server that exists is unchanged by PodMonitors that begin to be served", () => {
  const { snapshot: before } = converged(snapshot(OGX));
  deepStrictEqual(planOf({ ...before, ...served(BOTH) }).steps, []);
  const { snapshot: asked } = converged({ ...edited(before, { ...OGX, monitoring: {} }), ...served(BOTH) });
  deepStrictEqual([hasPort(asked), monitors(asked).length], [true, 2]);
  const { snapshot: again } = converged({ ...edited(asked, OGX), ...served(BOTH) });
  deepStrictEqual([hasPort(again), monitors(again)], [false, []]);
});

Deno.test("a PodMonitor of another owner is a matter of the metrics alone", () => {
  const foreign = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: { name: "my-metrics", uid: "x" },
  };
  const first = snapshot(OGX, served(BOTH));
  const before = { ...first, live: new Map([...first.live, ["PodMonitor/my-metrics", foreign]]) };
  const plan = planOf(before);
  deepStrictEqual(plan.failures.map((failure) => [failure._tag, conditionOf(failure)]), [
    ["OwnershipConflict", "MetricsAvailable"],
  ]);
  ok(plan.steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment"));
});

Deno.test("the Deployment stays when PodMonitors cease to be served, and its objects come back with them", () => {
  const { snapshot: before } = converged(snapshot(OGX, served(BOTH)));
  // The API server deletes the objects of a kind with its definition.
  const live = new Map([...before.live].filter(([key]) => !monitors(before).includes(key)));
  const gone = { ...before, live, ...served([]) };
  const plan = planOf(gone);
  deepStrictEqual(plan.failures, []);
  deepStrictEqual(plan.steps.map(({ _tag }) => _tag), ["SetStatus"]);
  ok(stringAt(condition(after(gone, plan)), "message")?.includes("no PodMonitors"));
  const { snapshot: again } = converged({ ...after(gone, plan), ...served(BOTH) });
  deepStrictEqual(monitors(again), monitors(before));
  deepStrictEqual(again.live.get("Deployment/my"), before.live.get("Deployment/my"));
});

Deno.test("metrics end with an edit that makes them impossible, and come back with one that does not", () => {
  const { snapshot: before } = converged(snapshot(OGX, served(BOTH)));
  const { snapshot: two } = converged({ ...edited(before, { ...OGX, workload: { workers: 2 } }), ...served(BOTH) });
  deepStrictEqual([hasPort(two), monitors(two), condition(two)], [false, [], undefined]);
  const { snapshot: asked } = converged({
    ...edited(two, { ...OGX, workload: { workers: 2 }, monitoring: {} }),
    ...served(BOTH),
  });
  deepStrictEqual([hasPort(asked), monitors(asked)], [false, []]);
  deepStrictEqual([stringAt(condition(asked), "status"), stringAt(condition(asked), "reason")], [
    "False",
    "MetricsUnavailable",
  ]);
  const ready = listAt(asked.resource.status, "conditions").find((found) => stringAt(found, "type") === "Ready");
  strictEqual(stringAt(ready, "status"), "True");
  const { snapshot: one } = converged({ ...edited(two, OGX), ...served(BOTH) });
  deepStrictEqual([hasPort(one), monitors(one).length], [true, 2]);
});

Deno.test("labels of the resource change the PodMonitor and restart nothing", () => {
  const { snapshot: before } = converged(snapshot({ ...OGX, monitoring: {} }, served(BOTH)));
  const labelled = { ...OGX, monitoring: { labels: { release: "prometheus" } } };
  const plan = planOf({ ...edited(before, labelled), ...served(BOTH) });
  strictEqual(plan.decision.kind === "rollout" && plan.decision.replacesPods, false);
  const done = after({ ...edited(before, labelled), ...served(BOTH) }, plan);
  strictEqual(stringAt(done.live.get("PodMonitor/my-metrics"), "metadata", "labels", "release"), "prometheus");
});
