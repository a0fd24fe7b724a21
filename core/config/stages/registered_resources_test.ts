import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { config, failures, rejected, warnings } from "../../../tests/given.ts";
import { isObject, type JsonObject, listAt } from "../../data/json.ts";

const VLLM = { id: "vllm", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const EMBEDDING = { name: "embed", modelType: "embedding", embeddingDimension: 384 };
const registered = (resources: JsonObject, section: string, more: JsonObject = {}) =>
  listAt(config({ providers: { inference: [VLLM] }, resources, ...more }), "registered_resources", section)
    .filter(isObject);

Deno.test("registerOthers() gives a vector store its provider, and its model with the dimension", () => {
  const stores = {
    models: [EMBEDDING],
    vectorStores: [{ name: "docs", embeddingModel: "embed", displayName: "Docs" }],
  };
  deepStrictEqual(registered(stores, "vector_stores"), [{
    vector_store_id: "docs",
    provider_id: "faiss",
    provider_vector_store_id: "docs",
    embedding_model: "vllm/embed",
    embedding_dimension: 384,
    vector_store_name: "Docs",
  }]);
  const chosen = {
    models: [EMBEDDING],
    vectorStores: [{ name: "a", provider: "sqlite-vec", embeddingModel: "vllm/embed", providerVectorStoreId: "there" }],
  };
  const [store] = registered(chosen, "vector_stores");
  deepStrictEqual([store?.provider_id, store?.provider_vector_store_id], ["sqlite-vec", "there"]);
});

Deno.test("registerOthers() rejects a vector store without a registered embedding model, or on a provider that is off", () => {
  const of = (store: JsonObject, more: JsonObject = {}) =>
    failures({ resources: { models: [{ name: "chat" }], vectorStores: [{ name: "a", ...store }] }, ...more });
  const place = "spec.resources.vectorStores[0]";
  deepStrictEqual(of({ embeddingModel: "absent" }), [`UnknownModel at ${place}.embeddingModel`]);
  deepStrictEqual(of({ embeddingModel: "e", provider: "chromadb" }), [`ProviderSwitchedOff at ${place}.provider`]);
  deepStrictEqual(of({ embeddingModel: "e", provider: "faiss" }, { disabled: ["vectorIo/faiss"] }), [
    `UnknownProvider at ${place}.provider`,
  ]);
});

const DATASETS = [
  { name: "rows", purpose: "eval/question-answer", rows: [{ question: "?", answer: 1 }], metadata: { team: "a" } },
  { name: "web", purpose: "eval/messages-answer", uri: "huggingface://datasets/x", provider: "huggingface" },
];

Deno.test("registerOthers() registers datasets, scoring functions and benchmarks", () => {
  const resources = {
    datasets: DATASETS,
    scoringFunctions: [
      { name: "plain" },
      {
        name: "judge",
        returnType: "number",
        description: "asks",
        judge: {
          model: "vllm/m",
          promptTemplate: "{input_query}",
          scoreRegexes: ["([0-9])"],
          aggregations: ["average"],
        },
      },
    ],
    benchmarks: [{ name: "bench", dataset: "rows", scoringFunctions: ["judge"], metadata: { a: 1 } }],
  };
  deepStrictEqual(registered(resources, "datasets"), [
    {
      dataset_id: "rows",
      purpose: "eval/question-answer",
      source: { type: "rows", rows: [{ question: "?", answer: 1 }] },
      metadata: { team: "a" },
    },
    {
      dataset_id: "web",
      purpose: "eval/messages-answer",
      source: { type: "uri", uri: "huggingface://datasets/x" },
      metadata: { provider_id: "huggingface" },
    },
  ]);
  deepStrictEqual(registered(resources, "scoring_fns"), [
    { scoring_fn_id: "plain", provider_id: "llm-as-judge", description: "plain", return_type: { type: "string" } },
    {
      scoring_fn_id: "judge",
      provider_id: "llm-as-judge",
      description: "asks",
      return_type: { type: "number" },
      params: {
        type: "llm_as_judge",
        judge_model: "vllm/m",
        prompt_template: "{input_query}",
        judge_score_regexes: ["([0-9])"],
        aggregation_functions: ["average"],
      },
    },
  ]);
  deepStrictEqual(registered(resources, "benchmarks"), [
    {
      benchmark_id: "bench",
      provider_id: "builtin",
      dataset_id: "rows",
      scoring_functions: ["judge"],
      metadata: { a: 1 },
    },
  ]);
  deepStrictEqual(warnings({ resources }), []);
});

Deno.test("registerOthers() rejects what keeps the server from its start", () => {
  const of = (resources: JsonObject) => failures({ resources });
  const [rows] = DATASETS;
  deepStrictEqual(of({ datasets: [{ ...rows, metadata: { provider_id: "x" } }] }), [
    "SettingInvalid at spec.resources.datasets[0].metadata.provider_id",
  ]);
  deepStrictEqual(of({ datasets: [{ ...rows, purpose: "post-training/messages" }] }), [
    "NotSupportedByServer at spec.resources.datasets[0].purpose",
  ]);
  deepStrictEqual(of({ scoringFunctions: [{ name: "llm-as-judge::base" }] }), [
    "SettingInvalid at spec.resources.scoringFunctions[0].name",
  ]);
  const basic = { resources: { scoringFunctions: [{ name: "f", provider: "basic" }] } };
  strictEqual(
    rejected(basic).failures[0]?.message,
    'spec.resources.scoringFunctions[0].provider: provider type "inline::basic" registers none; ' +
      "use one of type inline::llm-as-judge",
  );
});

Deno.test("registerOthers() names a server that has what this one lacks", () => {
  const ogx = { distribution: { name: "ogx-starter" }, resources: { datasets: DATASETS } };
  strictEqual(
    rejected(ogx).failures[0]?.message,
    "spec.resources.datasets: not supported by OGX 1.4.1: datasets; remove spec.resources.datasets, or use " +
      "Llama Stack 0.7 or older",
  );
  const old = { resources: { models: [EMBEDDING], vectorStores: [{ name: "docs", embeddingModel: "embed" }] } };
  strictEqual(
    rejected(old, { serverVersion: "0.3" }).failures[0]?.message,
    "spec.resources.vectorStores: not supported by Llama Stack 0.3: vector stores; remove " +
      "spec.resources.vectorStores, or use Llama Stack 0.4 or newer",
  );
});

Deno.test("registerOthers() refuses scoring functions before 0.5, whose servers do not start with one", () => {
  for (const serverVersion of ["0.3.5", "0.4.7"]) {
    deepStrictEqual(
      failures({
        distribution: { name: "starter", serverVersion },
        resources: { scoringFunctions: [{ name: "f", provider: "llm-as-judge" }] },
      }),
      ["NotSupportedByServer at spec.resources.scoringFunctions"],
    );
  }
});

const LLAMA = { distribution: { name: "starter", serverVersion: "0.6.1" } };

Deno.test("registerOthers() refuses functions that other providers have built in", () => {
  const scoringFunctions = [{ name: "basic::equality", provider: "llm-as-judge" }];
  deepStrictEqual(failures({ ...LLAMA, resources: { scoringFunctions } }), [
    "SettingInvalid at spec.resources.scoringFunctions[0].name",
  ]);
});

Deno.test("registerOthers() warns of datasets and functions of a benchmark that the config does not have", () => {
  const datasets = [{ name: "d", purpose: "eval/question-answer", rows: [{ a: 1 }] }];
  const of = (dataset: string, scoringFunctions: ReadonlyArray<string>) =>
    warnings({ ...LLAMA, resources: { datasets, benchmarks: [{ name: "b", dataset, scoringFunctions }] } }).filter((
      text,
    ) => text.startsWith("Resource"));
  deepStrictEqual(of("d", ["basic::equality"]), []);
  deepStrictEqual(of("nope", ["basic::equality", "nope"]), [
    "ResourceNotRegistered at spec.resources.benchmarks[0].dataset",
    "ResourceNotRegistered at spec.resources.benchmarks[0].scoringFunctions[1]",
  ]);
});

Deno.test("registerOthers() refuses a vector store whose model does not embed, or whose name Chroma or Milvus does not accept", () => {
  const of = (name: string, embeddingModel: string, provider = "chroma") =>
    failures({
      distribution: { name: "starter", serverVersion: "0.7.3" },
      providers: {
        inference: [VLLM],
        vectorIo: [
          { id: "chroma", provider: "remote::chromadb", endpoint: "http://c:8000" },
          { id: "milvus", provider: "remote::milvus", endpoint: "http://m:19530" },
        ],
      },
      resources: {
        models: [{ name: "chat" }, EMBEDDING],
        vectorStores: [{ name, provider, embeddingModel }],
      },
    });
  deepStrictEqual(of("handbook", "chat"), ["SettingInvalid at spec.resources.vectorStores[0].embeddingModel"]);
  deepStrictEqual(of("Hand book", "embed"), ["SettingInvalid at spec.resources.vectorStores[0].name"]);
  deepStrictEqual(of("007", "embed", "milvus"), ["SettingInvalid at spec.resources.vectorStores[0].name"]);
});

Deno.test("registerOthers() refuses a dataset of rows that NVIDIA's service would have to read", () => {
  const of = (dataset: JsonObject) =>
    failures({
      distribution: { name: "starter", serverVersion: "0.7.3" },
      providers: { inference: [VLLM], datasetIo: [{ id: "nemo", provider: "remote::nvidia" }] },
      resources: { datasets: [{ name: "d", purpose: "eval/messages-answer", ...dataset }] },
    });
  deepStrictEqual(of({ provider: "nemo", rows: [{ a: "b" }] }), [
    "SettingInvalid at spec.resources.datasets[0].rows",
  ]);
});

Deno.test("registerOthers() warns of an expression for scores that Python would reject", () => {
  const judge = (...scoreRegexes: ReadonlyArray<string>) =>
    warnings({
      distribution: { name: "starter", serverVersion: "0.6.1" },
      providers: { inference: [VLLM] },
      resources: { scoringFunctions: [{ name: "judge", judge: { model: "vllm/m", scoreRegexes } }] },
    })
      .filter((warning) => warning.startsWith("PatternInvalid"));
  deepStrictEqual(judge("([0-9]", "([0-9])"), [
    "PatternInvalid at spec.resources.scoringFunctions[0].judge.scoreRegexes[0]",
  ]);
});
