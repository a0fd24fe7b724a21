/**
 * Where each provider type reads its address and which path it expects of it, kept by hand from the adapters of the
 * servers: the operator's own tables are held against this one.
 */
export interface EndpointReading {
  /** In the provider's config. */
  readonly field: string;
  /** Where host and port are two fields. */
  readonly portField?: string;
  /** What a bare `http://host:port` lacks to be a base URL of this type; undefined: it lacks nothing. */
  readonly path?: string;
  /** What the adapter itself puts between base URL and `/chat/completions`. */
  readonly adds?: string;
}

/** By API and type; what is missing reads no address. */
export const endpointReading = (api: string, type: string): EndpointReading | undefined =>
  Object.hasOwn(READINGS, `${api} ${type}`) ? READINGS[`${api} ${type}`] : undefined;

const READINGS: Readonly<Record<string, EndpointReading>> = {
  "inference remote::azure": { field: "base_url", path: "/openai/v1" },
  "inference remote::cerebras": { field: "base_url", path: "/v1" },
  "inference remote::databricks": { field: "base_url", path: "/serving-endpoints" },
  "inference remote::deepseek": { field: "base_url", path: "/v1" },
  "inference remote::fireworks": { field: "base_url", path: "/inference/v1" },
  "inference remote::groq": { field: "base_url", path: "/openai/v1" },
  "inference remote::llama-cpp-server": { field: "base_url", path: "/v1" },
  "inference remote::llama-openai-compat": { field: "base_url", path: "/compat/v1" },
  "inference remote::meta": { field: "base_url", path: "/v1" },
  "inference remote::mistral": { field: "base_url", path: "/v1" },
  "inference remote::nvidia": { field: "base_url", path: "/v1" },
  "inference remote::ollama": { field: "base_url", path: "/v1" },
  "inference remote::openai": { field: "base_url", path: "/v1" },
  "inference remote::passthrough": { field: "base_url", adds: "/v1" },
  "inference remote::runpod": { field: "base_url", path: "/v1" },
  "inference remote::sambanova": { field: "base_url", path: "/v1" },
  "inference remote::text-embeddings-inference": { field: "base_url", path: "/v1" },
  "inference remote::together": { field: "base_url", path: "/v1" },
  "inference remote::vllm": { field: "base_url", path: "/v1" },
  "inference remote::watsonx": { field: "base_url", adds: "/ml/v1" },
  "files remote::s3": { field: "endpoint_url" },
  "safety remote::nvidia": { field: "guardrails_service_url" },
  "safety remote::passthrough": { field: "base_url", path: "/v1" },
  "safety remote::sambanova": { field: "url", path: "/v1" },
  "vector_io remote::chromadb": { field: "url" },
  "vector_io remote::elasticsearch": { field: "elasticsearch_url" },
  "vector_io remote::infinispan": { field: "url" },
  "vector_io remote::milvus": { field: "uri" },
  "vector_io remote::neo4j": { field: "uri" },
  "vector_io remote::oci": { field: "conn_str" },
  "vector_io remote::pgvector": { field: "host", portField: "port" },
  "vector_io remote::qdrant": { field: "url" },
  "vector_io remote::weaviate": { field: "weaviate_cluster_url" },
};
