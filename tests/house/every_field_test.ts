/** No field of the spec may be accepted and then ignored. */
import { fileURLToPath } from "node:url";
import { ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { resourceSchema } from "../../core/api/crd.ts";
import { decodeResource } from "../../core/api/decode.ts";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, put } from "../../core/data/json.ts";
import { samplesIn } from "../../tools/package/samples.ts";
import { PLAIN } from "../../core/command/outcome.ts";
import { renderCommand } from "../../core/command/render.ts";
import { NOWHERE } from "../../core/resources/of_resource.ts";
import { tlsPair } from "../../tools/tls_pair.ts";
import { referencesOf } from "../../core/snapshot/references.ts";
import { decide } from "../../core/plan/decide.ts";
import { manifest, SURROUNDINGS } from "../given.ts";
import { none } from "../none.ts";
import { secretsOf, snapshot } from "../snapshots.ts";

/** Parts that are copied into the pod, or rejected, as a whole. */
const WHOLE = /^workload\.(overrides\.\w+|topologySpreadConstraints|resources\.\w+)$/;

const samples = samplesIn(fileURLToPath(new URL("../../", import.meta.url))).map((manifest) =>
  objectAt(manifest, "spec")
);

const starter = (spec: JsonObject): JsonObject => ({
  distribution: { name: "starter", serverVersion: "0.7.1" },
  ...spec,
});
const key = (name: string): JsonObject => ({ secretKeyRef: { name, key: "k" } });
const withSecrets = (provider: JsonObject): JsonObject => ({
  endpoint: "https://service:8000",
  apiKey: key("api"),
  secretRefs: { other: key("other") },
  settings: { level: 1 },
  ...provider,
});
const EXTERNAL = {
  providerId: "own",
  image: "registry.example.com/own:1",
  imagePullPolicy: "Always",
  config: { level: 1 },
  secretRefs: { token: key("external") },
};
const EXTERNAL_APIS = [
  "agents",
  "datasetIo",
  "eval",
  "inference",
  "postTraining",
  "safety",
  "scoring",
  "toolRuntime",
  "vectorIo",
];

const CLAIMS = { claimsMapping: { groups: "roles" } };
const AUTHENTICATIONS: ReadonlyArray<JsonObject> = [
  {
    oidc: {
      issuer: "https://issuer",
      audience: "llama",
      jwksUri: "https://issuer/keys",
      jwksToken: key("keys"),
      ...CLAIMS,
      tenantClaim: "org",
    },
  },
  {
    introspection: {
      url: "https://issuer",
      clientId: "llama",
      clientSecret: key("client"),
      ...CLAIMS,
      tenantClaim: "org",
    },
  },
  { kubernetes: CLAIMS },
  { webhook: { endpoint: "http://who", tenantField: "org" } },
  {
    upstreamHeader: {
      principalHeader: "x-user",
      attributesHeader: "x-attributes",
      attributeHeaders: { "x-groups": "teams" },
      tenantHeader: "x-tenant",
      trustedProxyCidrs: ["10.0.0.0/8", "fd00::/8"],
    },
  },
];
const ANY = { actions: ["read"], principal: "someone", resource: "model::*" };
const POLICIES: JsonObject = {
  accessPolicy: [
    { permit: ANY, when: ["user is owner"], description: "owners" },
    { forbid: ANY, unless: ["user is owner"] },
  ],
  routePolicy: [
    { permit: { paths: ["/v1/models"] }, when: ["user with admin in roles"], description: "admins" },
    { forbid: { paths: ["/v1/files*"] }, unless: ["user with admin in roles"] },
  ],
};

/** For the fields that no sample has. */
const MORE: ReadonlyArray<JsonObject> = [
  starter({
    providers: {
      inference: [{ id: "v", provider: "vllm", endpoint: "http://v:8000/v1", secretRefs: { api_token: key("v") } }],
      safety: [withSecrets({ id: "s", provider: "bedrock", settings: { region_name: "us-east-1" } })],
      vectorIo: [withSecrets({ id: "q", provider: "qdrant" })],
      toolRuntime: [withSecrets({ id: "t", provider: "tavily-search" })],
      files: [withSecrets({ id: "f", provider: "s3", settings: { bucket_name: "b" } })],
      telemetry: [withSecrets({ id: "o", provider: "otel" })],
    },
    resources: {
      models: [
        { name: "a", provider: "v", contextLength: 8192 },
        { name: "b", provider: "v", quantization: "fp8" },
        { name: "c", provider: "v", providerModelId: "d" },
        { name: "e", provider: "v", metadata: { team: "search" } },
      ],
    },
  }),
  starter({
    distribution: { name: "starter", serverVersion: "0.6.1" },
    resources: {
      toolGroups: [
        { name: "mcp::a", endpoint: "http://a/mcp", args: { level: 1 } },
        { name: "b", provider: "model-context-protocol", endpoint: "http://b/mcp" },
      ],
    },
    connectors: [
      { connectorId: "c", url: "http://c/mcp", serverLabel: "label" },
    ],
  }),
  starter({
    distribution: { name: "starter", serverVersion: "0.6.1" },
    providers: { inference: [{ id: "v", provider: "vllm", endpoint: "http://v:8000/v1" }] },
    resources: {
      models: [{ name: "e", provider: "v", modelType: "embedding", embeddingDimension: 384 }, {
        name: "m",
        provider: "v",
      }],
      vectorStores: [
        { name: "a", provider: "faiss", embeddingModel: "e", displayName: "A", providerVectorStoreId: "there" },
      ],
      datasets: [
        {
          name: "a",
          purpose: "eval/question-answer",
          rows: [{ a: 1 }, { a: 2 }],
          metadata: { b: 1 },
          provider: "localfs",
        },
        { name: "b", purpose: "eval/messages-answer", uri: "file:///b" },
        { name: "c", purpose: "post-training/messages", uri: "huggingface://c" },
      ],
      scoringFunctions: [
        ...["string", "number", "boolean", "array", "object", "json"].map((returnType) => ({
          name: returnType,
          returnType,
          provider: "llm-as-judge",
          description: "d",
          metadata: { a: 1 },
        })),
        {
          name: "judge",
          judge: {
            model: "v/m",
            promptTemplate: "p",
            scoreRegexes: ["r"],
            aggregations: ["average", "weighted_average", "median", "categorical_count", "accuracy"],
          },
        },
      ],
      benchmarks: [
        { name: "b", dataset: "a", scoringFunctions: ["judge"], provider: "meta-reference", metadata: { a: 1 } },
      ],
    },
  }),
  starter({
    providers: { safety: [{ provider: "inline::llama-guard" }] },
    resources: {
      shieldConfigs: [
        { name: "a", provider: "llama-guard", providerShieldId: "other", params: { level: 1 } },
        { name: "b", provider: "code-scanner" },
      ],
    },
  }),
  starter({
    distribution: { name: "starter" },
    providers: {
      responses: [withSecrets({ id: "builtin", provider: "builtin" })],
      batches: [withSecrets({ id: "reference", provider: "reference", settings: { max_concurrent_batches: 2 } })],
      fileProcessors: [withSecrets({ id: "f", provider: "docling-serve", endpoint: "http://docling:5001" })],
      messages: [withSecrets({ id: "m", provider: "builtin" })],
      interactions: [withSecrets({ id: "i", provider: "builtin" })],
      skills: [withSecrets({ id: "s", provider: "builtin" })],
    },
  }),
  starter({
    distribution: { name: "starter", serverVersion: "0.6.1" },
    providers: {
      datasetIo: [withSecrets({ id: "d", provider: "nvidia" })],
      scoring: [withSecrets({ id: "braintrust", provider: "braintrust" })],
      eval: [withSecrets({ id: "e", provider: "nvidia" })],
      postTraining: [withSecrets({ id: "p", provider: "remote::nvidia" })],
    },
  }),
  starter({
    networking: {
      tls: {
        enabled: true,
        secretName: "tls",
        caBundle: { configMapName: "ca", configMapKeys: ["a.crt"], exclusive: true },
      },
      expose: {
        enabled: true,
        hostname: "h.example.com",
        ingressClassName: "nginx",
        tlsSecretName: "outside",
        annotations: { a: "b" },
      },
      serviceAnnotations: { a: "b" },
      allowedFrom: { labels: ["team"] },
    },
  }),
  starter({ networking: { tls: { caBundle: { configMapName: "ca", configMapNamespace: "other" } } } }),
  starter({
    networking: { tls: { clientSecretName: "client" } },
    providers: { inference: [{ provider: "vllm", endpoint: "https://v:8000/v1" }] },
  }),
  starter({ networking: { expose: { enabled: false } } }),
  starter({
    networking: {
      policy: { ingress: [{ from: [{ podSelector: {} }] }], egress: [{ ports: [{ port: 443 }] }] },
    },
  }),
  starter({ networking: { policy: { enabled: false } } }),
  starter({
    networking: {
      tls: { enabled: true, secretName: "tls" },
      expose: { gateway: { parentRefs: [{ name: "g", namespace: "n", sectionName: "https" }], caConfigMapName: "ca" } },
    },
  }),
  starter({
    storage: {
      backends: [{
        name: "kv_more",
        type: "kv_redis",
        secretRefs: { host: key("redis") },
        settings: { port: 6380 },
      }],
      kv: { type: "redis", endpoint: "redis://r:6379" },
      sql: { type: "postgres", connectionString: key("sql") },
    },
    workload: {
      autoscaling: {
        minReplicas: 2,
        maxReplicas: 4,
        targetCPUUtilizationPercentage: 70,
        targetMemoryUtilizationPercentage: 60,
      },
      podDisruptionBudget: { maxUnavailable: 1 },
    },
  }),
  starter({
    workload: {
      resources: { claims: [{ name: "gpu" }] },
      storage: { mountPath: "/data", storageClassName: "fast", retentionPolicy: "Delete" },
      overrides: {
        serviceAccountName: "own",
        env: [{ name: "A", value: "b" }],
        envFrom: [{ configMapRef: { name: "env" } }],
        command: ["sh"],
        args: ["-c", "true"],
        volumes: [{ name: "extra", emptyDir: {} }],
        volumeMounts: [{ name: "extra", mountPath: "/extra" }],
        nodeSelector: { a: "b" },
        tolerations: [{ key: "a", operator: "Exists" }],
        affinity: { nodeAffinity: {} },
        imagePullSecrets: [{ name: "pull" }],
        imagePullPolicy: "Always",
        podAnnotations: { a: "b" },
        podLabels: { a: "b" },
        resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }],
        priorityClassName: "high",
        runtimeClassName: "gvisor",
        securityContext: { runAsUser: 1234 },
      },
    },
  }),
  starter({ workload: { storage: { existingClaim: "mine" } } }),
  starter({
    providers: { inference: [{ id: "v", provider: "vllm", endpoint: "http://v:8000/v1", apiKey: key("v") }] },
    workload: { storage: { retentionPolicy: "Delete" }, restartPolicyOnSecretChange: "Never" },
  }),
  starter({ baseConfig: { configMapName: "base", key: "own.yaml" } }),
  starter({ suspend: true }),
  starter({ workload: { scaling: "External" } }),
  { distribution: { name: "ogx-starter" }, monitoring: { enabled: true, port: 9000, labels: { a: "b" }, rules: true } },
  ...AUTHENTICATIONS.map((auth) =>
    starter({
      distribution: { name: "starter" },
      networking: { allowedFrom: { namespaces: ["gateway"] } },
      auth: { ...auth, ...POLICIES },
      tenancy: { mode: "single", defaultTenantId: "one" },
    })
  ),
  starter({
    distribution: { name: "starter", serverVersion: "1.5.0" },
    providers: {
      inference: [{ id: "v", provider: "vllm", endpoint: "http://v:8000/v1" }],
      vectorIo: [{ id: "a", provider: "inline::sqlite-vec" }, { id: "b", provider: "inline::sqlite-vec" }],
    },
    resources: {
      models: [
        { name: "e", provider: "v", modelType: "embedding", embeddingDimension: 384 },
        { name: "r", provider: "v", modelType: "rerank" },
      ],
    },
    vectorStores: {
      defaultProvider: "b",
      defaultEmbeddingModel: "e",
      defaultRerankerModel: "r",
      chunking: { maxChunkSizeTokens: 400, chunkOverlapTokens: 50 },
      searchMode: "hybrid",
    },
  }),
  { distribution: { name: "starter", config: "other.yaml" }, disabled: ["eval"] },
  ...EXTERNAL_APIS.map((api) =>
    // The last Llama Stack that has all of these APIs.
    starter({
      distribution: { name: "starter", serverVersion: "0.6.1" },
      externalProviders: { [api]: [EXTERNAL], volumeSizeLimit: "1Gi" },
    })
  ),
];

interface Field {
  /** `[]` for any item of a list, `*` for any key of a map. */
  readonly path: string;
  /** Allowed values, if there is a list of them. */
  readonly allowed: ReadonlyArray<Json>;
}

const fieldsOf = (schema: JsonObject, path: string): ReadonlyArray<Field> => {
  const field: Field = { path, allowed: listAt(schema, "enum") };
  if (WHOLE.test(path)) return [field];
  const properties = objectAt(schema, "properties");
  if (Object.keys(properties).length > 0) {
    return Object.entries(properties).flatMap(([key, value]) =>
      fieldsOf(value as JsonObject, path === "" ? key : `${path}.${key}`)
    );
  }
  if (isObject(schema.items)) return fieldsOf(schema.items, `${path}[]`);
  const values = objectAt(schema, "additionalProperties");
  return Object.keys(objectAt(values, "properties")).length > 0 ? fieldsOf(values, `${path}.*`) : [field];
};

/** Every place of the field in a spec. */
const placesOf = (
  value: Json | undefined,
  parts: ReadonlyArray<string>,
): ReadonlyArray<ReadonlyArray<string | number>> => {
  const [part, ...rest] = parts;
  if (part === undefined) return value === undefined ? [] : [[]];
  const children: ReadonlyArray<readonly [string | number, Json]> = part === "[]"
    ? isList(value) ? [...value.entries()] : []
    : part === "*"
    ? isObject(value) ? Object.entries(value) : []
    : isObject(value) && value[part] !== undefined
    ? [[part, value[part]]]
    : [];
  return children.flatMap(([key, child]) => placesOf(child, rest).map((place) => [key, ...place]));
};

/**
 * Objects and messages of `render`, what is read from other objects, and the decision if all of these exist. The last
 * one contains what `render` does not know: values of Secrets, and the owner of the objects.
 */
const outcomeOf = (spec: JsonObject): string => {
  const file = { name: "resource.yaml", text: JSON.stringify(manifest(spec)) };
  const rendered = renderCommand([file], SURROUNDINGS, {
    only: undefined,
    format: "json",
    style: PLAIN,
    platform: { ...NOWHERE.platform, served: ["PodMonitor", "PrometheusRule", "HTTPRoute", "BackendTLSPolicy"] },
  });
  const decoded = decodeResource(manifest(spec), "strict");
  const references = Result.isSuccess(decoded) ? referencesOf(decoded.success.spec) : [];
  const secrets = Map.groupBy(references.filter(({ kind }) => kind === "Secret"), ({ name }) => name);
  const values = Object.fromEntries(
    [...secrets].map((
      [name, keys],
    ) => [name, Object.fromEntries(keys.map(({ key }) => [key ?? "k", PAIR[key ?? ""] ?? DATABASE]))]),
  );
  const decision = decide(snapshot(spec, { secrets: secretsOf(values) }));
  return JSON.stringify([rendered, references, decision.kind, decision.steps]);
};

const PAIR: Readonly<Record<string, string>> = await tlsPair(["my-service.default.svc"]);

/** Valid as a connection string, and as any other value. */
const DATABASE = "postgresql://user:password@database:5432/name";

const isValid = (spec: JsonObject): boolean => Result.isSuccess(decodeResource(manifest(spec), "strict"));

/** Other values of the same type. */
const alternativesTo = (value: Json, allowed: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  if (allowed.length > 0) return allowed.filter((item) => item !== value);
  if (typeof value === "string") return [`${value}x`];
  if (typeof value === "number") return [value + 1];
  if (typeof value === "boolean") return [!value];
  return isList(value) ? [[]] : [{}];
};

const withValue = (value: Json, [key, ...rest]: ReadonlyArray<string | number>, next: Json | undefined): Json => {
  if (key === undefined) return next ?? null;
  if (isList(value)) {
    return rest.length === 0 && next === undefined
      ? value.filter((_, index) => index !== key)
      : value.map((item, index) => index === key ? withValue(item, rest, next) : item);
  }
  const object = value as JsonObject;
  const child = object[key];
  return put(object, [String(key)], rest.length === 0 ? next : withValue(child ?? null, rest, next));
};

const matters = (spec: JsonObject, place: ReadonlyArray<string | number>, allowed: ReadonlyArray<Json>): boolean => {
  const value = place.reduce<Json | undefined>(
    (found, key) => isList(found) ? found[Number(key)] : isObject(found) ? found[key] : undefined,
    spec,
  );
  const before = outcomeOf(spec);
  // Rules may reject a choice because of other fields; another text or number may only miss a pattern.
  const isChoice = typeof value === "boolean" || allowed.length > 0;
  return [undefined, ...alternativesTo(value ?? null, allowed)].some((next) => {
    const changed = withValue(spec, place, next) as JsonObject;
    return (isValid(changed) || isChoice && next !== undefined) && outcomeOf(changed) !== before;
  });
};

Deno.test("every field of the spec changes the objects of a resource, its failures or its warnings", () => {
  const specs = [...samples, ...MORE];
  const fields = fieldsOf(objectAt(resourceSchema() as unknown as JsonObject, "properties", "spec"), "");
  ok(fields.length > 100, `${fields.length} fields`);
  const missing: Array<string> = [];
  const ignored: Array<string> = [];
  for (const { path, allowed } of fields) {
    const parts = path.replaceAll("[]", ".[]").split(".");
    const found = specs.flatMap((spec) => placesOf(spec, parts).map((place) => [spec, place] as const));
    if (found.length === 0) missing.push(path);
    else if (!found.some(([spec, place]) => matters(spec, place, allowed))) ignored.push(path);
  }
  none(missing, "Add specs with these fields to MORE in this file, which find out whether the operator reads them");
  none(ignored, "Use these fields in a stage of core/config/stages or a builder of core/resources");
});
