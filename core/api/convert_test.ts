import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, put } from "../data/json.ts";
import { AS_WRITTEN, converted, FILLED } from "./convert.ts";
import { LEFTOVERS_ANNOTATION } from "./convert/annotation.ts";
import { DEPRECATION, V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION } from "./v1alpha2.ts";

const old = (spec: JsonObject, annotations?: JsonObject): JsonObject => ({
  apiVersion: V1ALPHA1,
  kind: "LlamaStackDistribution",
  metadata: { name: "my", ...(annotations === undefined ? {} : { annotations }) },
  spec,
});
const now = (spec: JsonObject, annotations?: JsonObject): JsonObject => ({
  ...old(spec, annotations),
  apiVersion: API_VERSION,
});
const server = (more: JsonObject): JsonObject =>
  old({ replicas: 1, server: { distribution: { name: "starter" }, ...more } });
const stack = (more: JsonObject): JsonObject => now({ distribution: { name: "starter" }, ...more });

const toNow = (resource: JsonObject): JsonObject => converted(resource, API_VERSION, FILLED);
const toOld = (resource: JsonObject): JsonObject => converted(resource, V1ALPHA1, FILLED);
const leftover = (resource: JsonObject): Json | undefined =>
  at(resource, "metadata", "annotations", LEFTOVERS_ANNOTATION);

Deno.test("converted() moves every field that both versions have", () => {
  const made = converted(
    old({
      replicas: 0,
      server: {
        distribution: { image: "example.com/server:1" },
        workers: 2,
        containerSpec: {
          name: "llama-stack",
          port: 9000,
          env: [{ name: "A", value: "" }],
          command: ["run"],
          args: [],
          resources: { limits: {} },
        },
        podOverrides: {
          serviceAccountName: "account",
          terminationGracePeriodSeconds: 0,
          volumes: [{ name: "v", emptyDir: {} }],
          volumeMounts: [{ name: "v", mountPath: "/v" }],
        },
        podDisruptionBudget: { minAvailable: 0 },
        topologySpreadConstraints: [],
        autoscaling: { maxReplicas: 5 },
        storage: { size: "5Gi", mountPath: "/data" },
        userConfig: { configMapName: "config" },
        tlsConfig: { caBundle: { configMapName: "ca", configMapNamespace: "other", configMapKeys: ["a"] } },
      },
      network: { exposeRoute: true, allowedFrom: { namespaces: ["a"], labels: [] } },
    }),
    API_VERSION,
    AS_WRITTEN,
  );
  deepStrictEqual(
    made,
    now({
      distribution: { image: "example.com/server:1" },
      networking: {
        port: 9000,
        tls: { caBundle: { configMapName: "ca", configMapNamespace: "other", configMapKeys: ["a"] } },
        expose: {},
        allowedFrom: { namespaces: ["a"], labels: [] },
      },
      workload: {
        replicas: 0,
        workers: 2,
        resources: { limits: {} },
        autoscaling: { maxReplicas: 5 },
        podDisruptionBudget: { minAvailable: 0 },
        topologySpreadConstraints: [],
        storage: { size: "5Gi", mountPath: "/data" },
        overrides: {
          env: [{ name: "A", value: "" }],
          command: ["run"],
          args: [],
          serviceAccountName: "account",
          terminationGracePeriodSeconds: 0,
          volumes: [{ name: "v", emptyDir: {} }],
          volumeMounts: [{ name: "v", mountPath: "/v" }],
        },
      },
      overrideConfig: { configMapName: "config" },
    }),
  );
});

/** What the Go operators lost on the way (go-operator-behaviour.md §7.3), each as an object of v1alpha1. */
const LOST: Readonly<Record<string, JsonObject>> = {
  "replicas 0": old({ replicas: 0, server: { distribution: { name: "starter" } } }),
  "exposeRoute false alone": old({
    replicas: 1,
    server: { distribution: { name: "a" } },
    network: { exposeRoute: false },
  }),
  "an empty podOverrides": server({ podOverrides: {} }),
  "an empty tlsConfig": server({ tlsConfig: {} }),
  "an empty storage": server({ storage: {} }),
  "an empty podDisruptionBudget": server({ podDisruptionBudget: {} }),
  "an empty list of arguments": server({ containerSpec: { name: "llama-stack", args: [] } }),
  "a container name alone": server({ containerSpec: { name: "other" } }),
  "the container name that is the default": server({ containerSpec: { name: "llama-stack" } }),
  "port 0": server({ containerSpec: { name: "llama-stack", port: 0 } }),
  "no port beside a network": old({ replicas: 1, server: { distribution: {} }, network: { exposeRoute: true } }),
  "resources with claims only": server({
    containerSpec: { name: "llama-stack", resources: { claims: [{ name: "g" }] } },
  }),
  "a grace period of 0": server({ podOverrides: { terminationGracePeriodSeconds: 0 } }),
  "an empty name of a ConfigMap": server({ userConfig: { configMapName: "", configMapNamespace: "n" } }),
  "an empty name of a CA bundle": server({ tlsConfig: { caBundle: { configMapName: "", configMapKeys: ["a"] } } }),
  "an empty namespace": old({
    replicas: 1,
    server: { distribution: {} },
    network: { exposeRoute: false, allowedFrom: { namespaces: ["", "a"] } },
  }),
  "an empty distribution": old({ replicas: 1, server: { distribution: { name: "" } } }),
};

for (const [what, resource] of Object.entries(LOST)) {
  Deno.test(`converted() keeps ${what}`, () => {
    deepStrictEqual(toOld(FILLED(toNow(resource))), FILLED(resource));
    deepStrictEqual(converted(converted(resource, API_VERSION, AS_WRITTEN), V1ALPHA1, AS_WRITTEN), resource);
  });
}

Deno.test("converted() keeps empty names and port 0 out of v1alpha2, where no server could run with them", () => {
  const spec = toNow(server({
    userConfig: { configMapName: "" },
    containerSpec: { name: "llama-stack", port: 0 },
    podOverrides: { serviceAccountName: "" },
  })).spec;
  deepStrictEqual([at(spec, "overrideConfig"), at(spec, "networking"), at(spec, "workload", "overrides")], [
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("converted() moves external providers whole, both ways, edits included, and leaves nothing in annotations", () => {
  const secretRefs = { token: { secretKeyRef: { name: "s", key: "k" } } };
  const lists = {
    volumeSizeLimit: "1Gi",
    safety: [],
    inference: [{
      providerId: "own",
      image: "example/own:1",
      imagePullPolicy: "Always",
      config: { a: [1] },
      secretRefs,
    }],
  };
  const first = toOld(stack({ externalProviders: lists }));
  deepStrictEqual([at(first, "spec", "server", "externalProviders"), leftover(first)], [lists, undefined]);
  deepStrictEqual(at(toNow(first), "spec", "externalProviders"), lists);
  const edited = put(first, ["spec", "server", "externalProviders", "inference"], []);
  deepStrictEqual(at(toNow(edited), "spec", "externalProviders"), { ...lists, inference: [] });
});

Deno.test("converted() restores blocks that only v1alpha2 has after any edit in v1alpha1", () => {
  const blocks: JsonObject = {
    providers: { inference: [{ provider: "vllm", settings: { zero: 0, off: false, none: null, empty: {} } }] },
    storage: { kv: { type: "redis", endpoint: "redis:6379" } },
    disabled: ["safety"],
  };
  const seen = toOld(FILLED(stack({ ...blocks, workload: { overrides: { nodeSelector: { gpu: "yes" } } } })));
  const edited = [["spec", "replicas"], ["spec", "server", "containerSpec"], ["spec", "network"]].reduce(
    (resource, path, index) => put(resource, path, [7, { env: [{ name: "A" }] }, { exposeRoute: true }][index]),
    seen,
  );
  const { spec } = toNow(edited);
  for (const [name, block] of Object.entries(blocks)) deepStrictEqual(at(spec, name), block);
  deepStrictEqual(at(spec, "workload", "overrides"), { env: [{ name: "A" }], nodeSelector: { gpu: "yes" } });
  strictEqual(at(spec, "workload", "replicas"), 7);
});

Deno.test("converted() drops a sub-field when the value that it belongs to was edited", () => {
  const seen = toOld(FILLED(stack({
    distribution: { image: "a:1", serverVersion: "0.7" },
    networking: { expose: { hostname: "host" } },
    workload: { storage: { size: "1Gi", storageClassName: "fast" } },
    overrideConfig: { configMapName: "one", key: "own.yaml" },
  })));
  const same = toNow(put(seen, ["spec", "server", "storage", "size"], "2Gi")).spec;
  deepStrictEqual(at(same, "networking", "expose"), { hostname: "host" });
  strictEqual(at(same, "overrideConfig", "key"), "own.yaml");
  strictEqual(at(same, "workload", "storage", "storageClassName"), "fast");
  strictEqual(at(same, "distribution", "serverVersion"), "0.7");

  const hidden = put(seen, ["spec", "network", "exposeRoute"], false);
  strictEqual(at(toNow(hidden).spec, "networking", "expose"), undefined);
  const renamed = toNow(put(seen, ["spec", "server", "userConfig", "configMapName"], "two")).spec;
  deepStrictEqual(at(renamed, "overrideConfig"), { configMapName: "two", key: "config.yaml" });
  const moved = toNow(put(seen, ["spec", "server", "distribution", "image"], "b:1")).spec;
  deepStrictEqual(at(moved, "distribution"), { image: "b:1" });
  const diskless = toNow(put(seen, ["spec", "server", "storage"], undefined)).spec;
  strictEqual(at(diskless, "workload", "storage"), undefined);
});

Deno.test("converted() binds what only v1alpha1 has to what it stood beside", () => {
  const stored = FILLED(toNow(server({
    containerSpec: { name: "other" },
    userConfig: { configMapName: "one", configMapNamespace: "elsewhere" },
    tlsConfig: { caBundle: { configMapName: "ca" } },
  })));
  strictEqual(at(toOld(stored), "spec", "server", "containerSpec", "port"), undefined);
  const edited = put(
    put(stored, ["spec", "overrideConfig", "configMapName"], "two"),
    ["spec", "networking", "port"],
    9000,
  );
  deepStrictEqual(at(toOld(edited), "spec", "server", "userConfig"), { configMapName: "two" });
  deepStrictEqual(at(toOld(edited), "spec", "server", "containerSpec"), { name: "other", port: 9000 });
});

Deno.test("converted() treats an edited leftover as an edit by the user", () => {
  const seen = toOld(FILLED(stack({ networking: { expose: { hostname: "host" } } })));
  const key = "v1alpha2.leftovers.llamastack.io/spec.networking.expose.hostname";
  strictEqual(at(seen, "metadata", "annotations", key), '{"to":"host"}');
  const edited = put(seen, ["metadata", "annotations", key], '{"to":"elsewhere"}');
  strictEqual(at(toNow(edited), "spec", "networking", "expose", "hostname"), "elsewhere");
});

Deno.test("converted() never applies a leftover to metadata", () => {
  const text = JSON.stringify({ v1alpha2: [{ at: ["metadata", "uid"], to: "another" }] });
  const made = toNow(old({ replicas: 1, server: { distribution: {} } }, { [LEFTOVERS_ANNOTATION]: text }));
  strictEqual(at(made, "metadata", "uid"), undefined);
  strictEqual(leftover(made), text);
});

Deno.test("converted() keeps a foreign value under its own key beside leftovers of its own", () => {
  const field = "v1alpha1.leftovers.llamastack.io/spec.server.podOverrides";
  const readable = { "v1alpha1.leftovers.llamastack.io/spec.server.workers": '{"to":7}' };
  const resource = old(
    { replicas: 1, server: { distribution: {}, podOverrides: {} } },
    { [LEFTOVERS_ANNOTATION]: "not ours", [field]: "nor this", ...readable },
  );
  const there = toNow(resource);
  strictEqual(at(there, "metadata", "annotations", field), "nor this");
  ok(String(leftover(there)).includes("not ours") && leftover(there) !== "not ours");
  deepStrictEqual(toOld(there), FILLED(resource));
});

Deno.test("converted() reads the annotations of the Go operators once", () => {
  const stored = stack({
    networking: { tls: { caBundle: { configMapName: "ca" } } },
    overrideConfig: { configMapName: "c" },
  });
  const seen = toOld(put(stored, ["metadata", "annotations"], {
    "llamastack.io/v1alpha1-extras": JSON.stringify({ containerName: "other", userConfigNamespace: "n" }),
    "llamastack.io/v1alpha1-ca-bundle-keys": '["a","b"]',
    "team/own": "stays",
  }));
  strictEqual(at(seen, "spec", "server", "containerSpec", "name"), "other");
  strictEqual(at(seen, "spec", "server", "userConfig", "configMapNamespace"), "n");
  deepStrictEqual(at(seen, "spec", "server", "tlsConfig", "caBundle", "configMapKeys"), ["a", "b"]);
  strictEqual(at(seen, "metadata", "annotations", "llamastack.io/v1alpha1-extras"), undefined);
  strictEqual(at(seen, "metadata", "annotations", "team/own"), "stays");
  const again = toNow(seen);
  deepStrictEqual(Object.keys(at(again, "metadata", "annotations") as JsonObject).sort(), [
    "team/own",
    "v1alpha1.leftovers.llamastack.io/spec.server.containerSpec.name",
    "v1alpha1.leftovers.llamastack.io/spec.server.userConfig.configMapNamespace",
  ]);
  deepStrictEqual(at(again, "spec", "networking", "tls", "caBundle", "configMapKeys"), ["a", "b"]);
  deepStrictEqual(toOld(FILLED(again)).spec, seen.spec);

  const fresh = toNow(put(old({ server: { distribution: {} }, network: { exposeRoute: true } }), [
    "metadata",
    "annotations",
  ], {
    "llamastack.io/v1alpha2-extras": JSON.stringify({ disabled: ["safety"], exposeHostname: "host" }),
  }));
  deepStrictEqual([at(fresh, "spec", "disabled"), at(fresh, "spec", "networking", "expose")], [["safety"], {
    hostname: "host",
  }]);
});

Deno.test("converted() carries status both ways and adds what the schema of v1alpha1 requires", () => {
  const status: JsonObject = {
    observedGeneration: 4,
    phase: "Ready",
    resolvedDistribution: { image: "x" },
    distributionConfig: { providers: [{ api: "a", provider_id: "b", provider_type: "c" }] },
  };
  const seen = toOld(FILLED({ ...stack({}), status }));
  deepStrictEqual(seen.status, {
    observedGeneration: 4,
    phase: "Ready",
    distributionConfig: {
      providers: [{
        api: "a",
        provider_id: "b",
        provider_type: "c",
        config: {},
        health: { status: "Unknown", message: "" },
      }],
    },
  });
  deepStrictEqual(toNow(seen).status, status);
});

Deno.test("converted() shows in v1alpha1 too that nobody has reconciled a resource, and in a file nothing", () => {
  deepStrictEqual(toOld(FILLED(toNow(server({})))).status, { observedGeneration: -1 });
  const file = converted(server({}), API_VERSION, AS_WRITTEN);
  strictEqual(Object.hasOwn(converted(file, V1ALPHA1, AS_WRITTEN), "status"), false);
  strictEqual(leftover(toOld(FILLED(toNow(server({}))))), undefined);
});

Deno.test("converted() never creates annotations that the API server rejects for their size", () => {
  const huge = "é".repeat(200_000);
  const resource = stack({
    providers: { inference: [{ provider: "vllm", settings: { huge } }] },
    disabled: ["safety"],
  });
  const seen = toOld(resource);
  const bytes = new TextEncoder().encode(JSON.stringify(at(seen, "metadata", "annotations"))).length;
  ok(bytes < 256 * 1024, String(bytes));
  deepStrictEqual(at(toNow(seen), "spec", "disabled"), ["safety"]);
});

Deno.test("converted() leaves other versions as they are", () => {
  const same = stack({});
  strictEqual(converted(same, API_VERSION), same);
  const foreign = { apiVersion: "llamastack.io/v1", kind: "Other" };
  strictEqual(converted(foreign, API_VERSION), foreign);
  ok(DEPRECATION.includes(API_VERSION));
});

Deno.test("converted() ignores annotations that would stop the conversion of a whole list", () => {
  const deep = `{"to":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const key = "v1alpha2.leftovers.llamastack.io/spec.providers";
  const odd = JSON.stringify({ v1alpha2: [], kept: { "no name of an annotation!": "x" } });
  const made = toNow(old({ server: { distribution: {} } }, { [key]: deep, [LEFTOVERS_ANNOTATION]: odd }));
  strictEqual(at(made, "spec", "providers"), undefined);
  ok(Object.keys(at(made, "metadata", "annotations") as JsonObject).every((name) => !name.includes("!")));
  ok(JSON.stringify(made).length > 0);
});
