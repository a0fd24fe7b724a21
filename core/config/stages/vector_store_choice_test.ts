import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, generated, rejected, secret, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";

const VLLM = { id: "vllm", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const PGVECTOR = {
  id: "pg",
  provider: "pgvector",
  settings: { host: "db", port: 5432, db: "d", user: "u" },
  secretRefs: { password: secret("db", "password") },
};
const OWN = { id: "own", provider: "inline::faiss" };
const MODELS = [
  { name: "chat", provider: "vllm" },
  { name: "e", provider: "vllm", providerModelId: "org/e", modelType: "embedding", embeddingDimension: 384 },
  { name: "org/second", provider: "vllm", modelType: "embedding", embeddingDimension: 768 },
  { name: "r", provider: "vllm", modelType: "rerank" },
];
const on = (serverVersion: string, vectorStores: JsonObject, more: JsonObject = {}): JsonObject => ({
  distribution: { name: "starter", serverVersion },
  providers: { inference: [VLLM], vectorIo: [PGVECTOR, OWN] },
  resources: { models: MODELS.filter(({ modelType }) => modelType !== "rerank" || serverVersion !== "0.3.5") },
  vectorStores,
  ...more,
});
const section = (spec: JsonObject) => objectAt(config(spec), "vector_stores");
const messages = (spec: JsonObject, surroundings = {}) =>
  rejected(spec, surroundings).failures.map(({ message }) => message);

Deno.test("the chosen provider is the default, whether the resource, an image or the base config has it", () => {
  for (const version of ["0.3.5", "0.7.3", "1.5.0"]) {
    for (const id of ["own", "pg", "faiss", "sqlite-vec"]) {
      strictEqual(section(on(version, { defaultProvider: id })).default_provider_id, id, version);
    }
  }
  const external = { externalProviders: { vectorIo: [{ providerId: "ext", image: "registry.example.com/own:1" }] } };
  strictEqual(section(on("1.5.0", { defaultProvider: "ext" }, external)).default_provider_id, "ext");
});

Deno.test("an empty text means that there is no default, whatever the resource and the base config have", () => {
  const none = { defaultProvider: "", defaultEmbeddingModel: "", defaultRerankerModel: "" };
  for (const version of ["0.7.3", "1.5.0"]) {
    const keys = Object.keys(section(on(version, none))).filter((key) => key.startsWith("default_"));
    deepStrictEqual(keys, [], version);
  }
});

Deno.test("servers up to 0.2 have the chosen provider as the first one of the config", () => {
  const made = config(on("0.2.24", { defaultProvider: "own" }, { resources: { models: MODELS.slice(0, 1) } }));
  strictEqual(stringAt(listAt(made, "providers", "vector_io")[0], "provider_id"), "own");
  strictEqual(made.vector_stores, undefined);
});

Deno.test("the memory of responses goes to the chosen provider as well", () => {
  const [responses] = listAt(config(on("1.5.0", { defaultProvider: "own" })), "providers", "responses");
  strictEqual(stringAt(responses, "config", "memory_config", "default_vector_store_provider_id"), "own");
});

Deno.test("a choice ends the warnings about several providers and models", () => {
  const codes = (vectorStores: JsonObject) =>
    warnings(on("1.5.0", vectorStores)).filter((text) => text.startsWith("DefaultChosen"));
  deepStrictEqual(codes({}), [
    "DefaultChosen at spec.providers.vectorIo",
    "DefaultChosen at spec.resources.models",
  ]);
  deepStrictEqual(codes({ defaultProvider: "own" }), ["DefaultChosen at spec.resources.models"]);
  deepStrictEqual(codes({ defaultProvider: "own", defaultEmbeddingModel: "e" }), []);
});

for (
  const [version, model] of [["0.3.5", "org/e"], ["0.6.1", "org/e"], ["0.7.3", "org/e"], ["0.8.0", "e"], [
    "1.5.0",
    "e",
  ]] as const
) {
  Deno.test(`a model can be named as in the resource or as clients do, and is written as ${version} knows it`, () => {
    for (const name of ["e", "vllm/e", `vllm/${model}`]) {
      deepStrictEqual(section(on(version, { defaultEmbeddingModel: name })).default_embedding_model, {
        provider_id: "vllm",
        model_id: model,
      });
    }
    deepStrictEqual(section(on(version, { defaultEmbeddingModel: "org/second" })).default_embedding_model, {
      provider_id: "vllm",
      model_id: "org/second",
    });
  });
}

Deno.test("the default models of the base config can be chosen against those of the resource", () => {
  const nomic = "sentence-transformers/nomic-ai/nomic-embed-text-v1.5";
  const reranker = "sentence-transformers/Qwen/Qwen3-Reranker-0.6B";
  const made = section(on("1.5.0", { defaultEmbeddingModel: nomic, defaultRerankerModel: reranker }));
  deepStrictEqual(made.default_embedding_model, {
    provider_id: "sentence-transformers",
    model_id: "nomic-ai/nomic-embed-text-v1.5",
  });
  deepStrictEqual(made.default_reranker_model, {
    provider_id: "sentence-transformers",
    model_id: "Qwen/Qwen3-Reranker-0.6B",
  });
  const chosen = section(on("1.5.0", { defaultRerankerModel: "r" }));
  deepStrictEqual(chosen.default_reranker_model, { provider_id: "vllm", model_id: "r" });
  const demo = {
    distribution: { name: "ogx-postgres-demo", serverVersion: "1.5.0" },
    providers: { inference: [VLLM] },
  };
  const registered = "sentence-transformers/nomic-embed-text-v1.5";
  strictEqual(
    stringAt(
      section({ ...demo, vectorStores: { defaultEmbeddingModel: registered } }),
      "default_embedding_model",
      "model_id",
    ),
    "nomic-embed-text-v1.5",
  );
});

for (
  const [what, spec, message] of [
    [
      "an unknown provider",
      on("1.5.0", { defaultProvider: "sqlite_vec" }),
      'spec.vectorStores.defaultProvider: provider "sqlite_vec" not found; did you mean sqlite-vec?; available providers: ' +
      "faiss, own, pg, sqlite-vec",
    ],
    [
      "an unknown provider beside others that are off",
      {
        distribution: { name: "ogx-postgres-demo", serverVersion: "1.5.0" },
        vectorStores: { defaultProvider: "faiss" },
      },
      'spec.vectorStores.defaultProvider: provider "faiss" not found; available providers: chromadb',
    ],
    [
      "a provider that a variable switches off",
      on("1.5.0", { defaultProvider: "qdrant" }),
      'spec.vectorStores.defaultProvider: provider "qdrant" is disabled unless QDRANT_URL is set; set QDRANT_URL in ' +
      "spec.workload.overrides.env, or declare the provider in spec.providers.vectorIo",
    ],
    [
      "an unknown model",
      on("1.5.0", { defaultEmbeddingModel: "vllm/f" }),
      'spec.vectorStores.defaultEmbeddingModel: embedding model "vllm/f" not found; did you mean vllm/e?; add it to ' +
      "spec.resources.models with modelType embedding, or name one of: vllm/e, vllm/org/second, " +
      "sentence-transformers/nomic-ai/nomic-embed-text-v1.5",
    ],
    [
      "a chat model",
      on("1.5.0", { defaultEmbeddingModel: "chat" }),
      'spec.vectorStores.defaultEmbeddingModel: "chat" is a model of type llm; name one of type embedding, or change its ' +
      "modelType",
    ],
    [
      "an embedding model as reranker",
      on("1.5.0", { defaultRerankerModel: "vllm/e" }),
      'spec.vectorStores.defaultRerankerModel: "vllm/e" is a model of type embedding; name one of type rerank, or change its ' +
      "modelType",
    ],
    [
      "a reranker on a server that has none",
      on("0.6.1", { defaultRerankerModel: "r" }),
      "spec.vectorStores.defaultRerankerModel: not supported by Llama Stack 0.6.1: defaultRerankerModel; remove the field, " +
      "or use Llama Stack 0.7 or newer",
    ],
    [
      "chunking on a server that reads it nowhere",
      on("0.7.3", { chunking: { maxChunkSizeTokens: 200 } }),
      "spec.vectorStores.chunking: not supported by Llama Stack 0.7.3: chunking; remove the field, or use OGX 0.8 or newer",
    ],
    [
      "a search mode on a server that has none",
      on("0.7.3", { searchMode: "vector" }),
      "spec.vectorStores.searchMode: not supported by Llama Stack 0.7.3: searchMode; remove the field, or use OGX 0.8 or newer",
    ],
    [
      "an embedding model on a server that has none",
      on("0.2.24", { defaultEmbeddingModel: "e" }, { resources: { models: MODELS.slice(0, 2) } }),
      "spec.vectorStores.defaultEmbeddingModel: not supported by Llama Stack 0.2.24: defaultEmbeddingModel; remove the field, " +
      "or use Llama Stack 0.3 or newer",
    ],
    [
      "stores without their API",
      { disabled: ["vector_io"], vectorStores: { searchMode: "vector" } },
      "spec.vectorStores: the server has no vector_io provider that could hold a store; add one to spec.providers.vectorIo, " +
      "and do not disable that API or inference in spec.disabled, or remove the field",
    ],
    [
      "keyword search in FAISS",
      on("1.5.0", { searchMode: "hybrid", defaultProvider: "own" }),
      'spec.vectorStores.searchMode: "hybrid" needs keyword search, which "own" does not have, so that file_search would find ' +
      "nothing in the stores that it creates by default; use vector, or set spec.vectorStores.defaultProvider to a provider " +
      "of another type",
    ],
  ] as ReadonlyArray<readonly [string, JsonObject, string]>
) {
  Deno.test(`${what} is rejected in spec.vectorStores with the fix`, () => {
    deepStrictEqual(messages(spec), [message]);
  });
}

Deno.test("a model whose name begins with its provider is found by that name and by its id", () => {
  const models = [{ name: "vllm/p", modelType: "embedding", embeddingDimension: 384 }];
  for (const name of [undefined, "vllm/p"]) {
    const spec = on("1.5.0", name === undefined ? {} : { defaultEmbeddingModel: name }, { resources: { models } });
    deepStrictEqual(section(spec).default_embedding_model, { provider_id: "vllm", model_id: "p" });
  }
  const old = on("0.7.3", { defaultEmbeddingModel: "vllm/p" }, { resources: { models } });
  deepStrictEqual(section(old).default_embedding_model, { provider_id: "vllm", model_id: "vllm/p" });
});

Deno.test("a name of several models is rejected with their ids", () => {
  const two = [
    { name: "e", provider: "vllm", modelType: "embedding", embeddingDimension: 1 },
    { name: "e", provider: "other", modelType: "embedding", embeddingDimension: 1 },
  ];
  const providers = { inference: [VLLM, { ...VLLM, id: "other" }] };
  const spec = (name: string) =>
    on("1.5.0", { defaultEmbeddingModel: name }, { providers, resources: { models: two } });
  deepStrictEqual(messages(spec("e")), [
    'spec.vectorStores.defaultEmbeddingModel: "e" is the name of more than one embedding model; write "vllm/e" or "other/e"',
  ]);
  strictEqual(stringAt(section(spec("other/e")), "default_embedding_model", "provider_id"), "other");
});

Deno.test("a provider or model that has a failure of its own is not rejected a second time", () => {
  const wrong = { ...on("1.5.0", { defaultProvider: "x", defaultEmbeddingModel: "m" }) };
  const spec = {
    ...wrong,
    providers: { inference: [VLLM], vectorIo: [{ id: "x", provider: "nope" }] },
    resources: { models: [{ name: "m", provider: "absent", modelType: "embedding", embeddingDimension: 1 }] },
  };
  deepStrictEqual(rejected(spec).failures.map(({ _tag }) => _tag), ["UnknownProviderType", "UnknownProvider"]);
});

Deno.test("a provider that something else than the resource may switch on is accepted with a warning", () => {
  const open = { workload: { overrides: { envFrom: [{ configMapRef: { name: "c" } }] } } };
  const spec = on("1.5.0", { defaultProvider: "qdrant" }, open);
  ok(warnings(spec).includes("VariableNotKnown at spec.vectorStores.defaultProvider"));
  const set = { workload: { overrides: { env: [{ name: "QDRANT_URL", value: "http://qdrant:6333" }] } } };
  strictEqual(section(on("1.5.0", { defaultProvider: "qdrant" }, set)).default_provider_id, "qdrant");
});

Deno.test("an embedding model of the base config without a dimension is rejected", () => {
  const base = smallBase({
    apis: ["inference", "vector_io"],
    providers: {
      inference: [{ provider_id: "openai", provider_type: "remote::openai", config: {} }],
      vector_io: [{
        provider_id: "faiss",
        provider_type: "inline::faiss",
        config: { persistence: { namespace: "vector_io::faiss", backend: "kv_default" } },
      }],
    },
    registered_resources: {
      models: [{ model_id: "e", provider_id: "openai", provider_model_id: "e", model_type: "embedding" }],
    },
  });
  deepStrictEqual(messages({ vectorStores: { defaultEmbeddingModel: "openai/e" } }, base), [
    'spec.vectorStores.defaultEmbeddingModel: "openai/e" of the base config has no embedding_dimension; add it to ' +
    "spec.resources.models with embeddingDimension",
  ]);
});

Deno.test("chunking is written for the file processors, which cut, with half of the size as overlap", () => {
  const processors = (chunking: JsonObject) =>
    listAt(config(on("1.5.0", { chunking })), "providers", "file_processors");
  deepStrictEqual(processors({ maxChunkSizeTokens: 301 }).map((entry) => at(entry, "config")), [
    { default_chunk_size_tokens: 301, default_chunk_overlap_tokens: 150 },
  ]);
  deepStrictEqual(
    section(on("1.5.0", { chunking: { maxChunkSizeTokens: 200, chunkOverlapTokens: 0 } })).file_ingestion_params,
    { default_chunk_size_tokens: 200, default_chunk_overlap_tokens: 0 },
  );
  deepStrictEqual(messages(on("1.5.0", { chunking: { maxChunkSizeTokens: 200 } }, { disabled: ["file_processors"] })), [
    "spec.vectorStores.chunking: the config has no file processor that cuts files; do not disable file_processors or files " +
    "in spec.disabled, or remove the field and let requests have a chunking_strategy",
  ]);
});

Deno.test("a file processor of the resource keeps its own chunk sizes, with a warning", () => {
  const fileProcessors = [{ id: "pdf", provider: "inline::pypdf", settings: { default_chunk_size_tokens: 900 } }];
  const spec = on("1.5.0", { chunking: { maxChunkSizeTokens: 200 } }, {
    providers: { inference: [VLLM], fileProcessors },
  });
  const [processor] = listAt(config(spec), "providers", "file_processors");
  deepStrictEqual(at(processor, "config"), { default_chunk_size_tokens: 900 });
  ok(warnings(spec).includes("SettingOverruled at spec.vectorStores.chunking"));
});

Deno.test("a provider that the resource takes out of the base config cannot be chosen", () => {
  const spec = on("1.5.0", { defaultProvider: "faiss" }, { disabled: ["vector_io/faiss"] });
  deepStrictEqual(messages(spec), [
    'spec.vectorStores.defaultProvider: provider "faiss" not found; available providers: own, pg, sqlite-vec; ' +
    'spec.disabled has "vector_io/faiss", which removes it from the base config',
  ]);
});

Deno.test("searchMode is written, and names declared providers that cannot search by keywords", () => {
  const spec = on("1.5.0", { searchMode: "keyword", defaultProvider: "pg" });
  strictEqual(at(section(spec), "chunk_retrieval_params", "default_search_mode"), "keyword");
  const [found] = generated(spec).config.warnings.filter(({ path }) => path.at(-1) === "searchMode");
  strictEqual(found?.message, 'file_search finds nothing in stores of "own", which cannot search by keywords');
  // The server's own default for everything else stays.
  strictEqual(at(section(spec), "chunk_retrieval_params", "chunk_multiplier"), 5);
});

Deno.test("an empty block chooses nothing and asks for no config", () => {
  const { vectorStores: _, ...without } = on("1.5.0", {});
  deepStrictEqual(config(on("1.5.0", {})), config(without));
  deepStrictEqual(messages({ disabled: ["inference", "vector_io"], vectorStores: { defaultProvider: "x" } }).length, 1);
});
