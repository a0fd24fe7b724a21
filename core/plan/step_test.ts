import { deepStrictEqual } from "node:assert/strict";
import { planOf, snapshot } from "../../tests/snapshots.ts";
import { groupsOf } from "./step.ts";

Deno.test("groupsOf() keeps what the Deployment needs before it, and the Deployment alone", () => {
  const { decision: { steps } } = planOf(snapshot({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
    workload: { storage: { size: "1Gi" } },
  }));
  const named = groupsOf(steps).map((group) =>
    group.map((step) => step._tag === "Apply" ? step.manifest.kind : step._tag)
  );
  deepStrictEqual(named, [
    ["ServiceAccount", "PersistentVolumeClaim", "ConfigMap"],
    ["Deployment"],
    ["Service"],
  ]);
});
