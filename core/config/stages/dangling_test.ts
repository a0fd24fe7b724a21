import { deepStrictEqual } from "node:assert/strict";
import { config, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, type JsonObject, listAt } from "../../data/json.ts";

const failures = (spec: JsonObject) => rejected(spec).failures.map(({ message }) => message);

const REPLACED = { inference: [{ id: "sentence-transformers", provider: "vllm", endpoint: "http://v:8000/v1" }] };

Deno.test("rejectDanglingNames() rejects a provider that replaces the one of the default embedding model", () => {
  deepStrictEqual(failures({ providers: REPLACED }), [
    'spec.providers.inference[0].id: "sentence-transformers" replaces the provider of the default embedding model ' +
    '"nomic-ai/nomic-embed-text-v1.5"; choose another id, or add that model to spec.resources.models with this provider ' +
    "and modelType embedding",
  ]);
});

Deno.test("rejectDanglingNames() accepts it if the resource registers that model there", () => {
  const model = {
    name: "nomic-ai/nomic-embed-text-v1.5",
    provider: "sentence-transformers",
    modelType: "embedding",
    embeddingDimension: 768,
  };
  config({ providers: REPLACED, resources: { models: [model] } });
});

const faiss = (backend: string) => ({
  providers: {
    vectorIo: [{ id: "f", provider: "inline::faiss", settings: { persistence: { namespace: "x", backend } } }],
  },
});

Deno.test("rejectDanglingNames() rejects a storage backend that the config does not have", () => {
  deepStrictEqual(failures(faiss("nosuch")), [
    'spec.providers.vectorIo[0].settings.persistence.backend: not a key-value storage backend; use "kv_default"',
  ]);
  config(faiss("kv_default"));
});

Deno.test("rejectDanglingNames() rejects one that a variable names", () => {
  deepStrictEqual(failures(faiss("${env.KV_BACKEND:=nosuch}")), [
    'spec.providers.vectorIo[0].settings.persistence.backend: not a key-value storage backend; use "kv_default"',
  ]);
  config(faiss("${env.KV_BACKEND:=kv_default}"));
});

Deno.test("a provider uses the backend of the base config, whatever its name", () => {
  const base = smallBase();
  const tree = JSON.parse(String(base.base?.content));
  const renamed = JSON.stringify(tree).replaceAll("kv_default", "kv_mine");
  const spec = { providers: { vectorIo: [{ id: "f", provider: "inline::faiss" }] } };
  const made = config(spec, { base: { origin: "test", content: renamed } });
  const entry = listAt(made, "providers", "vector_io").find((item) => at(item, "provider_id") === "f");
  deepStrictEqual(at(entry, "config", "persistence", "backend"), "kv_mine");
});

Deno.test("rejectDanglingNames() rejects a priority that names no other file processor, of which OGX 1.2 asks several", () => {
  const of = (serverVersion: string, priority: ReadonlyArray<string>) => ({
    distribution: { name: "starter", serverVersion },
    providers: {
      fileProcessors: [
        { id: "office", provider: "inline::markitdown" },
        { id: "all", provider: "inline::auto", settings: { priority } },
      ],
    },
  });
  deepStrictEqual(failures(of("1.2.5", ["office", "pdf"])), [
    "spec.providers.fileProcessors[1].settings.priority[1]: not the id of another provider of file_processors; " +
    'use "office"',
  ]);
  deepStrictEqual(warnings(of("1.5.0", ["office"])), []);
  deepStrictEqual(warnings(of("1.1.3", [])), [
    "UnknownSetting at spec.providers.fileProcessors[1].settings.priority",
    "OneProviderOnly at spec.providers.fileProcessors[0]",
  ]);
});
