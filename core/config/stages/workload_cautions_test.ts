import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../../data/json.ts";
import { generated, secret, warnings } from "../../../tests/given.ts";

const ofWorkload = (workload: JsonObject) =>
  warnings({ storage: { kv: {} }, workload }).filter((text) =>
    /FieldNotRead|AutoscalerWithoutRequest|SharedClaim|AutoscalerWithoutRoom|AmountInBytes/.test(text)
  );

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

const POSTGRES = {
  sql: { type: "postgres", connectionString: secret("database", "url") },
  kv: { type: "postgres" },
};

Deno.test("workloadCautions() warns of several pods on a claim that one node mounts, wherever the data is", () => {
  const said = (workload: JsonObject) => warnings({ storage: POSTGRES, workload });
  const at = "SharedClaim at spec.workload.storage.accessMode";
  deepStrictEqual(said({ replicas: 2, storage: {} }), [at]);
  deepStrictEqual(said({ autoscaling: { maxReplicas: 3 }, storage: { accessMode: "ReadWriteOncePod" } }), [at]);
  deepStrictEqual(said({ replicas: 2, storage: { existingClaim: "c" } }), [at]);
  deepStrictEqual(said({ replicas: 2, storage: { accessMode: "ReadWriteMany" } }), []);
  deepStrictEqual(said({ replicas: 2 }), []);
  deepStrictEqual(said({ storage: {} }), []);
});

Deno.test("several pods share the sqlite files of a claim, and have their own without one", () => {
  const text = (workload: JsonObject) =>
    generated({ storage: { kv: {} }, workload }).config.warnings.find(({ code }) => code === "SharedSqlite")?.message;
  deepStrictEqual(warnings({ storage: { kv: {} }, workload: { autoscaling: { maxReplicas: 2 } } }), [
    "SharedSqlite at spec.workload.autoscaling.maxReplicas",
  ]);
  match(text({ replicas: 2 }) ?? "", /each of the 2 pods would have its own/);
  match(text({ replicas: 2, storage: { accessMode: "ReadWriteMany" } }) ?? "", /same sqlite files/);
  // The number of pods is nowhere in the resource.
  for (const replicas of [{}, { replicas: 0 }]) {
    match(text({ scaling: "External", ...replicas }) ?? "", /: with more than one pod, each would have its own/);
  }
  match(text({ scaling: "External", storage: { accessMode: "ReadWriteMany" } }) ?? "", /: several pods would write/);
});

Deno.test("a server that may connect to DNS alone is warned of what it has to connect to", () => {
  const told = (more: JsonObject, policy: JsonObject = { egress: [] }) =>
    generated({ ...more, networking: { policy } }).config.warnings.find(({ code }) => code === "EgressNotAllowed")
      ?.message.match(/elsewhere: (.*);/)?.[1];
  const vllm = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
  strictEqual(told(vllm), "spec.providers.inference[0]");
  strictEqual(told({ storage: POSTGRES }), "spec.storage.sql, spec.storage.kv");
  strictEqual(told({ providers: { inference: [{ provider: "sentence-transformers" }] } }), undefined);
  for (const policy of [{}, { enabled: false }, { egress: [{}] }]) strictEqual(told(vllm, policy), undefined);
});

Deno.test("workloadCautions() warns of an autoscaler whose least and most pods are the same", () => {
  const at = "AutoscalerWithoutRoom at spec.workload.autoscaling.maxReplicas";
  deepStrictEqual(ofWorkload({ replicas: 3, autoscaling: { maxReplicas: 3 } }), [at]);
  deepStrictEqual(ofWorkload({ autoscaling: { minReplicas: 2, maxReplicas: 2 } }), [at]);
  deepStrictEqual(ofWorkload({ autoscaling: { maxReplicas: 1 } }), [at]);
  deepStrictEqual(ofWorkload({ autoscaling: { maxReplicas: 2 } }), []);
  deepStrictEqual(ofWorkload({ autoscaling: { maxReplicas: 0 } }), []);
  // One sentence says it.
  deepStrictEqual(ofWorkload({ replicas: 3, autoscaling: { minReplicas: 1, maxReplicas: 3 } }), []);
});

Deno.test("workloadCautions() warns of amounts of bytes whose unit was left out", () => {
  const at = "AmountInBytes at spec.workload";
  deepStrictEqual(ofWorkload({ storage: { size: 20 } }), [`${at}.storage.size`]);
  deepStrictEqual(ofWorkload({ storage: { size: "100k" } }), [`${at}.storage.size`]);
  deepStrictEqual(ofWorkload({ storage: { size: "20Gi" } }), []);
  deepStrictEqual(ofWorkload({ resources: { requests: { memory: "0", cpu: 2 }, limits: { memory: "16" } } }), [
    `${at}.resources.limits.memory`,
  ]);
});

Deno.test("workloadCautions() expects several pods where something else scales, and reads no number of its own", () => {
  deepStrictEqual(ofWorkload({ scaling: "External", replicas: 2 }), ["FieldNotRead at spec.workload.replicas"]);
  deepStrictEqual(ofWorkload({ scaling: "External", replicas: 1 }), []);
  deepStrictEqual(ofWorkload({ scaling: "External", storage: {} }), [
    "SharedClaim at spec.workload.storage.accessMode",
  ]);
  deepStrictEqual(ofWorkload({ scaling: "Operator", replicas: 1, storage: {} }), []);
});

Deno.test("a claim for one pod alone says that what scales a server makes no second pod", () => {
  const said = (storage: JsonObject) => warnings({ storage: { kv: {} }, workload: { scaling: "External", storage } });
  deepStrictEqual(said({}), [
    "SharedSqlite at spec.workload.scaling",
    "SharedClaim at spec.workload.storage.accessMode",
  ]);
  deepStrictEqual(said({ accessMode: "ReadWriteOncePod" }), []);
  deepStrictEqual(said({ existingClaim: "c", accessMode: "ReadWriteOncePod" }), []);
  deepStrictEqual(ofWorkload({ storage: { existingClaim: "c", accessMode: "ReadWriteOncePod" } }), [
    "FieldNotRead at spec.workload.storage.accessMode",
  ]);
});
