import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { goSnapshots } from "../../tests/go_operator_objects.ts";
import { after, planned, planOf } from "../../tests/snapshots.ts";
import { explainCommand } from "../command/explain.ts";
import { PLAIN } from "../command/outcome.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const REFUSED = ["r09", "r22", "r23"];
const given = (name: string): ClusterSnapshot => {
  const found = goSnapshots({ networkPolicies: false }).get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const condition = (resource: JsonObject, type: string) =>
  listAt(resource, "status", "conditions").find((item) => stringAt(item, "type") === type);

Deno.test("a server that is not adopted, because its resource has errors, runs under another operator's template, and status, Event and explain say so", () => {
  for (const name of REFUSED) {
    const before = given(name);
    const plan = planOf(before);
    ok(plan.failures.length > 0, name);
    deepStrictEqual(
      plan.decision.steps.map((step) => step._tag === "Apply" ? step.manifest.kind : step._tag),
      [],
      name,
    );
    const seen = after(before, plan);
    strictEqual(stringAt(seen.resource, "status", "phase"), "Ready");
    match(
      stringAt(condition(seen.resource, "Available"), "message") ?? "",
      /1\/1 replicas .*another operator's template/,
    );
    const updated = condition(seen.resource, "DeploymentUpdated");
    strictEqual(stringAt(updated, "reason"), "NotAdopted");
    match(stringAt(updated, "message") ?? "", new RegExp(`Deployment ${name} runs under another operator's template`));
    const notes = (all: typeof plan) => all.steps.flatMap((step) => step._tag === "Announce" ? [step.note.reason] : []);
    ok(notes(plan).includes("TakeOverRefused"));
    ok(!notes(planOf(seen)).includes("TakeOverRefused"));
    const said = explainCommand(
      { resource: seen.resource, planned: planned(seen), pods: [], events: [], nowMs: seen.nowMs },
      { format: "text", style: PLAIN },
    ).stdout;
    match(said, new RegExp(`Deployment ${name} runs .* under another operator's template: 1 of 1`));
    match(said, /previous revision is still serving/);
    doesNotMatch(said, /not found/);
  }
});
