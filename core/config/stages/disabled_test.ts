import { deepStrictEqual, ok } from "node:assert/strict";
import { config, failures, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt, objectAt } from "../../data/json.ts";

const apis = (spec: JsonObject, surroundings = {}) => listAt(config(spec, surroundings), "apis").map(String);
const withoutPath = (spec: JsonObject) => new Set(warnings(spec).map((line) => line.split(" ")[0]));

Deno.test("switchOff() removes the API, its providers, its resources and its section", () => {
  const made = config({ disabled: ["safety"] });
  ok(!listAt(made, "apis").includes("safety"));
  deepStrictEqual([at(made, "providers", "safety"), made.safety, listAt(made, "registered_resources", "shields")], [
    undefined,
    undefined,
    [],
  ]);
});

for (const name of ["vector_io", "vectorIo"]) {
  Deno.test(`switchOff() treats ${name} as the same API`, () => {
    const made = config({ disabled: [name] });
    deepStrictEqual([at(made, "providers", "vector_io"), made.vector_stores], [undefined, undefined]);
  });
}

Deno.test("switchOff() also disables everything that requires a disabled API, transitively, and reports it", () => {
  const spec = { disabled: ["files"] };
  const kept = apis(spec);
  // responses, file processors and batches need files.
  for (const api of ["files", "responses", "file_processors", "batches"]) ok(!kept.includes(api), api);
  ok(kept.includes("inference") && kept.includes("vector_io"));
  deepStrictEqual(withoutPath(spec), new Set(["DisabledDependency"]));
  // A routed API stays open without providers; its provider needed responses, which needed files.
  deepStrictEqual(at(config(spec), "providers", "eval"), undefined);
  const tools = listAt(config(spec), "providers", "tool_runtime").map((entry) => objectAt(entry).provider_type);
  ok(!tools.includes("inline::file-search"));
});

Deno.test("switchOff() registers nothing of a provider that it removes, while others of its API are left", () => {
  const made = config({ distribution: { name: "starter", serverVersion: "0.7" }, disabled: ["inference"] });
  const ids = (key: string, ...path: ReadonlyArray<string>) => listAt(made, ...path).map((item) => objectAt(item)[key]);
  deepStrictEqual(ids("provider_id", "providers", "safety"), ["code-scanner"]);
  deepStrictEqual(ids("shield_id", "registered_resources", "shields"), ["code-scanner"]);
});

Deno.test("switchOff() fails when a declared provider needs a disabled API", () => {
  deepStrictEqual(
    failures({ providers: { vectorIo: [{ id: "v", provider: "inline::faiss" }] }, disabled: ["inference"] }),
    [
      "MissingApi at spec.providers.vectorIo[0]",
    ],
  );
});

Deno.test("switchOff() fails if a declared provider requires an API without a provider", () => {
  deepStrictEqual(failures({ providers: { toolRuntime: [{ provider: "inline::file-search" }] } }, smallBase()), [
    "MissingApi at spec.providers.toolRuntime[0]",
  ]);
});

Deno.test("switchOff() ignores names that this server does not have, with a warning", () => {
  deepStrictEqual(warnings({ disabled: ["post_training", "models", "inspect"] }), [
    "ApiNotDisabled at spec.disabled[0]",
    "ApiNotDisabled at spec.disabled[1]",
    "ApiNotDisabled at spec.disabled[2]",
  ]);
});

Deno.test("switchOff() treats agents as responses on servers that renamed it", () => {
  ok(!apis({ disabled: ["agents"] }).includes("responses"));
});

Deno.test("computeApis() opens the API of a declared provider and what it needs", () => {
  deepStrictEqual(apis({ providers: { vectorIo: [{ id: "v", provider: "inline::faiss" }] } }, smallBase()), [
    "inference",
    "vector_io",
  ]);
});

Deno.test("computeApis() leaves an absent list alone until something is switched off", () => {
  const base = JSON.stringify({
    version: 2,
    distro_name: "x",
    providers: { inference: [{ provider_id: "o", provider_type: "remote::openai" }] },
  });
  const surroundings = { base: { origin: "test", content: base } };
  deepStrictEqual(config({ storage: { kv: {} } }, surroundings).apis, undefined);
  deepStrictEqual(config({ disabled: ["safety"] }, surroundings).apis, ["inference"]);
});

Deno.test("computeApis() never opens an API whose only provider may be off, nor an empty list", () => {
  const base = smallBase({
    apis: ["files"],
    providers: { files: [{ provider_id: "${env.X:+f}", provider_type: "inline::localfs", config: {} }] },
  });
  deepStrictEqual(apis({ storage: { kv: {} } }, base), ["inspect"]);
});

for (
  const [name, resources, disabled, want] of [
    ["a model", { models: [{ name: "m" }] }, "inference", "MissingProviderForResource at spec.resources.models"],
    [
      "a shield, whose provider needs inference",
      { shields: ["guard"] },
      "inference",
      "MissingProviderForResource at spec.resources.shields[0]",
    ],
    [
      "a tool, whose provider needs files",
      { tools: ["rag"] },
      "files",
      "MissingProviderForResource at spec.resources.tools[0]",
    ],
  ] as const
) {
  Deno.test(`switchOff() never loses ${name}: it is a failure instead`, () => {
    deepStrictEqual(failures({ resources, disabled: [disabled] } as unknown as JsonObject), [want]);
  });
}

const ids = (made: JsonObject, api: string) =>
  listAt(made, "providers", api).map((entry) => objectAt(entry).provider_id);

Deno.test("removeBaseProviders() removes one provider of the base config, with its resources", () => {
  const spec = { distribution: { name: "starter", serverVersion: "0.7.1" }, disabled: ["safety/llama-guard"] };
  const [before, made] = [config({ ...spec, disabled: ["batches"] }), config(spec)];
  deepStrictEqual(ids(made, "safety"), ids(before, "safety").filter((id) => id !== "llama-guard"));
  const shields = listAt(made, "registered_resources", "shields").map((shield) => objectAt(shield).provider_id);
  ok(!shields.some((id) => String(id).includes("llama-guard")), shields.join());
  deepStrictEqual(warnings(spec).filter((line) => line.includes("disabled")), []);
});

Deno.test("removeBaseProviders() leaves the providers of the resource alone where all others are removed", () => {
  const spec = {
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
    resources: { models: [{ name: "m" }] },
    disabled: ["inference/*", "vectorIo/*"],
  };
  const made = config(spec);
  deepStrictEqual([ids(made, "inference"), ids(made, "vector_io")], [["vllm"], []]);
  deepStrictEqual(made.vector_stores, undefined);
});

Deno.test("removeBaseProviders() removes the default models of the provider, and warns unless another one takes their place", () => {
  const spec = { distribution: { name: "starter" }, disabled: ["inference/sentence-transformers"] };
  deepStrictEqual(at(config(spec), "vector_stores", "default_embedding_model"), undefined);
  deepStrictEqual(warnings(spec), ["DisabledDependency at spec.disabled"]);
  deepStrictEqual(warnings({ ...spec, disabled: [...spec.disabled, "vector_io/*"] }), []);
  const own = {
    ...spec,
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
    resources: { models: [{ name: "e", modelType: "embedding", embeddingDimension: 384 }] },
  };
  deepStrictEqual(at(config(own), "vector_stores", "default_embedding_model", "provider_id"), "vllm");
  deepStrictEqual(warnings(own), []);
});

Deno.test("removeBaseProviders() removes resources whose provider is the default of a variable", () => {
  const base = smallBase({
    apis: ["inference"],
    providers: { inference: [{ provider_id: "own", provider_type: "remote::vllm", config: {} }] },
    registered_resources: { models: [{ model_id: "m", provider_id: "${env.EMBEDDING_PROVIDER:=own}" }] },
  });
  const made = config({ disabled: ["inference/own"] }, base);
  deepStrictEqual([ids(made, "inference"), listAt(made, "registered_resources", "models")], [[], []]);
});

for (const name of ["datasetIo/*", "datasetio/*"]) {
  Deno.test(`removeBaseProviders() treats ${name} as the same`, () => {
    const made = config({ distribution: { name: "starter", serverVersion: "0.6.1" }, disabled: [name] });
    deepStrictEqual(ids(made, "datasetio"), []);
  });
}

Deno.test("removeBaseProviders() says why there is nothing to remove", () => {
  const spec = {
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
    disabled: ["inference/vllm", "vector_io/nonsense", "telemetry/*"],
  };
  deepStrictEqual(
    warnings(spec).filter((line) => line.includes("disabled")),
    [0, 1, 2].map((index) => `ApiNotDisabled at spec.disabled[${index}]`),
  );
});

Deno.test("removeBaseProviders() refuses a model of a provider that it removes", () => {
  for (const item of ["inference/openai", "inference/*"]) {
    const spec = { resources: { models: [{ name: "m", provider: "openai" }] }, disabled: [item] };
    deepStrictEqual(failures(spec), ["UnknownProvider at spec.resources.models[0].provider"]);
    ok(
      rejected(spec).failures[0]?.message.endsWith(
        `; spec.disabled has "${item}", which removes it from the base config`,
      ),
    );
  }
});
