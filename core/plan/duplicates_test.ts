import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { converged, planOf } from "../../tests/snapshots.ts";
import { goSnapshots } from "../../tests/go_operator_objects.ts";
import { duplicatesIn, withLastOfEach, withoutDuplicates } from "./duplicates.ts";
import { takenOver } from "./takeover.ts";

const env = (object: JsonObject | undefined): ReadonlyArray<string> =>
  listAt(listAt(object, "spec", "template", "spec", "containers")[0], "env")
    .map((item) => `${stringAt(item, "name")}=${stringAt(item, "value")}`);

const POD: JsonObject = {
  containers: [{
    name: "server",
    env: [{ name: "A", value: "1" }, { name: "B", value: "2" }, { name: "A", value: "3" }],
    ports: [{ containerPort: 1, protocol: "TCP", name: "a" }, { containerPort: 1, protocol: "UDP" }, {
      containerPort: 1,
      protocol: "TCP",
      name: "b",
    }],
  }],
};
const lists = (pod: JsonObject) => {
  const [container] = listAt(pod, "containers");
  return [
    listAt(container, "env").map((item) => stringAt(item, "value")),
    listAt(container, "ports").map((item) => stringAt(item, "name") ?? stringAt(item, "protocol")),
  ];
};

Deno.test("of variables and ports that occur twice, the last one counts, or none is written", () => {
  deepStrictEqual(duplicatesIn(POD).map((path) => JSON.stringify(path.at(-1))), [
    '{"name":"A"}',
    '{"containerPort":1,"protocol":"TCP"}',
  ]);
  deepStrictEqual(lists(withLastOfEach(POD)), [["2", "3"], ["UDP", "b"]]);
  deepStrictEqual(lists(withoutDuplicates(POD)), [["2"], ["UDP"]]);
});

Deno.test("a template with duplicate variables is adopted without them, and nobody owns them, so that no pod restarts", () => {
  const start = goSnapshots({ networkPolicies: false }).get("r20") as ClusterSnapshot;
  const live = start.live.get("Deployment/r20") ?? {};
  strictEqual(env(live).filter((text) => /^(HF_HOME|LLS_PORT)=/.test(text)).length, 4);
  const plan = planOf(start);
  const applied = plan.steps.flatMap((step) =>
    step._tag === "Apply" && step.manifest.kind === "Deployment" ? [step.manifest] : []
  );
  deepStrictEqual(applied.map(env), [[
    "LLS_WORKERS=1",
    "LLAMA_STACK_CONFIG=/etc/llama-stack/config.yaml",
    "SSL_CERT_FILE=/x",
  ]]);
  const owned = JSON.stringify(takenOver(live, start.resource));
  ok(owned.includes("SSL_CERT_FILE"));
  ok(!/HF_HOME|LLS_PORT/.test(owned));
});

Deno.test("the first template after the adoption has the last of each duplicate, and removes those that the resource dropped", () => {
  const start = goSnapshots({ networkPolicies: false }).get("r20") as ClusterSnapshot;
  const adopted = converged(start).snapshot;
  // As the API server has it: it keeps what nobody owns.
  const live = new Map(adopted.live);
  const whole = at(start.live.get("Deployment/r20"), "spec", "template") ?? {};
  live.set("Deployment/r20", put(live.get("Deployment/r20") ?? {}, ["spec", "template"], whole) as JsonObject);
  const kept = { ...adopted, live };
  deepStrictEqual(planOf(kept).decision.steps, []);
  const edit: JsonObject = put(
    put(kept.resource, ["spec", "workload", "overrides", "env"], [{ name: "HF_HOME", value: "/hf" }]),
    ["metadata", "generation"],
    2,
  ) as JsonObject;
  const plan = planOf({ ...kept, resource: edit });
  const written = plan.steps.flatMap((step) =>
    step._tag === "Apply" && step.manifest.kind === "Deployment" ? env(step.manifest) : []
  );
  deepStrictEqual(written.filter((text) => /^(HF_HOME|LLS_PORT)=/.test(text)), ["HF_HOME=/hf"]);
  const claims = plan.steps.flatMap((step) => step._tag === "TakeOver" ? step.claims : []);
  deepStrictEqual(claims.map((path) => JSON.stringify(path.at(-1))), ['{"name":"LLS_PORT"}']);
});
