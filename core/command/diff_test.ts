import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { secret } from "../../tests/given.ts";
import { converged, edited, planned, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { isObject, type JsonObject, objectAt, put } from "../data/json.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { WITHHELD } from "../data/redaction.ts";
import { diffCommand } from "./diff.ts";
import { PLAIN } from "./outcome.ts";

const CANARY = "canary-of-a-secret";
const WITH_KEY: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("vllm", "token") }] },
};
const WITH_SQL: JsonObject = { storage: { sql: { type: "postgres", connectionString: secret("pg", "url") } } };
const url = (password: string) => secretsOf({ "pg": { url: `postgresql://user:${password}@host:5432/db` } });

const settled = (spec: JsonObject, more: Partial<ClusterSnapshot> = {}): ClusterSnapshot =>
  converged(snapshot(spec, { secrets: secretsOf({ "vllm": { token: CANARY } }), ...more })).snapshot;

/** A settled snapshot whose Deployment was made by another version of the operator, with another template. */
const heldWorld = (): ClusterSnapshot => {
  const before = settled(WITH_KEY);
  const key = liveKey("Deployment", "my");
  const live = new Map(before.live);
  const older = put(live.get(key) ?? {}, ["metadata", "annotations", "llamastack.io/template-digest"], "0".repeat(64));
  live.set(key, put(older, ["spec", "template", "metadata", "labels", "old"], "yes"));
  return { ...before, live };
};

const diff = (seen: ClusterSnapshot, format: "text" | "json" = "text") =>
  diffCommand([{ label: "f.yaml: my", planned: Result.succeed(planned(seen)) }], [], { format, style: PLAIN });

Deno.test("diffCommand() reports no differences for a settled resource", () => {
  deepStrictEqual(diff(settled(WITH_KEY)), { stdout: "f.yaml: my: no differences\n", stderr: "", code: 0 });
});

Deno.test("diffCommand() names the fields of a resource of v1alpha1 by their paths there", () => {
  const broken = edited(settled({}), { overrideConfig: { configMapName: "gone" } });
  const by = (version: string): ClusterSnapshot => ({
    ...broken,
    resource: put(broken.resource, ["metadata", "managedFields"], [
      { apiVersion: `llamastack.io/${version}`, manager: "kubectl", fieldsV1: { "f:spec": {} } },
    ]) as JsonObject,
  });
  ok(diff(by("v1alpha2")).stderr.includes("referenced by spec.overrideConfig"), diff(by("v1alpha2")).stderr);
  ok(diff(by("v1alpha1")).stderr.includes("referenced by spec.server.userConfig"), diff(by("v1alpha1")).stderr);
});

Deno.test("diffCommand() lists what a new resource creates, with reasons", () => {
  const { stdout, code } = diff(snapshot({}));
  ok(/\+ Deployment\/my: the Deployment does not exist yet/.test(stdout), stdout);
  ok(/\+ Service\/my-service: required by the resource/.test(stdout), stdout);
  strictEqual(code, 1);
});

Deno.test("diffCommand() shows an edit field by field, and the config beside the one that runs", () => {
  const { stdout, code } = diff(edited(settled(WITH_KEY), { ...WITH_KEY, resources: { models: [{ name: "m" }] } }));
  ok(/~ Deployment\/my: .*; the pods are replaced\n/.test(stdout), stdout);
  ok(/volumes\[user-config\]\.configMap\.name: "my-config-\w{8}" → "my-config-\w{8}"/.test(stdout), stdout);
  ok(/^ {8}\+ +model_id: m$/m.test(stdout), stdout);
  strictEqual(code, 1);
});

Deno.test("diffCommand() never prints a value of a Secret", () => {
  const before = settled(WITH_SQL, { secrets: url("first-password") });
  const seen = { ...before, secrets: url(CANARY) };
  for (const format of ["text", "json"] as const) {
    const { stdout, stderr } = diff(seen, format);
    ok(!`${stdout}${stderr}`.includes(CANARY) && !stdout.includes(btoa(CANARY)), stdout);
    ok(stdout.includes("data.PGPASSWORD"), stdout);
  }
  ok(/~ Secret\/my-sql-[0-9a-f]{8}: .*\n {6}data\.PGPASSWORD: changed\n/.test(diff(seen).stdout), diff(seen).stdout);
  ok(diff(seen).stdout.includes("(content of referenced Secrets and ConfigMaps): changed"));
});

Deno.test("diffCommand() hides a Secret's value that a user copied into another field", () => {
  const before = settled(WITH_KEY);
  const key = liveKey("Deployment", "my");
  const live = new Map(before.live);
  live.set(key, put(live.get(key) ?? {}, ["metadata", "labels", "app.kubernetes.io/part-of"], CANARY));
  const { stdout, code } = diff({ ...before, live });
  ok(stdout.includes(`"${WITHHELD}" → "llama-stack"`), stdout);
  strictEqual(code, 1);
});

Deno.test("diffCommand() reports a changed number of pods and pruned objects", () => {
  const before = settled({ networking: { expose: {} } });
  const { stdout } = diff(edited(before, { workload: { replicas: 3 } }));
  ok(stdout.includes("spec.replicas: 1 → 3"), stdout);
  ok(/- Ingress\/my-ingress: no longer required by the resource/.test(stdout), stdout);
});

Deno.test("diffCommand() prints errors on standard error and exits as for differences", () => {
  const { stdout, stderr, code } = diff(
    edited(settled(WITH_KEY), { providers: { inference: [{ provider: "nope" }] } }),
  );
  strictEqual(stdout, "");
  ok(stderr.startsWith("f.yaml: my: error: "), stderr);
  strictEqual(code, 1);
  const none = diffCommand([{ label: "d/x", planned: Result.fail(["not there"]) }], ["a note"], {
    format: "text",
    style: PLAIN,
  });
  deepStrictEqual(none, { stdout: "", stderr: "a note\nd/x: error: not there\n", code: 1 });
});

Deno.test("diffCommand() reports that a suspended or deleted resource is not changed", () => {
  const before = settled({});
  ok(diff(edited(before, { suspend: true })).stdout.includes("spec.suspend is true"));
  const metadata = { ...objectAt(before.resource, "metadata"), deletionTimestamp: "2026-01-01T00:00:00Z" };
  ok(diff({ ...before, resource: { ...before.resource, metadata } }).stdout.includes("being deleted"));
});

Deno.test("diffCommand() reports a held template and does not count it as a difference", () => {
  const held = heldWorld();
  const { stdout, code } = diff(held);
  ok(stdout.includes("a new pod template is held"), stdout);
  strictEqual(code, 0, stdout);
});

Deno.test("diffCommand() prints one JSON object with stable keys for scripts", () => {
  const report = JSON.parse(diff(snapshot({}), "json").stdout) as { resources: ReadonlyArray<JsonObject> };
  const first = report.resources[0] ?? {};
  deepStrictEqual(Object.keys(first), ["resource", "steps", "errors", "remarks"]);
  const step = (first.steps as ReadonlyArray<JsonObject>).find(isObject) ?? {};
  deepStrictEqual(Object.keys(step), ["action", "kind", "name", "why", "replacesPods", "changes", "config"]);
});
