import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { scalersOf } from "./scalers.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };

const autoscaler = (name: string, target: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name, ...metadata },
  spec: { scaleTargetRef: { name: "my", ...target } },
});

Deno.test("scalersOf() finds those of the Deployment and of the resource itself, and no others", () => {
  const items = [
    autoscaler("b", DEPLOYMENT),
    autoscaler("a", { apiVersion: "llamastack.io/v1alpha1", kind: "LlamaStackDistribution" }),
    autoscaler("without-version", { kind: "Deployment" }),
    autoscaler("other-server", { ...DEPLOYMENT, name: "other" }),
    autoscaler("other-kind", { ...DEPLOYMENT, kind: "StatefulSet" }),
    autoscaler("other-group", { apiVersion: "example.com/v1", kind: "Deployment" }),
    autoscaler("gone", DEPLOYMENT, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    null,
  ];
  const of = { namespace: "default", name: "my", readsReplicas: true };
  deepStrictEqual(scalersOf({ items }, of), ["a", "b", "without-version"]);
  // The number in the resource is ignored there.
  deepStrictEqual(scalersOf({ items }, { ...of, readsReplicas: false }), ["b", "without-version"]);
  deepStrictEqual(scalersOf(null, of), []);
});
