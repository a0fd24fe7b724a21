import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { changedFields } from "../../core/plan/field_owners.ts";
import { MANIFEST_ANNOTATION } from "../../core/resources/objects.ts";
import { trimmed } from "./cached_fields.ts";

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

Deno.test("trimmed() leaves nothing that would make another manager's field look rewritten by a policy", () => {
  const manifest = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace: "n", annotations: { [MANIFEST_ANNOTATION]: "d" } },
    spec: { strategy: { type: "RollingUpdate" } },
  };
  const entry = (manager: string, operation: string, fields: JsonObject) => ({
    manager,
    operation,
    fieldsV1: { "f:spec": fields },
  });
  const live = (own: JsonObject): JsonObject => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      managedFields: [
        entry("llama-stack-operator", "Apply", own),
        entry("kubectl", "Update", { "f:strategy": { "f:type": {} } }),
      ],
    },
    spec: { strategy: { type: "Recreate" } },
  });
  for (const own of [{ "f:template": {} }, { "f:replicas": {}, "f:template": {} }]) {
    deepStrictEqual(changedFields(manifest, trimmed(live(own))).byPolicy, []);
    deepStrictEqual(changedFields(manifest, live(own)).byOthers, [
      { object: "Deployment a", field: "spec.strategy.type", manager: "kubectl" },
    ]);
  }
});
