/**
 * `spec.resources` and `spec.connectors`: what the server registers when it starts.
 *
 * Source: the classes of models, shields, tool groups, vector stores, datasets, benchmarks and scoring functions in the API packages
 * of the servers.
 */
import { boundedFreeForm, byName, int32, list, oneOf, optional, set, struct, text } from "./fields.ts";

const Model = struct("Model is a model that the server registers when it starts.", {
  name: text(
    "name is the id of the model, which clients usually address as <provider>/<name>. Llama Stack 0.3 to 0.7 use <provider>/<providerModelId>. The server lists the ids under /v1/models.",
    { max: 256 },
  ),
  provider: optional(
    text(
      "provider is the id of the inference provider that serves the model. Defaults to the first inference provider of " +
        "this resource that can serve a model of this type; if there is none, to the first one of the base config.",
      { max: 63 },
    ),
  ),
  contextLength: optional(
    int32(
      "contextLength is the context window in tokens. It is not passed to the server; set it on the model server instead.",
      { min: 1 },
    ),
  ),
  modelType: optional(oneOf("modelType is the kind of model. Defaults to llm.", ["llm", "embedding", "rerank"])),
  embeddingDimension: optional(
    int32(
      "embeddingDimension is the length of the vectors of an embedding model. Required if modelType is embedding.",
      { min: 1 },
    ),
  ),
  quantization: optional(
    text(
      "quantization is the quantization of the model. It is not passed to the server; set it on the model server instead.",
      { max: 64 },
    ),
  ),
  providerModelId: optional(
    text("providerModelId is the name of the model at the provider. Defaults to name.", { max: 256 }),
  ),
  metadata: optional(
    boundedFreeForm(
      "metadata of the model, passed through unchanged. Write embedding_dimension as embeddingDimension.",
      { max: 32 },
    ),
  ),
});
export type Model = typeof Model.Type;

const Shield = struct("ShieldConfig is a shield.", {
  name: text("name is the id of the shield, by which clients address it.", { max: 253 }),
  provider: optional(
    text("provider is the id of the safety provider. Defaults to the one that an item of shields gets.", { max: 63 }),
  ),
  providerShieldId: optional(
    text(
      "providerShieldId is the name of the shield at the provider; for llama-guard, a model of resources.models or its id. " +
        "Defaults to name, or to what the provider type needs.",
      { max: 320 },
    ),
  ),
  params: optional(boundedFreeForm("params are the parameters of the shield, passed through unchanged.", { max: 32 })),
});
export type Shield = typeof Shield.Type;

const ToolGroup = struct("ToolGroup is a set of tools.", {
  name: text("name is the id of the group, as in tools. Any name is allowed for an MCP server, such as mcp::weather.", {
    max: 253,
  }),
  provider: optional(
    text(
      "provider is the id of the tool_runtime provider of the group. Read by Llama Stack up to 0.6.",
      { max: 63 },
    ),
  ),
  endpoint: optional(
    text(
      "endpoint is the URL of an MCP server. Servers from 0.7 on make a connector of it, whose id is name without mcp::.",
      { max: 2048 },
    ),
  ),
  args: optional(
    boundedFreeForm("args of the group, passed through unchanged. Read by Llama Stack up to 0.6.", {
      max: 32,
    }),
  ),
});
export type ToolGroup = typeof ToolGroup.Type;

const name = (what: string) => text(`name is the id of the ${what}.`, { max: 253 });
const providerOf = (api: string, usual: string) =>
  optional(text(`provider is the id of the ${api} provider. Defaults to ${usual}.`, { max: 63 }));
const metadata = (what: string) =>
  optional(boundedFreeForm(`metadata of the ${what}, passed through unchanged.`, { max: 32 }));

const StoredVectors = struct("RegisteredVectorStore is a vector store that exists from the start.", {
  name: name("vector store"),
  provider: providerOf("vector_io", "the first one"),
  embeddingModel: text(
    "embeddingModel embeds the texts: a model registered by this resource or by the base config, by name or id.",
    { max: 320 },
  ),
  displayName: optional(text("displayName is the name that clients see.", { max: 253 })),
  providerVectorStoreId: optional(
    text("providerVectorStoreId is the name of the store at the provider. Defaults to name.", { max: 253 }),
  ),
});
export type StoredVectors = typeof StoredVectors.Type;

const Dataset = struct("Dataset is a set of rows for evaluations. Exactly one of uri and rows must be set.", {
  name: name("dataset"),
  purpose: oneOf("purpose says which columns the rows have.", [
    "eval/question-answer",
    "eval/messages-answer",
    "post-training/messages",
  ]),
  uri: optional(text("uri is where the rows are read, such as huggingface://datasets/<name>.", { max: 2048 })),
  rows: optional(
    list("rows are the rows themselves.", boundedFreeForm("Row.", { max: 32 }), { min: 1, max: 256 }),
  ),
  provider: providerOf("datasetio", "huggingface for a uri that begins so, else to localfs"),
  metadata: metadata("dataset"),
});
export type Dataset = typeof Dataset.Type;

const Benchmark = struct("Benchmark is a dataset with the functions that score answers to it.", {
  name: name("benchmark"),
  dataset: text("dataset is the id of the dataset.", { max: 253 }),
  scoringFunctions: list("scoringFunctions are the ids of the scoring functions.", text("Id.", { max: 253 }), {
    min: 1,
    max: 32,
  }),
  provider: providerOf("eval", "the first one"),
  metadata: metadata("benchmark"),
});
export type Benchmark = typeof Benchmark.Type;

const ScoringFunction = struct("ScoringFunction scores answers by asking a model.", {
  name: name("scoring function"),
  provider: providerOf("scoring", "the first one of type inline::llm-as-judge"),
  description: optional(text("description of the function. Defaults to name.", { max: 1024 })),
  returnType: optional(
    oneOf(
      "returnType is the type of a score. Defaults to string.",
      ["string", "number", "boolean", "array", "object", "json"],
      "string",
    ),
  ),
  judge: optional(struct("judge is the model that is asked, unless a request says it.", {
    model: text("model is the id of the model, as clients address it.", { max: 320 }),
    promptTemplate: optional(
      text("promptTemplate is the prompt, with {input_query}, {expected_answer} and {generated_answer}.", {
        max: 8192,
      }),
    ),
    scoreRegexes: optional(
      list(
        "scoreRegexes find the score in the answer; the first one with a match counts.",
        text("Expression.", { max: 512 }),
        {
          max: 16,
        },
      ),
    ),
    aggregations: optional(
      set(
        "aggregations are computed from the scores of all rows.",
        oneOf("Aggregation.", ["average", "weighted_average", "median", "categorical_count", "accuracy"]),
        { max: 5 },
      ),
    ),
  })),
  metadata: metadata("function"),
});
export type ScoringFunction = typeof ScoringFunction.Type;

export const Resources = struct(
  "resources lists the models, tools, shields and other resources that the server registers when it starts.",
  {
    models: optional(list("models to register.", Model, { min: 1, max: 256 })),
    tools: optional(
      set(
        "tools are the tool groups to register: websearch, rag, wolfram_alpha, mcp::<name>, or a full name such as " +
          "builtin::websearch.",
        text("Tool group.", { max: 253 }),
        {
          min: 1,
          max: 64,
        },
      ),
    ),
    shields: optional(
      set(
        "shields are the ids of the shields to register. Not supported by OGX 1.x.",
        text("Shield id.", { max: 253 }),
        {
          min: 1,
          max: 64,
        },
      ),
    ),
    toolGroups: optional(
      byName("toolGroups are tool groups with their provider, MCP server and arguments.", ToolGroup, {
        max: 64,
      }),
    ),
    shieldConfigs: optional(
      byName(
        "shieldConfigs are shields with their provider, target and parameters. Not supported by OGX 1.x.",
        Shield,
        { max: 64 },
      ),
    ),
    vectorStores: optional(
      byName("vectorStores are vector stores to create. Supported from 0.4 on.", StoredVectors, { max: 64 }),
    ),
    datasets: optional(byName("datasets for evaluations. Not supported by OGX.", Dataset, { max: 64 })),
    scoringFunctions: optional(
      byName("scoringFunctions score answers. Not supported by OGX.", ScoringFunction, { max: 64 }),
    ),
    benchmarks: optional(byName("benchmarks for evaluations. Not supported by OGX.", Benchmark, { max: 64 })),
  },
);

export const Connector = struct("Connector is an MCP server that requests name by its id.", {
  connectorId: text("connectorId is the id by which requests name the MCP server.", { max: 253 }),
  url: text("url is the URL of the MCP server. Credentials belong into the requests.", { max: 2048 }),
  serverLabel: optional(text("serverLabel is the label of the MCP server. Defaults to connectorId.", { max: 253 })),
});
