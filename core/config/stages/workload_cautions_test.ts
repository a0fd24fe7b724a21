import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../../data/json.ts";
import { warnings } from "../../../tests/given.ts";

const ofWorkload = (workload: JsonObject) =>
  warnings({ storage: { kv: {} }, workload }).filter((text) => /FieldNotRead|AutoscalerWithoutRequest/.test(text));

Deno.test("workloadCautions() warns of fields that do nothing for an existing claim", () => {
  const storage = { existingClaim: "c", retentionPolicy: "Delete", accessMode: "ReadWriteOnce" };
  deepStrictEqual(ofWorkload({ storage }), [
    "FieldNotRead at spec.workload.storage.retentionPolicy",
    "FieldNotRead at spec.workload.storage.accessMode",
  ]);
  const filled = { existingClaim: "c", retentionPolicy: "Retain", accessMode: "ReadWriteMany" };
  deepStrictEqual(ofWorkload({ storage: filled }), []);
  deepStrictEqual(ofWorkload({ storage: { retentionPolicy: "Delete", accessMode: "ReadWriteOnce" } }), []);
});

Deno.test("workloadCautions() warns of an autoscaler whose share of a request of 0 has no value", () => {
  const cpu = { requests: { cpu: 0 } };
  const at = "AutoscalerWithoutRequest at spec.workload.resources";
  deepStrictEqual(ofWorkload({ resources: cpu, autoscaling: { maxReplicas: 2 } }), [`${at}.requests.cpu`]);
  deepStrictEqual(
    ofWorkload({ resources: cpu, autoscaling: { maxReplicas: 2, targetMemoryUtilizationPercentage: 80 } }),
    [],
  );
  deepStrictEqual(ofWorkload({ resources: { limits: { cpu: "0" } }, autoscaling: { maxReplicas: 2 } }), [
    `${at}.limits.cpu`,
  ]);
  const memory = { requests: { memory: "0Gi" } };
  deepStrictEqual(
    ofWorkload({ resources: memory, autoscaling: { maxReplicas: 2, targetMemoryUtilizationPercentage: 80 } }),
    [`${at}.requests.memory`],
  );
  deepStrictEqual(ofWorkload({ resources: cpu }), []);
  deepStrictEqual(ofWorkload({ resources: { requests: { cpu: "1m" } }, autoscaling: { maxReplicas: 2 } }), []);
});
