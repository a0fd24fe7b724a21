import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { refusedFields } from "./refused_fields.ts";

const deployment = (pod: JsonObject): Manifest =>
  ({ kind: "Deployment", spec: { template: { spec: pod } } }) as unknown as Manifest;
const spec = (overrides: JsonObject): JsonObject => ({ workload: { overrides } });
const POD = "spec.template.spec";

Deno.test("refusedFields() names the item of the resource behind those that the operator adds", () => {
  const own = [{ name: "A=B", value: "x" }, { name: "C" }];
  const written = deployment({ containers: [{ env: [{ name: "HOME" }, ...own] }] });
  const fields = [`${POD}.containers[0].env[1].name`, `${POD}.containers[0].env[2].valueFrom.fieldRef`];
  deepStrictEqual(refusedFields(written, spec({ env: own }), fields), [
    "spec.workload.overrides.env[0].name",
    "spec.workload.overrides.env[1].valueFrom.fieldRef",
  ]);
});

Deno.test("refusedFields() names no field of the resource for what the operator itself wrote", () => {
  const written = deployment({ containers: [{ env: [{ name: "HOME" }, { name: "A" }] }], affinity: {} });
  const fields = [`${POD}.containers[0].env[0].name`, `${POD}.affinity.podAffinity`, "spec.progressDeadlineSeconds"];
  deepStrictEqual(refusedFields(written, spec({ env: [{ name: "A" }] }), fields), []);
});

Deno.test("refusedFields() follows keys in brackets, and names each field once", () => {
  const resources = { limits: { "nvidia.com/gpu": "1500m" } };
  const field = `${POD}.containers[0].resources.limits[nvidia.com/gpu]`;
  deepStrictEqual(
    refusedFields(deployment({ containers: [{ resources }] }), { workload: { resources } }, [field, field]),
    ['spec.workload.resources.limits["nvidia.com/gpu"]'],
  );
});

Deno.test("refusedFields() names the target of the metric that an autoscaler may not have", () => {
  const autoscaler = { kind: "HorizontalPodAutoscaler" } as unknown as Manifest;
  const fields = [0, 1].map((index) => `spec.metrics[${index}].resource.target.averageUtilization`);
  const named = (autoscaling: JsonObject) => refusedFields(autoscaler, { workload: { autoscaling } }, fields);
  const target = (name: string) => `spec.workload.autoscaling.target${name}UtilizationPercentage`;
  deepStrictEqual(named({ targetCPUUtilizationPercentage: 0 }), [target("CPU")]);
  deepStrictEqual(named({ targetMemoryUtilizationPercentage: 0 }), [target("Memory")]);
  const both = { targetCPUUtilizationPercentage: 0, targetMemoryUtilizationPercentage: 0 };
  deepStrictEqual(named(both), [target("CPU"), target("Memory")]);
  // The operator's own default.
  deepStrictEqual(named({ maxReplicas: 2 }), []);
});
