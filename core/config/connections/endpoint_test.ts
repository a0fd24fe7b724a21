import { deepStrictEqual, ok } from "node:assert/strict";
import { config, failures, generated, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt, objectAt } from "../../data/json.ts";

const spec = (provider: string, endpoint: string) => ({ providers: { inference: [{ id: "x", provider, endpoint }] } });
const url = (provider: string, endpoint: string) =>
  objectAt(listAt(config(spec(provider, endpoint), smallBase()), "providers", "inference").at(-1), "config").base_url;

for (
  const [provider, endpoint, want] of [
    ["vllm", "http://vllm:8000", "http://vllm:8000/v1"],
    ["vllm", "http://vllm:8000/", "http://vllm:8000/v1"],
    ["vllm", "http://vllm:8000/v1", "http://vllm:8000/v1"],
    ["vllm", "http://vllm:8000/own/path", "http://vllm:8000/own/path"],
    ["ollama", "http://ollama:11434", "http://ollama:11434/v1"],
    ["groq", "https://groq.example.com", "https://groq.example.com/openai/v1"],
    ["vllm", "http://[::1]:8000", "http://[::1]:8000/v1"],
    ["vllm", "${env.VLLM_URL:=http://vllm:8000}", "${env.VLLM_URL:=http://vllm:8000}"],
    ["vllm", "http://${env.HOSTNAME}:8000", "http://${env.HOSTNAME}:8000/v1"],
    ["vllm", "http://${env.HOSTNAME}:8000/own", "http://${env.HOSTNAME}:8000/own"],
    ["vllm", "http://${env.HOSTNAME}", "http://${env.HOSTNAME}"],
  ] as const
) {
  Deno.test(`addressFields() converts ${endpoint} of ${provider} to ${want}`, () => {
    deepStrictEqual(url(provider, endpoint), want);
  });
}

Deno.test("addressFields() reports what it added", () => {
  deepStrictEqual(warnings(spec("vllm", "http://vllm:8000")), [
    "EndpointCompleted at spec.providers.inference[0].endpoint",
  ]);
});

for (
  const endpoint of [
    "vllm:8000",
    "vllm",
    "ftp://vllm",
    "http://",
    "://",
    "http:///vllm",
    " http://vllm/v1",
    "http://vllm/v1\n",
    "http://vllm:99999",
  ]
) {
  Deno.test(`addressFields() rejects ${JSON.stringify(endpoint)} where a URL is read, once`, () => {
    deepStrictEqual(failures(spec("vllm", endpoint)), ["UnusableEndpoint at spec.providers.inference[0].endpoint"]);
  });
}

Deno.test("addressFields() names a port that does not exist", () => {
  ok(
    rejected(spec("vllm", "http://vllm:99999")).failures[0]?.message.endsWith(
      `invalid port "99999"; ports range from 1 to 65535`,
    ),
  );
});

Deno.test("addressFields() warns of user and password in a URL and prints neither", () => {
  const withPassword = spec("vllm", "http://user:hunter2@vllm:8000");
  deepStrictEqual(warnings(withPassword), [
    "EndpointCompleted at spec.providers.inference[0].endpoint",
    "CredentialInEndpoint at spec.providers.inference[0].endpoint",
  ]);
  ok(generated(withPassword).config.warnings.every(({ message }) => !message.includes("hunter2")));
  ok(rejected(spec("vllm", "ftp://user:hunter2@vllm")).failures.every(({ message }) => !message.includes("hunter2")));
});

for (const path of ["/v1/chat/completions", "/v1/embeddings/", "/v1/models"]) {
  Deno.test(`addressFields() warns that the endpoint ends with ${path}, the path of a request`, () => {
    deepStrictEqual(warnings(spec("vllm", `http://vllm:8000${path}`)), [
      "EndpointOfRequest at spec.providers.inference[0].endpoint",
    ]);
  });
}

Deno.test("addressFields() accepts paths of proxies before the one of the API", () => {
  deepStrictEqual(warnings(spec("vllm", "http://gateway/models/vllm/v1")), []);
});

const vector = (provider: string, endpoint: string) => ({
  distribution: { name: "ogx-starter" },
  providers: { vectorIo: [{ id: "x", provider, endpoint }] },
});

for (
  const [provider, endpoint] of [
    ["chromadb", "chroma:8000"],
    ["chromadb", "http://chroma:8000/api/v1"],
    ["chromadb", "https://chroma.example.com:8000"],
    ["weaviate", "http://weaviate:8080"],
    ["weaviate", "weaviate.vectors.svc:8080"],
    ["weaviate", "weaviate"],
    ["weaviate", "https://weaviate.vectors.svc:8443"],
    ["weaviate", "http://localhost:8080"],
    ["weaviate", "https://localhost.example.com"],
    ["milvus", "milvus:19530"],
    ["neo4j", "neo:7687"],
    ["elasticsearch", "es:9200"],
    ["elasticsearch", "http://es"],
  ] as const
) {
  Deno.test(`addressFields() rejects ${endpoint}, which the client of ${provider} cannot use`, () => {
    deepStrictEqual(failures(vector(provider, endpoint)), ["UnusableEndpoint at spec.providers.vectorIo[0].endpoint"]);
  });
}

Deno.test("a URL without a scheme is refused or warned of where the server takes any text", () => {
  const of = (provider: JsonObject) => ({
    distribution: { name: "starter", serverVersion: "0.2" },
    providers: { inference: [{ id: "x", ...provider }] },
  });
  for (const provider of ["openai", "vllm", "ollama", "groq"]) {
    deepStrictEqual(failures(of({ provider, endpoint: "/db" })), [
      "UnusableEndpoint at spec.providers.inference[0].endpoint",
    ]);
  }
  const settings = (text: string) => warnings(of({ provider: "openai", settings: { base_url: text } }));
  deepStrictEqual(settings("openai/v1"), ["EndpointIncomplete at spec.providers.inference[0].settings.base_url"]);
  deepStrictEqual(settings("${env.X:=openai/v1}"), [
    "EndpointIncomplete at spec.providers.inference[0].settings.base_url",
  ]);
  deepStrictEqual(settings("https://openai/v1"), []);
});

for (const api of ["datasetIo", "eval", "safety"]) {
  Deno.test(`addressFields() rejects a URL without a scheme for a ${api} provider of type remote::nvidia`, () => {
    const spec = (endpoint: string) => ({
      distribution: { name: "starter", serverVersion: "0.7" },
      providers: { [api]: [{ id: "x", provider: "remote::nvidia", endpoint }] },
    });
    deepStrictEqual(failures(spec("nemo:8000")), [`UnusableEndpoint at spec.providers.${api}[0].endpoint`]);
    deepStrictEqual(warnings(spec("https://nemo:8000")), []);
  });
}

for (
  const [provider, endpoint] of [
    ["chromadb", "http://chroma:8000/"],
    ["weaviate", "https://cluster.weaviate.cloud"],
    ["weaviate", "cluster.weaviate.network"],
    ["weaviate", "localhost:8080"],
    ["milvus", "http://milvus:19530"],
    ["milvus", "/.llama/milvus.db"],
    ["milvus", "unix:///run/milvus.sock"],
    ["qdrant", "qdrant.example:6333"],
    ["elasticsearch", "https://es"],
    ["neo4j", "bolt+s://neo:7687"],
    ["elasticsearch", "https://es:9200"],
  ] as const
) {
  Deno.test(`addressFields() accepts ${endpoint} for ${provider}`, () => {
    deepStrictEqual(warnings(vector(provider, endpoint)), []);
  });
}

Deno.test("addressFields() rejects an MCP endpoint that is no URL, and warns of a password in one", () => {
  const mcp = (endpoint: string) => ({
    providers: { toolRuntime: [{ id: "weather", provider: "model-context-protocol", endpoint }] },
  });
  deepStrictEqual(failures(mcp("weather:8000/mcp")), ["UnusableEndpoint at spec.providers.toolRuntime[0].endpoint"]);
  ok(
    warnings(mcp("http://u:hunter2@weather:8000/mcp")).includes(
      "CredentialInEndpoint at spec.providers.toolRuntime[0].endpoint",
    ),
  );
});

Deno.test("addressFields() rejects a placeholder that the server would not expand", () => {
  for (const endpoint of ["${env.url}", "http://${env.HOST:-vllm}:8000/v1"]) {
    deepStrictEqual(failures(spec("vllm", endpoint)), ["UnusableEndpoint at spec.providers.inference[0].endpoint"]);
  }
});

Deno.test("addressFields() splits placeholders for types that read host and port apart", () => {
  const pgvector = (endpoint: string) => ({
    ...vector("pgvector", endpoint),
    workload: { overrides: { env: [{ name: "PGH", value: "db" }, { name: "PGP", value: "5432" }] } },
  });
  for (
    const [endpoint, host, port] of [
      ["${env.PGH:=localhost}", "${env.PGH:=localhost}", undefined],
      ["${env.PGH}:${env.PGP}", "${env.PGH}", "${env.PGP}"],
      ["db:${env.PGP}", "db", "${env.PGP}"],
    ] as const
  ) {
    const entry = listAt(config(pgvector(endpoint)), "providers", "vector_io").find((item) =>
      at(item, "provider_id") === "x"
    );
    deepStrictEqual([at(entry, "config", "host"), at(entry, "config", "port")], [host, port]);
  }
});
