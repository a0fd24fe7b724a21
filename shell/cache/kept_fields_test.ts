import { deepStrictEqual } from "node:assert/strict";
import { trimmed } from "./kept_fields.ts";

Deno.test("trimmed() keeps of a pod its names, its volumes and its status", () => {
  const metadata = { name: "a-1", namespace: "n", labels: { app: "llama-stack" } };
  const volumes = [{ name: "config", configMap: { name: "a-config-1" } }];
  const status = { phase: "Running", containerStatuses: [{ name: "a", ready: true }] };
  deepStrictEqual(
    trimmed({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, managedFields: [{ manager: "kubelet", operation: "Update" }] },
      spec: { nodeName: "x", containers: [{ name: "a", env: [{ name: "KEY", value: "v" }] }], volumes },
      status,
    }),
    { apiVersion: "v1", kind: "Pod", metadata, spec: { volumes }, status },
  );
});

Deno.test("trimmed() leaves the template of a ReplicaSet whole, since a former one may come back", () => {
  const set = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "a" }, spec: { template: { spec: {} } } };
  deepStrictEqual(trimmed(set), set);
});
