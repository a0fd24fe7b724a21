import { deepStrictEqual } from "node:assert/strict";
import { world } from "../../tests/worlds.ts";
import { decide } from "./decide.ts";
import { groupsOf } from "./step.ts";

Deno.test("R35 groupsOf() keeps what the Deployment needs before it, the Deployment alone, and the status last", () => {
  const { steps } = decide(world({
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
    ["Announce", "Announce"],
    ["SetStatus"],
  ]);
});
