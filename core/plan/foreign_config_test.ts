import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { converged, type Plan, planOf, snapshot } from "../../tests/snapshots.ts";
import { type Json, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { ObjectRefused } from "../failure/failures.ts";
import { FIELD_MANAGER } from "../snapshot/field_manager.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { repairsDone, repairsIn } from "./contest.ts";

const SPEC: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const { snapshot: SETTLED } = converged(snapshot(SPEC));
const CONFIG = [...SETTLED.live.keys()].find((key) => key.startsWith("ConfigMap/my-config-")) ?? "";

/** A new resource of the same spec, for which somebody prepared a ConfigMap. */
const beside = (change: (ours: JsonObject) => JsonObject): ClusterSnapshot =>
  snapshot(SPEC, { live: new Map([[CONFIG, change(SETTLED.live.get(CONFIG) ?? {})]]) });

const applied = ({ steps }: Plan): ReadonlyArray<string> =>
  steps.flatMap((step) => step._tag === "Apply" ? [step.manifest.kind] : []);
const events = ({ steps }: Plan): ReadonlyArray<string> =>
  steps.flatMap((step) => step._tag === "Announce" ? [step.note.reason] : []);
const conditions = ({ steps }: Plan): ReadonlyArray<Json> =>
  steps.flatMap((step) => step._tag === "SetStatus" ? listAt(step.status as unknown as Json, "conditions") : []);
const condition = (plan: Plan, type: string): Json =>
  conditions(plan).find((item) => stringAt(item, "type") === type) ?? null;

const withoutOwner = (object: JsonObject): JsonObject => put(object, ["metadata", "ownerReferences"], undefined);
const byOurName = (object: JsonObject): JsonObject =>
  put(object, ["metadata", "managedFields"], [{
    manager: FIELD_MANAGER,
    operation: "Apply",
    fieldsV1: { "f:data": { "f:config.yaml": {} } },
  }]);

const FOREIGN: ReadonlyArray<readonly [what: string, change: (ours: JsonObject) => JsonObject]> = [
  ["another config", (ours) => put(withoutOwner(ours), ["data"], { "config.yaml": "version: 2" })],
  ["no config", (ours) => put(withoutOwner(ours), ["data"], undefined)],
  ["one more file", (ours) => put(withoutOwner(ours), ["data", "sitecustomize.py"], "")],
  ["one more binary file", (ours) => put(withoutOwner(ours), ["binaryData"], { more: "AA==" })],
  [
    "another config, as if a policy had changed it in our own request",
    (ours) => byOurName(put(ours, ["data"], { "config.yaml": "version: 2" })),
  ],
];

for (const [what, change] of FOREIGN) {
  Deno.test(`a ConfigMap with the labels and the name of ours, but ${what}, is not used`, () => {
    const plan = planOf(beside(change));
    deepStrictEqual([applied(plan), events(plan)], [[], ["OwnershipConflict"]]);
    const { status, reason, message } = condition(plan, "DeploymentUpdated") as JsonObject;
    deepStrictEqual([status, reason], ["False", "OwnershipConflict"]);
    ok(String(message).includes("delete it"), String(message));
    strictEqual(stringAt(condition(plan, "Ready"), "status"), "False");
  });
}

Deno.test("a ConfigMap with our content and no owner is adopted", () => {
  deepStrictEqual(applied(planOf(beside(withoutOwner))).slice(0, 3), ["ServiceAccount", "ConfigMap", "Deployment"]);
});

Deno.test("adoption is announced for what was adopted, and not for what the API server refused", () => {
  const live = new Map([...SETTLED.live].map(([key, object]) => [key, withoutOwner(object)]));
  const refused = new ObjectRefused({
    setBy: [],
    path: ["metadata", "name"],
    kind: "ServiceAccount",
    name: "my-sa",
    detail: "quota",
    blocks: true,
  });
  const before: ClusterSnapshot = { ...SETTLED, live };
  ok(events(planOf(before)).includes("Adopted"));
  const plan = planOf(before, { live, rejectedWrites: [refused] });
  ok(!events(plan).includes("Adopted"), events(plan).join());
});

Deno.test("a field whose repair was refused does not count as overwritten again", () => {
  const deployment = SETTLED.live.get("Deployment/my") ?? {};
  const changed = put(deployment, ["metadata", "labels", "app.kubernetes.io/part-of"], "other");
  const seen: ClusterSnapshot = { ...SETTLED, live: new Map([...SETTLED.live, ["Deployment/my", changed]]) };
  const { steps } = planOf(seen).decision;
  strictEqual(repairsIn(steps, seen).length, 1);
  deepStrictEqual(repairsDone(steps, seen, seen.live), []);
  strictEqual(repairsDone(steps, seen, SETTLED.live).length, 1);
});
