/** Manifests as people write them: `lint` rejects those that a real API server rejects, and no others. */
import { deepStrictEqual } from "node:assert/strict";
import { lintCommand } from "../../core/command/lint.ts";
import { PLAIN } from "../../core/command/outcome.ts";
import type { Json, JsonObject } from "../../core/data/json.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { SURROUNDINGS } from "../given.ts";
import { call, installWithWebhooks, pathIn, startWebhooks } from "./webhooks.ts";

const document = (version: string, metadata: Json, spec: Json): JsonObject => ({
  apiVersion: `llamastack.io/${version}`,
  kind: "LlamaStackDistribution",
  metadata,
  spec,
});
const starter = { distribution: { name: "starter" } };
const of = (more: JsonObject): JsonObject => document("v1alpha2", { name: "my" }, { ...starter, ...more });
const named = (metadata: JsonObject): JsonObject => document("v1alpha2", { name: "my", ...metadata }, starter);
const old = (spec: JsonObject): JsonObject => document("v1alpha1", { name: "my" }, spec);
const server = (more: JsonObject): JsonObject => old({ server: { ...starter, ...more } });

const MANIFESTS: ReadonlyArray<JsonObject> = [
  of({ workload: null }),
  of({ networking: { expose: null, port: null } }),
  of({ workload: { replicas: null, overrides: { env: null, nodeSelector: { a: null } } } }),
  of({ workload: { overrides: { env: [{ name: "A", value: null }] } } }),
  of({ workload: { overrides: { env: [null] } } }),
  of({ disabled: [null] }),
  of({ distribution: null }),
  of({ distribution: { name: "starter", image: null } }),
  of({ unknown: null }),
  of({ providers: { inference: [{ provider: "vllm", endpoint: "http://v", settings: { tls_verify: null } }] } }),
  of({ providers: { inference: [{ provider: "openai", endpoint: null }] } }),
  document("v1alpha2", { name: "my", labels: null, annotations: null, namespace: null }, starter),
  document("v1alpha2", { name: "my" }, null),
  named({ labels: { a: 1 } }),
  named({ labels: { "b c": "d" } }),
  named({ labels: { a: "b c" } }),
  named({ labels: { a: "b" }, annotations: { "Example.com/x": "any text" }, finalizers: ["example.com/f"] }),
  named({ labels: [] }),
  named({ annotations: { x: true } }),
  named({ annotations: { "x y": "z" } }),
  named({ lables: {} }),
  named({ creationTimestamp: null, resourceVersion: "", uid: "", generation: 1, selfLink: "" }),
  document("v1alpha2", { generateName: "my-" }, starter),
  document("v1alpha2", { generateName: "My-" }, starter),
  document("v1alpha2", { generateName: "a".repeat(50) }, starter),
  document("v1alpha2", { generateName: "a".repeat(51) }, starter),
  document("v1alpha2", { generateName: "a".repeat(70) }, starter),
  document("v1alpha2", {}, starter),
  server({ workers: null, podOverrides: null }),
  server({ containerSpec: { name: null, port: null, env: [{ name: "A", value: null }] } }),
  old({ replicas: null, server: { ...starter, storage: null }, network: { exposeRoute: null, allowedFrom: null } }),
  old({ server: null }),
];

Deno.test("lint rejects exactly those manifests that a real API server rejects", async () => {
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster);
  try {
    await installWithWebhooks(cluster, webhooks);
    const compared = await Promise.all(MANIFESTS.map(async (manifest) => {
      const version = String(manifest.apiVersion).split("/")[1] ?? "";
      const { status, body } = await call(
        cluster,
        "POST",
        `${pathIn(version)}?dryRun=All&fieldValidation=Strict`,
        manifest,
      );
      const linted = lintCommand([{ name: "f", text: JSON.stringify(manifest) }], SURROUNDINGS, {
        format: "text",
        style: PLAIN,
      });
      return {
        manifest: JSON.stringify(manifest),
        lint: linted.code === 0 ? undefined : linted.stdout,
        server: status === 201 ? undefined : String(body.message),
      };
    }));
    deepStrictEqual(compared.filter(({ lint, server }) => (lint === undefined) !== (server === undefined)), []);
  } finally {
    await cluster.stop();
    await webhooks.stop();
  }
});
