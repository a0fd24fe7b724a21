/**
 * What the config generator of the OGX operator covers with its own cases (cmd/configgen, seen at 1784464), said in resources of
 * this operator. Where the result differs on purpose, the row says why.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, generated, secret, warnings } from "../../tests/given.ts";
import { at, isObject, type Json, type JsonObject, listAt } from "../data/json.ts";

const ON = { distribution: { name: "starter", serverVersion: "1.5.0" } };
const VLLM = { provider: "vllm", endpoint: "https://vllm.example.com:8000" };
const BASE_URL = "https://vllm.example.com:8000/v1";

const PROVIDERS: ReadonlyArray<
  readonly [what: string, list: string, api: string, provider: JsonObject, written: JsonObject, difference?: string]
> = [
  [
    "an endpoint of vLLM",
    "inference",
    "inference",
    VLLM,
    { base_url: BASE_URL },
    "the path that the server needs is added",
  ],
  [
    "an endpoint with a key",
    "inference",
    "inference",
    { provider: "openai", endpoint: "https://api.openai.com/v1", apiKey: secret("openai", "api-key") },
    { base_url: "https://api.openai.com/v1", api_key: "${env.LLSD_OPENAI_API_KEY}" },
  ],
  [
    "the region of Bedrock, and its key under the name that the type reads",
    "inference",
    "inference",
    { provider: "bedrock", apiKey: secret("bedrock", "api-key"), settings: { region_name: "us-west-2" } },
    { region_name: "us-west-2", aws_bedrock_bearer_token: "${env.LLSD_BEDROCK_API_KEY}" },
  ],
  [
    "the network of a client",
    "inference",
    "inference",
    {
      ...VLLM,
      settings: {
        network: {
          tls: { verify: false, min_version: "TLSv1.3", ciphers: ["ECDHE+AESGCM"] },
          proxy: { url: "http://proxy.example.com:3128", no_proxy: ["localhost", ".internal"] },
          timeout: { connect: 30, read: 120 },
          headers: { "X-Custom": "my-value" },
        },
      },
    },
    {
      base_url: BASE_URL,
      network: {
        tls: { verify: false, min_version: "TLSv1.3", ciphers: ["ECDHE+AESGCM"] },
        proxy: { url: "http://proxy.example.com:3128", no_proxy: ["localhost", ".internal"] },
        timeout: { connect: 30, read: 120 },
        headers: { "X-Custom": "my-value" },
      },
    },
  ],
  [
    "which models are listed",
    "inference",
    "inference",
    { ...VLLM, settings: { refresh_models: true, allowed_models: ["model-a", "model-b"] } },
    { base_url: BASE_URL, refresh_models: true, allowed_models: ["model-a", "model-b"] },
  ],
  [
    "how many batches run at once",
    "batches",
    "batches",
    { provider: "reference", settings: { max_concurrent_batches: 5, max_concurrent_requests_per_batch: 10 } },
    {
      max_concurrent_batches: 5,
      max_concurrent_requests_per_batch: 10,
      sqlstore: { table_name: "batches", backend: "sql_default" },
    },
    "the store of the replaced entry stays: the server does not start without one",
  ],
  [
    "how responses are compacted",
    "responses",
    "responses",
    {
      provider: "builtin",
      settings: { compaction_config: { summarization_model: "llama3", default_compact_threshold: 10 } },
    },
    {
      compaction_config: { summarization_model: "llama3", default_compact_threshold: 10 },
      persistence: {
        responses: { table_name: "responses", backend: "sql_default", max_write_queue_size: 10000, num_writers: 4 },
      },
    },
    "the store of the replaced entry stays: the server does not start without one",
  ],
  ...([
    ["docling-serve", "remote::docling-serve", {
      endpoint: "http://docling.example.com:5001/v1",
      apiKey: secret("docling", "api-key"),
      settings: { default_chunk_size_tokens: 2048 },
    }, {
      base_url: "http://docling.example.com:5001/v1",
      api_key: "${env.LLSD_DOCLING_SERVE_API_KEY}",
      default_chunk_size_tokens: 2048,
    }],
    ["auto", "inline::auto", { settings: { extract_metadata: true, clean_text: false } }, {
      extract_metadata: true,
      clean_text: false,
    }],
    ["pypdf", "inline::pypdf", { settings: { default_chunk_overlap_tokens: 200 } }, {
      default_chunk_overlap_tokens: 200,
    }],
    ["markitdown", "inline::markitdown", { settings: { default_chunk_size_tokens: 900 } }, {
      default_chunk_size_tokens: 900,
    }],
    ["docling", "inline::docling", { settings: { do_ocr: false } }, { do_ocr: false }],
  ] as const).map(([name, provider, fields, written]) =>
    [
      `files by ${name}`,
      "fileProcessors",
      "file_processors",
      { provider, ...fields },
      written,
      "one at a time, since the server uses one",
    ] as const
  ),
  [
    "a Milvus server",
    "vectorIo",
    "vector_io",
    {
      provider: "remote::milvus",
      endpoint: "https://milvus.example.com:19530",
      secretRefs: { token: secret("milvus", "token") },
      settings: { consistency_level: "Strong" },
    },
    {
      uri: "https://milvus.example.com:19530",
      token: "${env.LLSD_MILVUS_TOKEN}",
      consistency_level: "Strong",
      persistence: { namespace: "vector_io::milvus", backend: "kv_default" },
    },
    "a store for its registry is added: the type crashes without one",
  ],
  [
    "PostgreSQL with an index",
    "vectorIo",
    "vector_io",
    {
      provider: "pgvector",
      endpoint: "pgvector.example.com:5432",
      secretRefs: { password: secret("pgvector", "password") },
      settings: { db: "vectors", user: "pguser", distance_metric: "COSINE", vector_index: { type: "HNSW", m: 16 } },
    },
    {
      host: "pgvector.example.com",
      port: 5432,
      db: "vectors",
      user: "pguser",
      password: "${env.LLSD_PGVECTOR_PASSWORD}",
      distance_metric: "COSINE",
      vector_index: { type: "HNSW", m: 16 },
      persistence: { namespace: "vector_io::pgvector", backend: "kv_default" },
    },
    "a store for its registry is added: the type crashes without one",
  ],
  [
    "Qdrant by its host",
    "vectorIo",
    "vector_io",
    {
      provider: "remote::qdrant",
      apiKey: secret("qdrant", "api-key"),
      settings: { host: "qdrant-host", port: 6333, grpc_port: 6334, prefer_grpc: true, https: true, timeout: 60 },
    },
    {
      host: "qdrant-host",
      port: 6333,
      grpc_port: 6334,
      prefer_grpc: true,
      https: true,
      timeout: 60,
      api_key: "${env.LLSD_QDRANT_API_KEY}",
      persistence: { namespace: "vector_io::qdrant_remote", backend: "kv_default" },
    },
    "a host beside a URL and a location is refused: the client of Qdrant takes one of them",
  ],
];

for (const [what, list, api, provider, written] of PROVIDERS) {
  Deno.test(`a resource can say what the generator of the OGX operator can: ${what}`, () => {
    const made = config({ ...ON, providers: { [list]: [provider] } });
    const id = String(provider.provider).split("::").at(-1);
    const entry = listAt(made, "providers", api).find((other) => at(other as Json, "provider_id") === id);
    deepStrictEqual(at(entry as Json, "config"), written);
  });
}

Deno.test("a resource can say what the generator of the OGX operator can: models, defaults, APIs, port, storage", () => {
  const providers = { inference: [VLLM], vectorIo: [{ id: "vectors", provider: "inline::faiss" }] };
  const models = [
    { name: "llama3", quantization: "fp16" },
    { name: "embed", modelType: "embedding", embeddingDimension: 384 },
  ];
  const spec = {
    ...ON,
    providers,
    resources: { models },
    vectorStores: { defaultProvider: "vectors", defaultEmbeddingModel: "embed" },
    disabled: ["batches", "file_processors"],
    networking: { port: 9090 },
    storage: { kv: { type: "sqlite" }, sql: { type: "postgres", connectionString: secret("pg", "connection") } },
  };
  const made = generated(spec).config.tree;
  const registered = listAt(made, "registered_resources", "models").filter(isObject);
  deepStrictEqual(registered.map(({ model_id, model_type }) => [model_id, model_type]), [
    ["llama3", "llm"],
    ["embed", "embedding"],
  ]);
  // The dimension belongs to the model: beside the default it would count for whatever model a request names.
  deepStrictEqual(at(made, "vector_stores", "default_embedding_model"), { provider_id: "vllm", model_id: "embed" });
  strictEqual(at(made, "vector_stores", "default_provider_id"), "vectors");
  const apis = listAt(made, "apis");
  ok(!apis.includes("batches") && !apis.includes("file_processors"));
  strictEqual(at(made, "server", "port"), 9090);
  strictEqual(at(made, "storage", "backends", "sql_default", "type"), "sql_postgres");
  // No server reads how a model is quantized from there.
  ok(warnings(spec).includes("FieldNotRead at spec.resources.models[0].quantization"));
});
