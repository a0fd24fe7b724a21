/** A default that is written out is no edit. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { resourceSchema } from "../api/crd.ts";
import type { StructuralSchema } from "../api/structural_check.ts";
import { at, type JsonObject, objectAt, put } from "../data/json.ts";
import { none } from "../../tests/none.ts";
import { converged, edited, planOf, snapshot } from "../../tests/snapshots.ts";

const VLLM: JsonObject = { provider: "vllm", endpoint: "http://vllm:8000/v1" };
const PROVIDER: JsonObject = { providers: { inference: [VLLM] } };
const MODEL: JsonObject = { ...PROVIDER, resources: { models: [{ name: "m" }] } };
const IMAGE: JsonObject = { distribution: { image: "registry.example.com/own:1" } };
const EXTERNAL: JsonObject = { providerId: "own", image: "registry.example.com/own:latest" };
const workload = (block: JsonObject): JsonObject => ({ ...PROVIDER, workload: { replicas: 2, ...block } });
const models = (model: JsonObject): JsonObject => ({ ...PROVIDER, resources: { models: [{ name: "m", ...model }] } });
const external = (more: JsonObject, limit: JsonObject = {}): JsonObject => ({
  externalProviders: { inference: [{ ...EXTERNAL, ...more }], ...limit },
});
const chunking = (more: JsonObject): JsonObject => ({
  distribution: { name: "starter", serverVersion: "1.5.0" },
  vectorStores: { chunking: { maxChunkSizeTokens: 400, ...more } },
});
const stores = (more: JsonObject): JsonObject => ({
  ...PROVIDER,
  resources: {
    models: [{ name: "e", modelType: "embedding", embeddingDimension: 384 }],
    vectorStores: [{ name: "v", embeddingModel: "e", ...more }],
  },
});
const functions = (more: JsonObject): JsonObject => ({
  distribution: { name: "starter", serverVersion: "0.6.1" },
  resources: { scoringFunctions: [{ name: "f", ...more }] },
});
const connectors = (more: JsonObject): JsonObject => ({ connectors: [{ connectorId: "c", url: "http://c", ...more }] });
const bundle = (more: JsonObject): JsonObject => ({
  ...PROVIDER,
  networking: { tls: { caBundle: { configMapName: "ca", ...more } } },
});

/** By field, or by the list that has it: the spec without the default, and the one with it. */
const CASES: Readonly<Record<string, readonly [without: JsonObject, written: JsonObject]>> = {
  "suspend": [PROVIDER, { ...PROVIDER, suspend: false }],
  "providers.id": [PROVIDER, { providers: { inference: [{ ...VLLM, id: "vllm" }] } }],
  "resources.models.modelType": [MODEL, models({ modelType: "llm" })],
  "resources.models.providerModelId": [MODEL, models({ providerModelId: "m" })],
  "resources.vectorStores.providerVectorStoreId": [stores({}), stores({ providerVectorStoreId: "v" })],
  "resources.scoringFunctions.description": [functions({}), functions({ description: "f" })],
  "resources.scoringFunctions.returnType": [functions({}), functions({ returnType: "string" })],
  "connectors.serverLabel": [connectors({}), connectors({ serverLabel: "c" })],
  "baseConfig.key": [
    { baseConfig: { configMapName: "base" } },
    { baseConfig: { configMapName: "base", key: "config.yaml" } },
  ],
  "vectorStores.chunking.chunkOverlapTokens": [chunking({}), chunking({ chunkOverlapTokens: 200 })],
  "storage.kv.type": [{ storage: { kv: {} } }, { storage: { kv: { type: "sqlite" } } }],
  "storage.sql.type": [{ storage: { sql: {} } }, { storage: { sql: { type: "sqlite" } } }],
  "networking.port": [PROVIDER, { ...PROVIDER, networking: { port: 8321 } }],
  "networking.tls.enabled": [PROVIDER, { ...PROVIDER, networking: { tls: { enabled: false } } }],
  "networking.tls.caBundle.configMapNamespace": [bundle({}), bundle({ configMapNamespace: "default" })],
  "networking.tls.caBundle.configMapKeys": [bundle({}), bundle({ configMapKeys: ["ca-bundle.crt"] })],
  "networking.tls.caBundle.exclusive": [bundle({}), bundle({ exclusive: false })],
  "networking.expose.enabled": [
    { ...PROVIDER, networking: { expose: {} } },
    { ...PROVIDER, networking: { expose: { enabled: true } } },
  ],
  "monitoring.port": [{ ...PROVIDER, monitoring: {} }, { ...PROVIDER, monitoring: { port: 9464 } }],
  "workload.replicas": [PROVIDER, { ...PROVIDER, workload: { replicas: 1 } }],
  "workload.scaling": [workload({}), workload({ scaling: "Operator" })],
  "workload.autoscaling.minReplicas": [
    workload({ autoscaling: { maxReplicas: 4 } }),
    workload({ autoscaling: { maxReplicas: 4, minReplicas: 1 } }),
  ],
  "workload.autoscaling.targetCPUUtilizationPercentage": [
    workload({ autoscaling: { maxReplicas: 4 } }),
    workload({ autoscaling: { maxReplicas: 4, targetCPUUtilizationPercentage: 80 } }),
  ],
  "workload.storage.size": [workload({ storage: {} }), workload({ storage: { size: "10240Mi" } })],
  "workload.storage.mountPath": [workload({ storage: {} }), workload({ storage: { mountPath: "/.llama" } })],
  "workload.storage.accessMode": [workload({ storage: {} }), workload({ storage: { accessMode: "ReadWriteOnce" } })],
  "workload.storage.retentionPolicy": [workload({ storage: {} }), workload({ storage: { retentionPolicy: "Retain" } })],
  "workload.podDisruptionBudget.maxUnavailable": [
    workload({}),
    workload({ podDisruptionBudget: { maxUnavailable: 1 } }),
  ],
  "workload.probes.startupSeconds": [workload({}), workload({ probes: { startupSeconds: 600 } })],
  "workload.restartPolicyOnSecretChange": [workload({}), workload({ restartPolicyOnSecretChange: "Auto" })],
  "workload.overrides.serviceAccountName": [workload({}), workload({ overrides: { serviceAccountName: "my-sa" } })],
  "workload.overrides.terminationGracePeriodSeconds": [
    workload({}),
    workload({ overrides: { terminationGracePeriodSeconds: 30 } }),
  ],
  "workload.overrides.imagePullPolicy": [IMAGE, {
    ...IMAGE,
    workload: { overrides: { imagePullPolicy: "IfNotPresent" } },
  }],
  "externalProviders.volumeSizeLimit": [external({}), external({}, { volumeSizeLimit: "2Gi" })],
  "externalProviders.imagePullPolicy": [external({}), external({ imagePullPolicy: "Always" })],
  "overrideConfig.key": [
    { overrideConfig: { configMapName: "mine" } },
    { overrideConfig: { configMapName: "mine", key: "config.yaml" } },
  ],
};

/** Whoever writes one of these keeps it: what the default is may change with the operator. */
const DECISIONS = [
  ...["distribution.serverVersion", "distribution.config", "resources.models.provider"],
  ...["vectorStores.defaultProvider", "vectorStores.defaultEmbeddingModel", "vectorStores.defaultRerankerModel"],
  "vectorStores.searchMode",
  ...["shieldConfigs", "vectorStores", "datasets", "scoringFunctions", "benchmarks"].map((list) =>
    `resources.${list}.provider`
  ),
  "resources.shieldConfigs.providerShieldId",
];
/** A request of one CPU and 1Gi per worker: who writes it is not asked for more by more workers. */
const COMPUTED = ["workload.resources"];

/** Self-signed, and valid for a century. */
const PEM = `-----BEGIN CERTIFICATE-----
MIIBLjCB4aADAgECAhQNGZUQFe9xKwiWmalwjepogpmByzAFBgMrZXAwDDEKMAgG
A1UEAwwBeDAgFw0yNjExMjcxODQ0NTJaGA8yMTI2MTEwMzE4NDQ1MlowDDEKMAgG
A1UEAwwBeDAqMAUGAytlcAMhAMWjLHKv6NRpI+p62MC3G4qY45c5gIRLRgAjMn1k
C1qDo1MwUTAdBgNVHQ4EFgQU+eTnWQaPu6uZQxXltI3xGFymahcwHwYDVR0jBBgw
FoAU+eTnWQaPu6uZQxXltI3xGFymahcwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD
QQBx+T3eoiySa5zw0w2X/xskmCdubuzn3lUJi6LVnJiN0U+kqqZgXjxqu88pCJrY
vqjnJe3p2dWh8w2ssYvzSloF
-----END CERTIFICATE-----
`;

const CONFIG_MAPS = new Map([
  ["default/mine", { data: { "config.yaml": "version: 2\nimage_name: own\n" }, binaryData: {} }],
  ["default/base", {
    data: { "config.yaml": "version: 2\nimage_name: own\napis: [inference]\nproviders: {inference: []}\n" },
    binaryData: {},
  }],
  ["default/ca", {
    data: {
      "ca-bundle.crt": PEM,
    },
    binaryData: {},
  }],
]);

const withDefaultReplicas = (spec: JsonObject): JsonObject =>
  put(spec, ["workload", "replicas"], at(spec, "workload", "replicas") ?? 1);

for (const [field, [without, written]] of Object.entries(CASES)) {
  Deno.test(`writing out the default of ${field} writes nothing, with or without`, () => {
    const before = converged(snapshot(without, { configMaps: CONFIG_MAPS })).snapshot;
    ok(before.live.has("Deployment/my"), JSON.stringify(before.resource.status));
    for (const [start, next] of [[without, written], [written, without]] as const) {
      const settled = converged(snapshot(start, { configMaps: CONFIG_MAPS })).snapshot;
      const { decision } = planOf(edited(settled, withDefaultReplicas(next)));
      deepStrictEqual(decision.steps, [], field);
    }
  });
}

Deno.test("every field whose description names its default is one of these cases", () => {
  const fields = defaulted(
    objectAt(resourceSchema() as unknown as JsonObject, "properties", "spec") as StructuralSchema,
    [],
  );
  const known = [...Object.keys(CASES), ...DECISIONS, ...COMPUTED];
  none(
    [...new Set(fields)].filter((field) => !known.includes(field)),
    "Add the defaults to core/plan/written_defaults.ts, and cases to this file; or name them in DECISIONS",
  );
});

const LISTS = /^(providers|externalProviders)\.(?!volumeSizeLimit)[a-zA-Z]+/;

const defaulted = (schema: StructuralSchema, path: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { description = "", properties = {}, items } = schema;
  const hasDefault = /\b(?:Requests default|Defaults) to /.test(description) || "default" in schema && path.length > 1;
  const isOurs = !/^workload\.(?:resources|topologySpreadConstraints|overrides)\./.test(path.join(".")) ||
    path.length === 3;
  return [
    ...(hasDefault && isOurs ? [path.join(".").replace(LISTS, "$1")] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => defaulted(inner, [...path, name])),
    ...(items === undefined ? [] : defaulted(items, path)),
  ];
};
