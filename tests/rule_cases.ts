/** For each rule one spec that keeps it and one that breaks it; used against our own check and against a real API server. */
import { EXTERNAL_LISTS, namesOfApi, PROVIDER_LISTS } from "../core/api/api_names.ts";
import type { Json, JsonObject } from "../core/data/json.ts";

export interface RuleCase {
  /** The rule's message in rules.ts. */
  readonly message: string;
  readonly passes: JsonObject;
  readonly fails: JsonObject;
  /** What is said, where the message is made from the value. */
  readonly says?: string;
}

const ref = { secretKeyRef: { name: "s", key: "k" } };
const provider = (id: string) => ({ id, provider: "vllm" });

const disabledAndDeclared = (field: string, api: string, spelling: string): RuleCase => ({
  message: `${api} cannot be both in providers and disabled`,
  passes: { providers: { [field]: [provider("a")] }, disabled: ["shields"] },
  fails: { providers: { [field]: [provider("a")] }, disabled: [spelling] },
});

const external = (providerId: string) => ({ providerId, image: "registry.example.com/own:1" });

const disabledAndExternal = ({ field, api }: { readonly field: string; readonly api: string }): RuleCase => ({
  message: `${api} cannot be both in externalProviders and disabled`,
  passes: { externalProviders: { [field]: [] }, disabled: [api] },
  fails: { externalProviders: { [field]: [external("a")] }, disabled: [api] },
});

const overrideExcludes = (field: string, value: JsonObject | ReadonlyArray<Json>): RuleCase => ({
  message: `overrideConfig and ${field} are mutually exclusive`,
  passes: { [field]: value },
  fails: { overrideConfig: { configMapName: "c" }, [field]: value },
});

const ADMIN = { permit: { actions: ["read"] }, when: ["user with admin in roles"] };
const MODELS = { permit: { paths: ["/v1/models"] } };
const GATEWAY = { auth: { upstreamHeader: { principalHeader: "x-user" } } };

const AUTHENTICATION: ReadonlyArray<RuleCase> = [
  {
    message: "defaultTenantId is required when mode is single",
    passes: { tenancy: { mode: "single", defaultTenantId: "a" } },
    fails: { tenancy: { mode: "single" } },
  },
  {
    message: "defaultTenantId is only valid when mode is single",
    passes: { tenancy: { mode: "multi" }, auth: { webhook: { endpoint: "http://who", tenantField: "tenant" } } },
    fails: {
      tenancy: { mode: "multi", defaultTenantId: "a" },
      auth: { webhook: { endpoint: "http://who", tenantField: "tenant" } },
    },
  },
  ...[{}, { auth: { webhook: { endpoint: "http://who" } } }, { auth: { kubernetes: {} } }].map((more): RuleCase => ({
    message: "tenancy.mode multi requires auth.oidc.tenantClaim or auth.introspection.tenantClaim or " +
      "auth.webhook.tenantField or auth.upstreamHeader.tenantHeader, without which no caller has a tenant",
    passes: {
      tenancy: { mode: "multi" },
      auth: { oidc: { issuer: "https://i", audience: "a", jwksUri: "https://i/k", tenantClaim: "org" } },
    },
    fails: { tenancy: { mode: "multi" }, ...more },
  })),
  {
    message: "overrideConfig and tenancy are mutually exclusive",
    passes: { overrideConfig: { configMapName: "c" } },
    fails: { overrideConfig: { configMapName: "c" }, tenancy: { mode: "single", defaultTenantId: "a" } },
  },
  {
    message: "exactly one of oidc, introspection, kubernetes, webhook and upstreamHeader must be specified",
    passes: { auth: { webhook: { endpoint: "http://who" } } },
    fails: { auth: { webhook: { endpoint: "http://who" }, kubernetes: {} } },
  },
  ...[{ policy: "accessPolicy", rule: ADMIN }, { policy: "routePolicy", rule: MODELS }].flatMap((
    { policy, rule },
  ): ReadonlyArray<RuleCase> => [
    {
      message: "exactly one of permit and forbid must be specified",
      passes: { auth: { kubernetes: {}, [policy]: [rule] } },
      fails: { auth: { kubernetes: {}, [policy]: [rule, { ...rule, forbid: rule.permit }] } },
    },
    {
      message: "when and unless are mutually exclusive",
      passes: { auth: { kubernetes: {}, [policy]: [{ ...rule, when: ["user is owner"] }] } },
      fails: { auth: { kubernetes: {}, [policy]: [{ ...rule, when: ["user is owner"], unless: ["user is owner"] }] } },
    },
  ]),
  ...[
    {},
    { networking: { allowedFrom: { namespaces: ["*"] } } },
    { networking: { allowedFrom: {}, expose: {} } },
    { networking: { allowedFrom: {}, policy: { ingress: [] } } },
    { networking: { allowedFrom: { labels: ["kubernetes.io/metadata.name"] } } },
  ].map((more): RuleCase => ({
    message:
      "auth.upstreamHeader requires networking.allowedFrom without * or a label of every namespace, and excludes " +
      "networking.expose and networking.policy.ingress: the server believes whoever reaches it",
    passes: { ...GATEWAY, networking: { allowedFrom: { namespaces: ["gateway"] }, expose: { enabled: false } } },
    fails: { ...GATEWAY, ...more },
  })),
];

const parents = (...refs: ReadonlyArray<JsonObject>): JsonObject => ({
  networking: { expose: { gateway: { parentRefs: refs.map((ref) => ({ name: "p", ...ref })) } } },
});

export const RULE_CASES: ReadonlyArray<RuleCase> = [
  {
    message: "only one of name or image can be specified",
    passes: { distribution: { image: "x" } },
    fails: { distribution: { name: "starter", image: "x" } },
  },
  {
    message: "one of name or image must be specified",
    passes: { distribution: { name: "starter" } },
    fails: { distribution: {} },
  },
  overrideExcludes("baseConfig", { configMapName: "b" }),
  overrideExcludes("providers", {}),
  overrideExcludes("resources", {}),
  overrideExcludes("connectors", [{ connectorId: "a", url: "http://a/mcp" }]),
  overrideExcludes("vectorStores", {}),
  overrideExcludes("storage", {}),
  overrideExcludes("disabled", ["eval"]),
  overrideExcludes("externalProviders", {}),
  {
    message: "overrideConfig and auth are mutually exclusive",
    passes: { auth: { kubernetes: {} } },
    fails: { overrideConfig: { configMapName: "c" }, auth: { kubernetes: {} } },
  },
  ...AUTHENTICATION,
  ...PROVIDER_LISTS.flatMap(({ field, api }) =>
    namesOfApi(api).map((spelling) => disabledAndDeclared(field, api, spelling))
  ),
  ...EXTERNAL_LISTS.map(disabledAndExternal),
  {
    message: "autoscaling and scaling External are mutually exclusive",
    passes: { workload: { scaling: "Operator", autoscaling: { maxReplicas: 2 } } },
    fails: { workload: { scaling: "External", autoscaling: { maxReplicas: 2 } } },
  },
  {
    message: "ids of external providers must be unique",
    passes: { externalProviders: { inference: [external("a")], eval: [external("b")], safety: [] } },
    fails: { externalProviders: { inference: [external("a")], eval: [external("b"), external("a")] } },
    says: "ids of external providers must be unique; more than one is a",
  },
  {
    message: "volumeSizeLimit must be greater than 0",
    passes: { externalProviders: { volumeSizeLimit: "100Mi" } },
    fails: { externalProviders: { volumeSizeLimit: 0 } },
  },
  {
    message: "kv type postgres requires sql type postgres",
    passes: { storage: { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: ref } } },
    fails: { storage: { kv: { type: "postgres" }, sql: {} } },
  },
  {
    message: "endpoint is required when type is redis",
    passes: { storage: { kv: { type: "redis", endpoint: "r" } } },
    fails: { storage: { kv: { type: "redis" } } },
  },
  {
    message: "endpoint is only valid when type is redis",
    passes: { storage: { kv: {} } },
    fails: { storage: { kv: { endpoint: "r" } } },
  },
  {
    message: "password is only valid when type is redis",
    passes: { storage: { kv: { type: "redis", endpoint: "r", password: ref } } },
    fails: { storage: { kv: { type: "sqlite", password: ref } } },
  },
  {
    message: "connectionString is required when type is postgres",
    passes: { storage: { sql: { type: "postgres", connectionString: ref } } },
    fails: { storage: { sql: { type: "postgres" } } },
  },
  {
    message: "connectionString is only valid when type is postgres",
    passes: { storage: { sql: {} } },
    fails: { storage: { sql: { connectionString: ref } } },
  },
  {
    message: "each provider must have an explicit id when multiple providers are specified",
    passes: { providers: { inference: [provider("a"), provider("b")] } },
    fails: { providers: { inference: [provider("a"), { provider: "openai" }] } },
  },
  {
    message: "provider ids of an API must be unique",
    passes: { providers: { inference: [provider("a")], safety: [{ provider: "inline::a" }] } },
    fails: { providers: { inference: [provider("b")], safety: [provider("a"), provider("c"), provider("a")] } },
    says: "provider ids of an API must be unique; more than one is a",
  },
  {
    message: "models must be unique by name and provider",
    passes: { resources: { models: [{ name: "a" }, { name: "a", provider: "p" }] } },
    fails: { resources: { models: [{ name: "a", provider: "p" }, { name: "a", provider: "p" }] } },
  },
  {
    message: "a shield cannot be in both shields and shieldConfigs",
    passes: { resources: { shields: ["a"], shieldConfigs: [{ name: "b" }] } },
    fails: { resources: { shields: ["a"], shieldConfigs: [{ name: "b" }, { name: "a" }] } },
  },
  {
    message: "a tool group cannot be in both tools and toolGroups",
    passes: { resources: { tools: ["websearch"], toolGroups: [{ name: "rag" }] } },
    fails: { resources: { tools: ["websearch"], toolGroups: [{ name: "websearch" }] } },
  },
  {
    message: "exactly one of uri and rows must be specified",
    passes: { resources: { datasets: [{ name: "a", purpose: "eval/question-answer", uri: "file:///a" }] } },
    fails: { resources: { datasets: [{ name: "a", purpose: "eval/question-answer", uri: "a", rows: [{ b: 1 }] }] } },
  },
  {
    message: "embeddingDimension is required when modelType is embedding",
    passes: { resources: { models: [{ name: "a", modelType: "embedding", embeddingDimension: 768 }] } },
    fails: { resources: { models: [{ name: "a", modelType: "embedding" }] } },
  },
  {
    message: "chunkOverlapTokens must be less than maxChunkSizeTokens",
    passes: { vectorStores: { chunking: { maxChunkSizeTokens: 100, chunkOverlapTokens: 99 } } },
    fails: { vectorStores: { chunking: { maxChunkSizeTokens: 100, chunkOverlapTokens: 100 } } },
  },
  {
    message: "secretName is required when TLS is enabled",
    passes: { networking: { tls: { enabled: true, secretName: "s" } } },
    fails: { networking: { tls: { enabled: true } } },
  },
  {
    message: "secretName is only valid when TLS is enabled",
    passes: { networking: { tls: { caBundle: { configMapName: "c" } } } },
    fails: { networking: { tls: { secretName: "s" } } },
  },
  {
    message: "hostname must not be empty if specified",
    passes: { networking: { expose: {} } },
    fails: { networking: { expose: { hostname: "" } } },
  },
  ...[{ allowedFrom: {} }, { policy: { enabled: false, ingress: [] } }, { policy: { enabled: false, egress: [] } }].map(
    (more): RuleCase => ({
      message: "policy.enabled false excludes allowedFrom and rules in policy",
      passes: { networking: { policy: { enabled: false } } },
      fails: { networking: { policy: { enabled: false }, ...more } },
    }),
  ),
  ...["ingressClassName", "tlsSecretName"].map((field): RuleCase => ({
    message: "gateway cannot be combined with ingressClassName or tlsSecretName, which are of an Ingress",
    passes: { networking: { expose: { gateway: {} } } },
    fails: { networking: { expose: { gateway: {}, [field]: "a" } } },
  })),
  ...["H.example.com", "*", "10.0.0.1", "fd00::1", "a.*.example.com"].map((hostname): RuleCase => ({
    message: "hostname must be a DNS name in lower case beside gateway, with a wildcard only as in *.example.com",
    passes: { networking: { expose: { gateway: {}, hostname: "*.h1.example.com" } } },
    fails: { networking: { expose: { gateway: {}, hostname } } },
  })),
  ...[["a", "a"], ["a", undefined], [undefined, "a"], [undefined, undefined]].map((sections): RuleCase => ({
    message: "parentRefs with the same Gateway must each name another sectionName",
    passes: parents({ sectionName: "a" }, { sectionName: "b" }, { namespace: "n" }),
    fails: parents(...sections.map((sectionName) => sectionName === undefined ? {} : { sectionName })),
  })),
  {
    message: "maxReplicas must be greater than or equal to minReplicas",
    passes: { workload: { autoscaling: { minReplicas: 2, maxReplicas: 2 } } },
    fails: { workload: { autoscaling: { minReplicas: 3, maxReplicas: 2 } } },
  },
  {
    message: "existingClaim cannot be combined with size or storageClassName",
    passes: { workload: { storage: { existingClaim: "c" } } },
    fails: { workload: { storage: { existingClaim: "c", size: "1Gi" } } },
  },
  {
    message: "size must be greater than 0",
    passes: { workload: { storage: { size: "0.5Gi" } } },
    fails: { workload: { storage: { size: "0" } } },
  },
  {
    message: "minAvailable and maxUnavailable are mutually exclusive",
    passes: { workload: { podDisruptionBudget: { minAvailable: 1 } } },
    fails: { workload: { podDisruptionBudget: { minAvailable: 1, maxUnavailable: "50%" } } },
  },
];
