/** Random resources for property tests: sound ones, odd ones and wrong ones, from one grammar of the API. */
import fc from "fast-check";
import { DISABLED_NAMES } from "../core/api/api_names.ts";
import type { JsonObject } from "../core/data/json.ts";

const rarely = <A>(common: fc.Arbitrary<A>, odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: common as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });

const anything = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const maybe = (fields: Record<string, fc.Arbitrary<unknown>>, required: ReadonlyArray<string> = []) =>
  fc.record(fields, { requiredKeys: [...required], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

const id = rarely(
  fc.constantFrom("a", "b", "vllm", "a-b", "a.b", "openai", "faiss", "sql", "kv", "llama-guard"),
  fc.string(),
);
const ref = maybe({
  secretKeyRef: maybe({ name: fc.constantFrom("s", "t"), key: fc.constantFrom("k", "l") }, ["name", "key"]),
}, [
  "secretKeyRef",
]);
const endpoint = rarely(
  fc.constantFrom("http://vllm:8000", "https://x/v1", "host:5432", "redis://:p%40@redis", "${env.URL}", "http://u:p@h"),
  fc.string(),
);
const settings = fc.dictionary(
  fc.constantFrom("max_tokens", "refresh_models", "base_url", "persistence", "db_path", "project", "__proto__", "x"),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 4, noNullPrototype: true },
);
const TYPES = {
  inference: ["vllm", "openai", "ollama", "remote::bedrock", "vertexai", "inline::sentence-transformers", "nope"],
  safety: ["inline::llama-guard", "llama-guard", "remote::passthrough"],
  vectorIo: ["inline::faiss", "pgvector", "remote::milvus", "inline::sqlite-vec", "qdrant"],
  toolRuntime: ["tavily-search", "model-context-protocol", "inline::file-search", "brave-search"],
  files: ["inline::localfs", "s3"],
  telemetry: ["otel"],
} as const;

const provider = (types: ReadonlyArray<string>) =>
  maybe({
    id,
    provider: rarely(fc.constantFrom(...types), fc.string()),
    endpoint,
    apiKey: rarely(ref, anything),
    secretRefs: fc.dictionary(fc.constantFrom("token", "api_key", "aws_secret", "a.b", "__proto__"), ref, {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    }),
    settings,
  }, ["provider"]);

/** Most lists name their providers apart, as the rules want it; some leave it to chance. */
const namedApart = (list: string, entries: ReadonlyArray<JsonObject>, chance: number): ReadonlyArray<JsonObject> =>
  chance === 0 ? entries : entries.map((entry, index) => ({ ...entry, id: index === 0 ? list : `${list}-${index}` }));

const providers = maybe(
  Object.fromEntries(
    Object.entries(TYPES).map(([list, types]) => [
      list,
      rarely(
        fc.tuple(fc.array(provider(types), { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 7 }))
          .map(([entries, chance]) => namedApart(list, entries, chance)),
        anything,
      ),
    ]),
  ),
);
const model = maybe({
  name: fc.constantFrom("m", "org/model", "org/Llama-Guard-3", "x:y"),
  provider: id,
  contextLength: rarely(fc.constantFrom(1, 4096), anything),
  modelType: rarely(fc.constantFrom("llm", "rerank"), fc.oneof(fc.constant("embedding"), anything)),
  embeddingDimension: fc.constantFrom(1, 768),
  quantization: fc.constantFrom("int4"),
  providerModelId: fc.constantFrom("m", "other"),
  metadata: rarely(
    fc.dictionary(fc.constantFrom("team", "x", "__proto__"), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 }),
    fc.oneof(fc.constant({ embedding_dimension: 1 }), anything),
  ),
}, ["name"]);

/** Names of models and ids by which clients write them. */
const modelName = rarely(
  fc.constantFrom(
    ...["m", "org/model", "a/m", "vllm/m", "vllm/org/model", "inference/m", "${env.M}/m"],
    ...["sentence-transformers/nomic-ai/nomic-embed-text-v1.5", "sentence-transformers/Qwen/Qwen3-Reranker-0.6B"],
  ),
  fc.string(),
);

const SECRET: JsonObject = { secretKeyRef: { name: "s", key: "k" } };
const STORAGES: ReadonlyArray<JsonObject> = [
  {},
  { kv: {} },
  { kv: { type: "redis", endpoint: "redis:6379", password: SECRET } },
  { kv: { type: "redis", endpoint: "redis://redis" }, sql: {} },
  { sql: { type: "postgres", connectionString: SECRET } },
  { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: SECRET } },
];

const CONDITIONS = ["user is owner", "user with admin in roles", "user not in owners teams", "resource is unowned"];
const rule = (scope: fc.Arbitrary<JsonObject>) =>
  maybe({
    permit: scope,
    forbid: rarely(fc.constant(undefined), scope),
    when: fc.array(rarely(fc.constantFrom(...CONDITIONS), fc.string()), { minLength: 1, maxLength: 2 }),
    description: fc.string({ minLength: 1 }),
  }, ["permit"]).map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)));

const claims = fc.constantFrom<JsonObject>({ groups: "roles" }, { "realm_access.roles": "roles", team: "teams" });
const AUTHENTICATIONS: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  oidc: maybe({
    issuer: rarely(fc.constantFrom("https://issuer.example", "http://issuer/realm"), fc.string()),
    audience: rarely(fc.constant("llama"), fc.constantFrom("${env.AUDIENCE}", "")),
    jwksUri: rarely(fc.constant("https://issuer.example/keys"), fc.constant("file:///keys")),
    jwksToken: ref,
    claimsMapping: claims,
    tenantClaim: fc.constantFrom("org", "realm.org"),
  }, ["issuer", "audience", "jwksUri"]),
  introspection: maybe({
    url: fc.constant("https://issuer.example/introspect"),
    clientId: fc.constantFrom("llama", "a b"),
    clientSecret: ref,
    claimsMapping: claims,
    tenantClaim: fc.constant("org"),
  }, ["url", "clientId", "clientSecret"]),
  kubernetes: maybe({ claimsMapping: claims }),
  webhook: fc.constantFrom<JsonObject>(
    { endpoint: "http://who:8080/check" },
    { endpoint: "http://who:8080/check", tenantField: "org" },
    { endpoint: "who" },
  ),
  upstreamHeader: maybe({
    principalHeader: fc.constantFrom("x-user", "X-Auth-User"),
    attributesHeader: fc.constant("x-attributes"),
    attributeHeaders: fc.constant({ "x-groups": "teams" }),
    tenantHeader: fc.constantFrom("x-tenant", "x tenant"),
    trustedProxyCidrs: fc.constantFrom(["10.0.0.0/8"], ["::/0", "10.0.0.0/33"]),
  }, ["principalHeader"]),
};
const policies = maybe({
  accessPolicy: fc.array(
    rule(maybe({
      actions: fc.subarray(["create", "read", "update", "delete"], { minLength: 1 }),
      principal: fc.constantFrom("someone", "system:serviceaccount:a:b"),
      resource: rarely(fc.constantFrom("model::*", "model::vllm/m", "regex:model::.*$"), fc.string()),
    }, ["actions"])),
    { minLength: 1, maxLength: 2 },
  ),
  routePolicy: fc.array(
    rule(maybe({
      paths: fc.array(rarely(fc.constantFrom("*", "/v1/files*", "regex:/v1/(models|files)"), fc.string()), {
        minLength: 1,
        maxLength: 2,
      }),
    }, ["paths"])),
    { minLength: 1, maxLength: 2 },
  ),
});
const auth = fc.tuple(
  rarely(
    fc.constantFrom(...Object.keys(AUTHENTICATIONS)).map((kind) => [kind]),
    fc.subarray(Object.keys(AUTHENTICATIONS), { maxLength: 2 }),
  ).chain((kinds) =>
    fc.record(
      Object.fromEntries(
        (kinds as ReadonlyArray<string>).map((kind) => [kind, AUTHENTICATIONS[kind] ?? fc.constant({})]),
      ),
      { noNullPrototype: true },
    )
  ),
  policies,
).map(([kind, policy]) => ({ ...kind, ...policy }));

const tenancy = fc.constantFrom<JsonObject>(
  { mode: "single", defaultTenantId: "one" },
  { mode: "single", defaultTenantId: "One" },
  { mode: "multi" },
);

/** Most have a list or two: with more, something is wrong in nearly all of them. */
const resources = fc.tuple(
  maybe({
    models: fc.array(model, { minLength: 1, maxLength: 4 }),
    tools: fc.uniqueArray(
      fc.constantFrom("websearch", "rag", "mcp::x", "wolfram_alpha", "builtin::websearch", "z::z"),
      { minLength: 1 },
    ),
    shields: fc.uniqueArray(fc.constantFrom("guard", "code-scanner", "m"), { minLength: 1 }),
    vectorStores: fc.uniqueArray(
      maybe({
        name: fc.constantFrom("v", "w"),
        provider: fc.oneof(fc.constantFrom("vectorIo", "faiss"), id),
        embeddingModel: modelName,
        displayName: fc.constant("V"),
        providerVectorStoreId: fc.constantFrom("there", "${env.STORE}"),
      }, ["name", "embeddingModel"]),
      { minLength: 1, maxLength: 2, selector: ({ name }) => name },
    ),
    datasets: fc.array(
      maybe({
        name: fc.constantFrom("d"),
        purpose: fc.constantFrom("eval/question-answer", "post-training/messages"),
        uri: fc.constantFrom("huggingface://x", "file:///x"),
        rows: rarely(fc.constant([{ a: 1 }]), anything),
        provider: fc.constantFrom("localfs", "huggingface", "absent"),
        metadata: settings,
      }, ["name", "purpose"]),
      { minLength: 1, maxLength: 1 },
    ),
    scoringFunctions: fc.array(
      maybe({
        name: fc.constantFrom("f", "llm-as-judge::base"),
        provider: fc.constantFrom("llm-as-judge", "basic", "absent"),
        returnType: fc.constantFrom("number", "json"),
        judge: maybe({ model: modelName, scoreRegexes: fc.array(fc.string({ minLength: 1 }), { maxLength: 2 }) }, [
          "model",
        ]),
      }, ["name"]),
      { minLength: 1, maxLength: 1 },
    ),
    benchmarks: fc.array(
      maybe({
        name: fc.constantFrom("b"),
        dataset: fc.constantFrom("d", "absent"),
        scoringFunctions: fc.constantFrom(["f"], ["basic::equality", "f"]),
        provider: fc.constantFrom("builtin", "absent"),
        metadata: settings,
      }, ["name", "dataset", "scoringFunctions"]),
      { minLength: 1, maxLength: 1 },
    ),
    toolGroups: fc.uniqueArray(
      maybe({
        name: fc.constantFrom("mcp::x", "mcp::y", "rag", "file_search", "own"),
        provider: fc.oneof(fc.constantFrom("toolRuntime", "toolRuntime-1", "model-context-protocol"), id),
        endpoint,
        args: settings,
      }, ["name"]),
      { minLength: 1, maxLength: 2, selector: ({ name }) => name },
    ),
    shieldConfigs: fc.uniqueArray(
      maybe({
        name: fc.constantFrom("guard", "s", "code-shield"),
        provider: fc.oneof(fc.constantFrom("safety", "safety-1", "code-scanner"), id),
        providerShieldId: rarely(fc.constantFrom("m", "vllm/m", "code-shield"), fc.string()),
        params: settings,
      }, ["name"]),
      { minLength: 1, maxLength: 2, selector: ({ name }) => name },
    ),
  }),
  fc.subarray([
    "models",
    "models",
    "tools",
    "shields",
    "shieldConfigs",
    "toolGroups",
    "vectorStores",
    "datasets",
    "scoringFunctions",
    "benchmarks",
  ], { maxLength: 2 }),
).map(([all, kept]) => Object.fromEntries(Object.entries(all).filter(([list]) => kept.includes(list))));

const spec = maybe({
  auth,
  tenancy,
  distribution: rarely(
    fc.constantFrom<JsonObject>(
      { name: "starter" },
      { name: "ogx-starter" },
      { name: "postgres-demo" },
      { name: "ogx-postgres-demo" },
      { image: "llamastack/distribution-starter:0.7.1" },
      { image: "x", serverVersion: "1.5" },
    ),
    anything,
  ),
  providers,
  resources,
  connectors: fc.uniqueArray(
    maybe({
      connectorId: fc.constantFrom("x", "c", "own"),
      url: rarely(fc.constantFrom("http://mcp:8000/mcp", "https://u:p@mcp/", "${env.URL}"), fc.string()),
      serverLabel: rarely(fc.constantFrom("label"), fc.string()),
    }, ["connectorId", "url"]),
    { minLength: 1, maxLength: 2, selector: ({ connectorId }) => connectorId },
  ),
  vectorStores: rarely(
    maybe({
      defaultProvider: fc.oneof(id, fc.constantFrom("vectorIo", "vectorIo-1", "sqlite-vec", "qdrant", "faiss ")),
      defaultEmbeddingModel: modelName,
      defaultRerankerModel: modelName,
      chunking: rarely(
        maybe({
          maxChunkSizeTokens: rarely(
            fc.constantFrom(100, 800, 4096),
            fc.oneof(fc.constantFrom(99, 4097, 0.5), anything),
          ),
          chunkOverlapTokens: rarely(fc.constantFrom(0, 99), fc.oneof(fc.constantFrom(-1, 800, 2049), anything)),
        }, ["maxChunkSizeTokens"]),
        anything,
      ),
      searchMode: rarely(fc.constantFrom("vector", "keyword", "hybrid"), anything),
    }),
    anything,
  ),
  storage: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...STORAGES) as fc.Arbitrary<unknown> },
    {
      weight: 1,
      arbitrary: maybe({
        kv: maybe({ type: fc.constantFrom("sqlite", "redis", "postgres"), endpoint, password: ref }),
        sql: maybe({ type: fc.constantFrom("sqlite", "postgres"), connectionString: ref }),
      }),
    },
  ),
  disabled: rarely(
    fc.uniqueArray(
      fc.oneof(
        fc.constantFrom("inference", "files", "vectorIo", "safety", "tool_runtime", "responses"),
        fc.constantFrom(...DISABLED_NAMES),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    anything,
  ),
  networking: maybe({
    port: rarely(fc.constantFrom(8321, 1024, 65535, 80), anything),
    tls: rarely(
      fc.constantFrom<JsonObject>({ enabled: true, secretName: "t" }, {}, { caBundle: { configMapName: "c" } }, {
        caBundle: { configMapName: "c", exclusive: true },
      }),
      maybe({ enabled: fc.boolean(), secretName: fc.constant("t") }),
    ),
    expose: rarely(
      fc.constantFrom<JsonObject>({}, { hostname: "h" }, { gateway: { parentRefs: [{ name: "public" }] } }),
      fc.constant({ hostname: "" }),
    ),
    policy: rarely(
      fc.constantFrom<JsonObject>({}, { ingress: [{}] }, { egress: [] }),
      fc.constantFrom<JsonObject>({ ingress: [{ from: [{}] }] }, { enabled: false }),
    ),
    allowedFrom: fc.constantFrom<JsonObject>({}, { namespaces: ["gateway"] }, { namespaces: ["*"] }),
  }),
  monitoring: maybe({
    enabled: fc.boolean(),
    port: rarely(fc.constantFrom(9464, 8321, 65535, 80), anything),
    labels: fc.constantFrom<JsonObject>({}, { release: "prometheus" }),
    rules: fc.boolean(),
  }),
  workload: maybe({
    replicas: fc.constantFrom(0, 1, 3),
    scaling: fc.constantFrom("Operator", "External"),
    workers: fc.constantFrom(1, 4),
    storage: maybe({ mountPath: fc.constantFrom("/data", "/data/", "/", "") }),
    overrides: maybe({
      env: fc.array(maybe({ name: fc.constantFrom("A", "HF_HOME"), value: fc.string() }, ["name"]), { maxLength: 2 }),
    }),
  }),
  externalProviders: fc.constantFrom<JsonObject>({}, { inference: [] }, {
    inference: [{ providerId: "x", image: "y" }],
  }, {
    volumeSizeLimit: "1Gi",
    eval: [{ providerId: "e", image: "y", imagePullPolicy: "Always", config: { a: [1, "b"] } }],
    toolRuntime: [{ providerId: "openai", image: "y", secretRefs: { key: { secretKeyRef: { name: "s", key: "k" } } } }],
  }),
  baseConfig: rarely(fc.constantFrom({ configMapName: "c" }, { configMapName: "c", key: "k" }), anything),
  overrideConfig: fc.constantFrom<JsonObject>({ configMapName: "c" }),
}, ["distribution"]);

/** Most have a block or two; overrideConfig and external providers are rare, since they end the story early. */
export const arbitraryResource: fc.Arbitrary<JsonObject> = fc.tuple(
  spec,
  fc.subarray([
    "providers",
    "resources",
    "connectors",
    "monitoring",
    "vectorStores",
    "storage",
    "disabled",
    "networking",
    "workload",
    "auth",
  ]),
  fc.integer({ min: 0, max: 19 }),
).map(([all, kept, chance]) => ({
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  metadata: { name: "my" },
  spec: Object.fromEntries(
    Object.entries(all).filter(([key]) =>
      key === "distribution" || kept.includes(key) ||
      chance <= 1 && ["overrideConfig", "externalProviders"].includes(key) || chance === 2 && key === "baseConfig"
    ),
  ),
}));
