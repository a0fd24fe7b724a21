import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, generated, secret, warnings } from "../../../tests/given.ts";
import { at, isObject, type JsonObject, listAt, stringAt } from "../../data/json.ts";

const PGVECTOR = {
  id: "pgvector",
  provider: "pgvector",
  settings: { host: "db", port: 5432, db: "d", user: "u" },
  secretRefs: { password: secret("db", "password") },
};
const QDRANT = { id: "qdrant", provider: "qdrant", endpoint: "http://qdrant:6333" };
const VLLM = { id: "vllm", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const on = (serverVersion: string, spec: JsonObject) => ({ distribution: { name: "starter", serverVersion }, ...spec });
const embedding = (name: string, more: JsonObject = {}) => ({
  name,
  provider: "vllm",
  modelType: "embedding",
  embeddingDimension: 384,
  ...more,
});
const defaults = (spec: JsonObject) => {
  const { default_provider_id, default_embedding_model } = (config(spec).vector_stores ?? {}) as JsonObject;
  return [default_provider_id, default_embedding_model];
};
const ST = { provider_id: "sentence-transformers", model_id: "nomic-ai/nomic-embed-text-v1.5" };
const chosen = (spec: JsonObject) =>
  generated(spec).config.warnings.filter(({ code }) => code === "DefaultChosen").map(({ message }) => message);

for (const version of ["0.3.5", "0.4.7", "0.6.1", "0.7.3", "0.8.0", "1.1.3", "1.4.1", "1.5.0"]) {
  Deno.test(`the first vector provider of the resource is the default of ${version}, and not that of the base config`, () => {
    deepStrictEqual(defaults(on(version, { providers: { inference: [VLLM] } })), ["faiss", ST]);
    deepStrictEqual(defaults(on(version, { providers: { vectorIo: [PGVECTOR] } })), ["pgvector", ST]);
    deepStrictEqual(defaults(on(version, { providers: { vectorIo: [QDRANT, PGVECTOR] } })), ["qdrant", ST]);
  });
}

Deno.test("several vector providers or embedding models of the resource cause a warning that names the default", () => {
  deepStrictEqual(warnings(on("1.4.1", { providers: { vectorIo: [PGVECTOR] } })), []);
  deepStrictEqual(chosen(on("1.4.1", { providers: { vectorIo: [QDRANT, PGVECTOR] } })), [
    'vector stores that name no provider go to "qdrant", the first one; requests can name "pgvector", and ' +
    "spec.vectorStores.defaultProvider chooses another default",
  ]);
  const models = [{ name: "m" }, embedding("a"), embedding("b")];
  deepStrictEqual(chosen(on("1.4.1", { providers: { inference: [VLLM] }, resources: { models } })), [
    'vector stores that name no embedding model use "vllm/a", the first one; requests can name "vllm/b", and ' +
    "spec.vectorStores.defaultEmbeddingModel chooses another default",
  ]);
});

Deno.test("the first embedding model of the resource is the default, by the name that the server knows", () => {
  const of = (version: string, model: JsonObject) =>
    defaults(on(version, { providers: { inference: [VLLM] }, resources: { models: [{ name: "m" }, model] } }))[1];
  for (const version of ["0.3.5", "0.7.3", "1.4.1"]) {
    deepStrictEqual(of(version, embedding("e")), { provider_id: "vllm", model_id: "e" });
  }
  const renamed = embedding("e", { providerModelId: "org/e" });
  deepStrictEqual(of("0.7.3", renamed), { provider_id: "vllm", model_id: "org/e" });
  deepStrictEqual(of("1.4.1", renamed), { provider_id: "vllm", model_id: "e" });
  // The provider is chosen by the operator.
  const { provider: _, ...open } = embedding("e");
  deepStrictEqual(of("1.4.1", open), { provider_id: "vllm", model_id: "e" });
});

Deno.test("a config without the section gets one for what the resource declares, and an external provider counts", () => {
  const demo = { distribution: { name: "postgres-demo" } };
  deepStrictEqual(defaults({ ...demo, providers: { vectorIo: [PGVECTOR] } }), ["pgvector", undefined]);
  strictEqual(config({ ...demo, providers: { inference: [VLLM] } }).vector_stores, undefined);
  const external = { externalProviders: { vectorIo: [{ providerId: "own", image: "registry.example.com/own:1" }] } };
  deepStrictEqual(defaults(on("1.4.1", external))[0], "own");
});

Deno.test("the memory of OGX is stored where vector stores go, unless the resource declares the responses provider", () => {
  const memory = (spec: JsonObject) =>
    listAt(config(spec), "providers", "responses").filter(isObject)
      .map((entry) => at(entry, "config", "memory_config", "default_vector_store_provider_id"));
  deepStrictEqual(memory(on("1.4.1", { providers: { inference: [VLLM] } })), ["sqlite-vec"]);
  deepStrictEqual(memory(on("1.4.1", { providers: { vectorIo: [PGVECTOR] } })), ["pgvector"]);
});

Deno.test("a default reranker whose provider the resource replaces is left out", () => {
  const replaced = { ...VLLM, id: "sentence-transformers" };
  const spec = (inference: ReadonlyArray<JsonObject>) =>
    on("1.4.1", {
      providers: { inference },
      resources: { models: [embedding("e", { provider: inference[0]?.id ?? "" })] },
    });
  const reranker = (inference: ReadonlyArray<JsonObject>) =>
    at(config(spec(inference)), "vector_stores", "default_reranker_model");
  strictEqual(stringAt(reranker([VLLM]), "provider_id"), "sentence-transformers");
  strictEqual(reranker([replaced]), undefined);
});

Deno.test("servers up to 0.2 take the first provider of the config, which is then that of the resource", () => {
  const made = config(on("0.2.24", { providers: { vectorIo: [QDRANT, PGVECTOR] } }));
  const ids = listAt(made, "providers", "vector_io").map((entry) => stringAt(entry, "provider_id"));
  deepStrictEqual(ids.slice(0, 3), ["qdrant", "pgvector", "faiss"]);
  ok(made.vector_stores === undefined);
});

Deno.test("a removed default of the base config causes a warning where several vector providers are left and none is chosen", () => {
  const missing = (spec: JsonObject) =>
    generated(spec).config.warnings.filter(({ code }) => code === "DefaultMissing").map(({ message }) => message);
  const without = (...disabled: ReadonlyArray<string>) => on("1.5.0", { disabled });
  const chroma = { workload: { overrides: { env: [{ name: "CHROMADB_URL", value: "http://chroma:8000" }] } } };
  const switched = {
    ...chroma,
    workload: {
      overrides: {
        env: [...chroma.workload.overrides.env, {
          name: "ENABLE_CHROMADB",
          value: "1",
        }],
      },
    },
  };
  // Of the others only sqlite-vec is on.
  deepStrictEqual(missing(without("vectorIo/faiss")), []);
  deepStrictEqual(missing({ ...without("vectorIo/faiss"), ...switched }), [
    'requests for a vector store that name no provider fail: the server has "sqlite-vec", "chromadb" and no default; ' +
    "choose one",
  ]);
  deepStrictEqual(
    missing({ ...without("vectorIo/faiss"), ...switched, vectorStores: { defaultProvider: "chromadb" } }),
    [],
  );
});
