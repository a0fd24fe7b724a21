import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import {
  config,
  decoded,
  failures,
  generated,
  rejected,
  smallBase,
  SURROUNDINGS,
  warnings,
} from "../../../tests/given.ts";
import { derive } from "../derive.ts";
import { isObject, type JsonObject, listAt } from "../../data/json.ts";

const VLLM = { id: "primary", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const OPENAI = { id: "second", provider: "openai" };
const models = (spec: JsonObject, surroundings = smallBase()) =>
  listAt(config(spec, surroundings), "registered_resources", "models").filter(isObject);

Deno.test("registerModels() assigns a model without provider to the first declared one", () => {
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
    rejected(spec, base).failures[0]?.message,
    "spec.resources.models requires at least one inference provider to be configured; add one to spec.providers.inference, and do " +
      "not disable that API in spec.disabled",
  );
});

Deno.test("registerModels() passes metadata through, beside the dimension of an embedding model", () => {
  const spec = {
    providers: { inference: [VLLM] },
    resources: {
      models: [
        { name: "e", modelType: "embedding", embeddingDimension: 768, metadata: { team: "search", tier: [1, null] } },
        { name: "m", metadata: { license: "apache-2.0" } },
      ],
    },
  };
  deepStrictEqual(models(spec).map(({ metadata }) => metadata), [
    { team: "search", tier: [1, null], embedding_dimension: 768 },
    { license: "apache-2.0" },
  ]);
});

Deno.test("registerModels() rejects a dimension in metadata, where the rule for embedding models does not see it", () => {
  const spec = { resources: { models: [{ name: "m", metadata: { embedding_dimension: 4 } }] } };
  deepStrictEqual(failures(spec, smallBase()), [
    "SettingInvalid at spec.resources.models[0].metadata.embedding_dimension",
  ]);
  strictEqual(
    rejected(spec, smallBase()).failures[0]?.message,
    "spec.resources.models[0].metadata.embedding_dimension: write it as spec.resources.models[0].embeddingDimension",
  );
});

Deno.test("registerModels() names the available providers when a model refers to an unknown one", () => {
  const spec = { providers: { inference: [VLLM] }, resources: { models: [{ name: "m", provider: "primry" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["UnknownProvider at spec.resources.models[0].provider"]);
  strictEqual(
    rejected(spec, smallBase()).failures[0]?.message,
    'spec.resources.models[0].provider: provider "primry" not found; did you mean primary?; ' +
      "available providers: ollama, openai, primary",
  );
});

const env = (name: string, value: string) => ({ workload: { overrides: { env: [{ name, value }] } } });

Deno.test("registerModels() uses a conditional provider of the base whose variable the resource sets", () => {
  const made = models({
    resources: { models: [{ name: "a", provider: "ollama" }, { name: "b", provider: "openai" }] },
    ...env("OLLAMA_URL", "http://ollama/v1"),
  });
  deepStrictEqual(made.map(({ provider_id }) => provider_id), ["ollama", "openai"]);
});

Deno.test("registerModels() rejects a provider of the base that its condition disables", () => {
  const spec = { resources: { models: [{ name: "a", provider: "vllm" }] } };
  deepStrictEqual(failures(spec), ["ProviderSwitchedOff at spec.resources.models[0].provider"]);
  strictEqual(
    rejected(spec).failures[0]?.message,
    'spec.resources.models[0].provider: provider "vllm" is disabled unless VLLM_URL is set; set VLLM_URL in ' +
      "spec.workload.overrides.env, or declare the provider in spec.providers.inference",
  );
  deepStrictEqual(failures({ ...spec, ...env("VLLM_URL", "") }), failures(spec));
  const fromMap = { workload: { overrides: { envFrom: [{ configMapRef: { name: "c" } }] } } };
  deepStrictEqual(warnings({ ...spec, ...fromMap }), ["VariableNotKnown at spec.resources.models[0].provider"]);
});

Deno.test("registerModels() chooses a provider that serves the type of the model, and warns if there are several", () => {
  const spec = {
    providers: { inference: [{ id: "st", provider: "inline::sentence-transformers" }, VLLM] },
    resources: { models: [{ name: "chat" }, { name: "e", modelType: "embedding", embeddingDimension: 3 }] },
  };
  deepStrictEqual(models(spec).map(({ provider_id }) => provider_id), ["primary", "st"]);
  deepStrictEqual(warnings(spec), []);
  const bare = { resources: { models: [{ name: "chat" }] } };
  deepStrictEqual(warnings(bare), ["ProviderChosen at spec.resources.models[0].provider"]);
  const told = generated(bare).config.warnings[0]?.message ?? "";
  ok(told.startsWith('not set, so the model goes to "fireworks" of the base config; set provider to choose'), told);
  ok(told.includes("openai") && !told.includes("vllm"), told);
});

Deno.test("registerModels() warns of a provider that does not serve the type of the model", () => {
  const spec = { resources: { models: [{ name: "chat", provider: "sentence-transformers" }] } };
  deepStrictEqual(warnings(spec), ["ModelTypeNotServed at spec.resources.models[0].provider"]);
});

for (
  const [serverVersion, wanted] of [["0.2", ["NotSupportedByServer"]], ["0.3", ["NotSupportedByServer"]], [
    "0.7",
    [],
  ]] as const
) {
  Deno.test(`registerModels() distinguishes whether server ${serverVersion} supports rerank models`, () => {
    const spec = {
      providers: { inference: [VLLM] },
      resources: { models: [{ name: "r", modelType: "rerank", provider: "primary" }] },
    };
    const derived = derive(decoded(spec), { ...SURROUNDINGS, serverVersion });
    deepStrictEqual(Result.isFailure(derived) ? derived.failure.failures.map(({ _tag }) => _tag) : [], wanted);
  });
}

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

Deno.test("registerModels() keeps the models of the base and replaces the one with the same id", () => {
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

Deno.test("registerModels() rejects two entries with the same id on the server", () => {
  const spec = { resources: { models: [{ name: "a", providerModelId: "x" }, { name: "b", providerModelId: "x" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["ModelConflict at spec.resources.models[1]"]);
  ok(rejected(spec, smallBase()).failures[0]?.message.includes('"openai/x"'));
});

Deno.test("registerModels() does not blame a model for the failure of its provider", () => {
  const spec = { providers: { inference: [{ provider: "nope" }] }, resources: { models: [{ name: "m" }] } };
  deepStrictEqual(failures(spec, smallBase()), ["UnknownProviderType at spec.providers.inference[0].provider"]);
});

Deno.test("registerModels() warns of a model that allowed_models of its provider does not contain", () => {
  const spec = (allowed: ReadonlyArray<string>) => ({
    providers: {
      inference: [{ id: "v", provider: "vllm", endpoint: "http://v/v1", settings: { allowed_models: allowed } }],
    },
    resources: { models: [{ name: "bar", provider: "v" }] },
  });
  deepStrictEqual(warnings(spec(["foo"])), ["ModelNotAllowed at spec.resources.models[0].name"]);
  deepStrictEqual(warnings(spec(["foo", "bar"])), []);
});

Deno.test("registerModels() warns of a name that begins with the id of its provider", () => {
  const said = (model: JsonObject) =>
    warnings({ providers: { inference: [{ provider: "openai" }] }, resources: { models: [model] } });
  deepStrictEqual(said({ name: "openai/gpt-4o" }), ["ModelNameWithProvider at spec.resources.models[0].name"]);
  deepStrictEqual(said({ name: "openai/gpt-oss-20b", providerModelId: "openai/gpt-oss-20b" }), []);
  deepStrictEqual(said({ name: "gpt-4o" }), []);
  deepStrictEqual(said({ name: "openai-community/gpt2" }), []);
});

Deno.test("models() names the entry of spec.disabled that removed the provider of a model", () => {
  const { failures: found } = rejected({
    distribution: { name: "starter" },
    disabled: ["inference/*"],
    providers: { inference: [{ provider: "vllm", endpoint: "http://v/v1" }] },
    resources: { models: [{ name: "m", provider: "openai" }] },
  } as never);
  deepStrictEqual(found.map(({ message }) => message), [
    'spec.resources.models[0].provider: provider "openai" not found; available providers: vllm; spec.disabled has ' +
    '"inference/*", which removes it from the base config',
  ]);
});

Deno.test("registerModels() leaves a model of all providers to OGX, and rejects it elsewhere", () => {
  const spec = (name: string): JsonObject => ({
    distribution: { name },
    resources: { models: [{ name: "alias", provider: "all", providerModelId: "auto" }] },
  });
  deepStrictEqual(listAt(config(spec("ogx-starter")), "registered_resources", "models"), [
    { provider_id: "all", model_id: "alias", model_type: "llm", provider_model_id: "auto" },
  ]);
  const old = { ...spec("starter"), distribution: { name: "starter", serverVersion: "0.7.1" } };
  deepStrictEqual(failures(old), ["UnknownProvider at spec.resources.models[0].provider"]);
});
