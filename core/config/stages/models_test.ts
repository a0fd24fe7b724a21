import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, failures, refused, smallBase, warnings } from "../../../tests/given.ts";
import { isObject, type JsonObject, listAt } from "../../data/json.ts";

const VLLM = { id: "primary", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const OPENAI = { id: "second", provider: "openai" };
const models = (spec: JsonObject, surroundings = smallBase()) =>
  listAt(config(spec, surroundings), "registered_resources", "models").filter(isObject);

Deno.test("registerModels() gives a model without provider to the first declared one", () => {
  deepStrictEqual(models({ providers: { inference: [VLLM, OPENAI] }, resources: { models: [{ name: "org/chat" }] } }), [
    { provider_id: "primary", model_id: "org/chat", model_type: "llm", provider_model_id: "org/chat" },
  ]);
});

Deno.test("registerModels() falls back to the first unconditional base provider, never to a conditional one", () => {
  strictEqual(models({ resources: { models: [{ name: "gpt" }] } })[0]?.provider_id, "openai");
});

Deno.test("registerModels() skips base providers that cannot answer a chat", () => {
  const base = smallBase({
    providers: {
      inference: [
        { provider_id: "st", provider_type: "inline::sentence-transformers" },
        { provider_id: "openai", provider_type: "remote::openai" },
      ],
    },
  });
  strictEqual(models({ resources: { models: [{ name: "gpt" }] } }, base)[0]?.provider_id, "openai");
});

Deno.test("registerModels() fails when no provider can serve models", () => {
  const base = smallBase({
    providers: { inference: [{ provider_id: "${env.A:+a}", provider_type: "remote::openai" }] },
  });
  const spec = { resources: { models: [{ name: "gpt" }] } };
  deepStrictEqual(failures(spec, base), ["MissingProviderForResource at spec.resources.models"]);
  strictEqual(
    refused(spec, base).failures[0]?.message,
    "resources.models requires at least one inference provider to be configured",
  );
});

Deno.test("registerModels() names the known providers when a model asks for an unknown one", () => {
  const spec = { providers: { inference: [VLLM] }, resources: { models: [{ name: "m", provider: "primry" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["UnknownProvider at spec.resources.models[0].provider"]);
  strictEqual(
    refused(spec, smallBase()).failures[0]?.message,
    'spec.resources.models[0].provider: provider "primry" not found; did you mean primary?; ' +
      "available providers: ollama, openai, primary",
  );
});

Deno.test("registerModels() takes an explicit provider of the base, conditional or not", () => {
  const made = models({
    resources: { models: [{ name: "a", provider: "ollama" }, { name: "b", provider: "openai" }] },
  });
  deepStrictEqual(made.map(({ provider_id }) => provider_id), ["ollama", "openai"]);
});

Deno.test("registerModels() writes an embedding model with its dimension and nothing else into metadata", () => {
  const spec = {
    resources: {
      models: [{
        name: "e",
        modelType: "embedding",
        embeddingDimension: 768,
        contextLength: 8192,
        quantization: "int4",
      }],
    },
  };
  deepStrictEqual(models(spec), [{
    provider_id: "openai",
    model_id: "e",
    metadata: { embedding_dimension: 768 },
    model_type: "embedding",
    provider_model_id: "e",
  }]);
  deepStrictEqual(warnings(spec, smallBase()), [
    "FieldNotRead at spec.resources.models[0].contextLength",
    "FieldNotRead at spec.resources.models[0].quantization",
  ]);
});

Deno.test("registerModels() keeps the models of the base and replaces the one that the server would take for the same", () => {
  const base = smallBase({
    registered_resources: {
      models: [
        { model_id: "kept", provider_id: "openai", model_type: "llm" },
        { model_id: "gpt", provider_id: "openai", model_type: "llm", metadata: { old: true } },
      ],
    },
  });
  deepStrictEqual(
    models({ resources: { models: [{ name: "gpt" }] } }, base).map(({ model_id, metadata }) => [model_id, metadata]),
    [
      ["kept", undefined],
      ["gpt", undefined],
    ],
  );
});

Deno.test("registerModels() refuses two entries that the server knows under one id", () => {
  const spec = { resources: { models: [{ name: "a", providerModelId: "x" }, { name: "b", providerModelId: "x" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["ModelConflict at spec.resources.models[1]"]);
  ok(refused(spec, smallBase()).failures[0]?.message.includes('"openai/x"'));
});

Deno.test("registerModels() does not blame a model for the failure of its provider", () => {
  const spec = { providers: { inference: [{ provider: "nope" }] }, resources: { models: [{ name: "m" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["UnknownProviderType at spec.providers.inference[0].provider"]);
});
