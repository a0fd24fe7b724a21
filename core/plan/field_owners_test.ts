import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { converged, edited, type Plan, planOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const SPEC: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const OURS = "llama-stack-operator";

const containers = (image: JsonObject): JsonObject => ({
  "f:containers": { 'k:{"name":"llama-stack"}': { ".": {}, "f:name": {}, ...image } },
});
const fields = (image: boolean): JsonObject => ({
  "f:metadata": { "f:labels": { "f:app.kubernetes.io/part-of": {} } },
  "f:spec": {
    "f:strategy": {},
    "f:template": { "f:spec": containers(image ? { "f:image": {} } : {}) },
  },
});
const entry = (manager: string, fieldsV1: JsonObject, operation = "Update"): JsonObject => ({
  manager,
  operation,
  fieldsV1,
});

/** The Deployment with another image and without one of the operator's labels, with the given field owners. */
const changed = (before: ClusterSnapshot, managedFields: ReadonlyArray<JsonObject>): ClusterSnapshot => {
  const deployment = before.live.get("Deployment/my") ?? {};
  const containers = listAt(deployment, "spec", "template", "spec", "containers") as ReadonlyArray<JsonObject>;
  const mirrored = containers.map((container) => ({ ...container, image: `mirror.example/${container.image}` }));
  const live = new Map(before.live);
  const moved = put(deployment, ["spec", "template", "spec", "containers"], mirrored);
  const bare = put(moved, ["metadata", "labels", "app.kubernetes.io/part-of"], undefined);
  live.set("Deployment/my", put(bare, ["metadata", "managedFields"], managedFields));
  return { ...before, live };
};

const writes = (plan: Plan): ReadonlyArray<string> => plan.steps.map(({ _tag }) => _tag);
const message = (plan: Plan, type: string): string => {
  const status = plan.steps.flatMap((step) => step._tag === "SetStatus" ? [step.status] : [])[0];
  const found = (status?.conditions ?? []).find((item) => item.type === type);
  return found?.message ?? "";
};

Deno.test("own fields with another value, or without any, were rewritten by a policy and are kept", () => {
  const { snapshot: before } = converged(snapshot(SPEC));
  const rewritten = changed(before, [entry(OURS, fields(true), "Apply")]);
  const plan = planOf(rewritten);
  deepStrictEqual(writes(plan), ["SetStatus"]);
  strictEqual(
    message(plan, "ChangedByPolicy"),
    'A mutating admission policy or webhook changes what this operator applies: Deployment my: metadata.labels["app.kubernetes.io/part-of"]; ' +
      "Deployment my: spec.template.spec.containers[llama-stack].image. The changed values are kept",
  );
});

Deno.test("an edit that leaves the template alone announces no new pods where a policy rewrites the template", () => {
  const { snapshot: before } = converged(snapshot(SPEC));
  const rewritten = changed(before, [entry(OURS, fields(true), "Apply")]);
  const plan = planOf(edited(rewritten, { ...SPEC, workload: { replicas: 3 } }));
  strictEqual(writes(plan).includes("Apply"), true);
  deepStrictEqual(plan.steps.flatMap((step) => step._tag === "Announce" ? [step.note.reason] : []), []);
});

for (
  const [what, managed] of [
    ["another manager owns one of them", [entry(OURS, fields(true), "Apply"), entry("kubectl", fields(true))]],
    ["nobody owns one of them", [entry(OURS, fields(false), "Apply")]],
    ["somebody removed all records of owners", []],
  ] as ReadonlyArray<readonly [string, ReadonlyArray<JsonObject>]>
) {
  Deno.test(`changed fields are repaired where ${what}`, () => {
    const { snapshot: before } = converged(snapshot(SPEC));
    const plan = planOf(changed(before, managed));
    strictEqual(writes(plan).includes("Apply"), true);
  });
}

Deno.test("only the object of a contested field waits, and its field and manager are named in one Event", () => {
  const { snapshot: before } = converged(snapshot(SPEC));
  const seen = changed(before, [entry(OURS, {}, "Apply"), entry("robot", fields(true))]);
  const contest = (field: string) => ({
    object: "Deployment my",
    field,
    manager: "robot",
    heldUntilMs: before.nowMs + 10_000,
    overAtMs: before.nowMs + 20_000,
    isNew: true,
  });
  const label = contest('metadata.labels["app.kubernetes.io/part-of"]');
  const image = contest("spec.template.spec.containers[llama-stack].image");
  strictEqual(writes(planOf({ ...seen, contests: [label] })).includes("Apply"), true);
  const plan = planOf({ ...seen, contests: [label, image] });
  deepStrictEqual(writes(plan), ["Announce", "SetStatus"]);
  strictEqual(message(plan, "Contested").includes('image (field manager "robot")'), true);
  strictEqual(plan.lookAgainMs, 10_000);
  const status = plan.steps.flatMap((step) => step._tag === "SetStatus" ? [step.status as unknown as JsonObject] : []);
  const told: ClusterSnapshot = {
    ...seen,
    contests: [label, image].map((known) => ({ ...known, isNew: false })),
    resource: { ...seen.resource, status: status[0] ?? {} },
  };
  deepStrictEqual(writes(planOf(told)), []);
  strictEqual(stringAt(listAt(told.resource.status, "conditions")[0] ?? null, "status"), "True");
});
