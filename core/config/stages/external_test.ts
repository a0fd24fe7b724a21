import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, envOf, failures, generated, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, isObject, type Json, type JsonObject, listAt, stringAt } from "../../data/json.ts";

const IMAGE = "registry.example.com/own:1";
const own = (more: JsonObject = {}): JsonObject => ({ providerId: "own", image: IMAGE, ...more });
const entries = (spec: JsonObject, api: string, surroundings = {}) =>
  listAt(config(spec, surroundings), "providers", api).filter(isObject);
const ids = (list: ReadonlyArray<Json>) => list.map((entry) => stringAt(entry, "provider_id"));

Deno.test("addExternalProviders() appends an entry without a type of the server, with config and secrets", () => {
  const spec = {
    externalProviders: {
      inference: [own({
        config: { level: 3, nested: { a: [1] } },
        secretRefs: { api_token: { secretKeyRef: { name: "s", key: "k" } } },
      })],
    },
  };
  deepStrictEqual(entries(spec, "inference", smallBase()).at(-1), {
    provider_id: "own",
    provider_type: "external::own",
    config: { api_token: "${env.LLSD_OWN_API_TOKEN}", level: 3, nested: { a: [1] } },
  });
  deepStrictEqual(envOf(spec, "LLSD_OWN_API_TOKEN"), {
    name: "LLSD_OWN_API_TOKEN",
    valueFrom: { secretKeyRef: { name: "s", key: "k" } },
  });
  deepStrictEqual(generated(spec).config.external, [{ id: "own", api: "inference", image: IMAGE }]);
});

Deno.test("addExternalProviders() replaces a provider of the base config in place, conditional or not, with a warning", () => {
  const spec = { externalProviders: { inference: [own({ providerId: "ollama" })] } };
  deepStrictEqual(ids(entries(spec, "inference", smallBase())), ["ollama", "openai"]);
  deepStrictEqual(warnings(spec, smallBase()), [
    "ProviderReplaced at spec.externalProviders.inference[0].providerId",
  ]);
});

Deno.test("addExternalProviders() replaces a provider of the resource, whose Secret is then not needed", () => {
  const spec = {
    providers: {
      inference: [{
        id: "own",
        provider: "vllm",
        endpoint: "http://v:8000/v1",
        secretRefs: { api_token: { secretKeyRef: { name: "old", key: "k" } } },
      }],
    },
    externalProviders: {
      inference: [own({ secretRefs: { api_token: { secretKeyRef: { name: "new", key: "k" } } } })],
    },
  };
  deepStrictEqual(entries(spec, "inference", smallBase()).filter(({ provider_id }) => provider_id === "own"), [
    { provider_id: "own", provider_type: "external::own", config: { api_token: "${env.LLSD_OWN_API_TOKEN}" } },
  ]);
  strictEqual(at(envOf(spec, "LLSD_OWN_API_TOKEN"), "valueFrom", "secretKeyRef", "name"), "new");
});

Deno.test("addExternalProviders() keeps everything else of the base config", () => {
  const before = config({ storage: { kv: {} } });
  const after = config({ storage: { kv: {} }, externalProviders: { eval: [own()] } });
  const rest = (tree: JsonObject) => ({
    ...tree,
    apis: listAt(tree, "apis").filter((api) => api !== "eval"),
    providers: Object.fromEntries(
      Object.entries(tree.providers as JsonObject).map(([api, list]) => [
        api,
        (list as ReadonlyArray<Json>).filter((entry) => stringAt(entry, "provider_id") !== "own"),
      ]),
    ),
  });
  deepStrictEqual(rest(after), rest(before));
});

Deno.test("addExternalProviders() opens an API that the base config does not open", () => {
  const spec = { externalProviders: { eval: [own()] } };
  const made = config(spec, smallBase());
  ok(listAt(made, "apis").includes("eval"));
  deepStrictEqual(ids(listAt(made, "providers", "eval")), ["own"]);
});

Deno.test("addExternalProviders() keeps the order of the APIs and lists as the order of installation", () => {
  const spec = {
    externalProviders: {
      toolRuntime: [own({ providerId: "t" })],
      eval: [own({ providerId: "z" }), own({ providerId: "a" })],
      inference: [own({ providerId: "i" })],
    },
  };
  deepStrictEqual(generated(spec).config.external.map(({ id }) => id), ["i", "z", "a", "t"]);
});

Deno.test("addExternalProviders() calls agents by the name that the server has for it", () => {
  deepStrictEqual(generated({ externalProviders: { agents: [own()] } }).config.external.map(({ api }) => api), [
    "responses",
  ]);
});

Deno.test("addExternalProviders() rejects APIs that the server does not have", () => {
  const spec = {
    distribution: { name: "ogx-starter" },
    externalProviders: { eval: [own()], safety: [own({ providerId: "s" })], postTraining: [own({ providerId: "p" })] },
  };
  deepStrictEqual(failures(spec), [
    "NotSupportedByServer at spec.externalProviders.safety[0]",
    "NotSupportedByServer at spec.externalProviders.eval[0]",
    "NotSupportedByServer at spec.externalProviders.postTraining[0]",
  ]);
});

Deno.test("addExternalProviders() accepts empty lists", () => {
  deepStrictEqual(generated({ externalProviders: { inference: [] }, storage: { kv: {} } }).config.external, []);
});

Deno.test("external providers need a known base config, and no other image is started without them", () => {
  const spec = { distribution: { image: "example/server:1" }, externalProviders: { inference: [own()] } };
  const [failure] = rejected(spec).failures;
  strictEqual(failure?._tag, "BaseConfigRequired");
  ok(failure.message.includes("spec.externalProviders"), failure.message);
});

Deno.test("a secret that config sets too is reported", () => {
  const spec = {
    externalProviders: {
      inference: [own({ config: { token: "x" }, secretRefs: { token: { secretKeyRef: { name: "s", key: "k" } } } })],
    },
  };
  deepStrictEqual(warnings(spec, smallBase()), [
    "SettingOverruled at spec.externalProviders.inference[0].config.token",
  ]);
});

Deno.test("two providers whose Secrets would share a variable are rejected by their ids", () => {
  const secretRefs = { token: { secretKeyRef: { name: "s", key: "k" } } };
  const spec = {
    providers: { inference: [{ id: "a_b", provider: "vllm", endpoint: "http://v:8000/v1", secretRefs }] },
    externalProviders: { inference: [own({ providerId: "a-b", secretRefs })] },
  };
  const [failure] = rejected(spec, smallBase()).failures;
  strictEqual(failure?._tag, "EnvNameCollision");
  ok(failure.message.includes('"a_b" and "a-b"'), failure.message);
});

Deno.test("an unset variable in config is reported at its field", () => {
  const spec = { externalProviders: { inference: [own({ config: { url: "${env.NOWHERE}" } })] } };
  deepStrictEqual(failures(spec, smallBase()), ["VariableNotSet at spec.externalProviders.inference[0].config.url"]);
});

Deno.test("models may name an external provider, and go to the first one if they name none", () => {
  const spec = (model: JsonObject) => ({
    externalProviders: { inference: [own()] },
    resources: { models: [{ name: "m", ...model }] },
  });
  const provider = (model: JsonObject) =>
    listAt(config(spec(model), smallBase()), "registered_resources", "models").map((entry) =>
      stringAt(entry, "provider_id")
    );
  deepStrictEqual([provider({ provider: "own" }), provider({}), provider({ provider: "openai" })], [
    ["own"],
    ["own"],
    ["openai"],
  ]);
});

Deno.test("tools may name an external provider; older servers get its tool group", () => {
  const spec = (distribution: JsonObject) => ({
    distribution,
    externalProviders: { toolRuntime: [own({ providerId: "weather" }), own({ providerId: "other" })] },
    resources: { tools: ["weather"] },
  });
  ok(generated(spec({ name: "starter" })));
  const base = JSON.stringify({ version: 2, providers: { tool_runtime: [] }, apis: ["tool_runtime"] });
  const made = config(spec({ name: "starter", serverVersion: "0.6.1" }), { base: { origin: "test", content: base } });
  deepStrictEqual(listAt(made, "registered_resources", "tool_groups"), [
    { provider_id: "weather", toolgroup_id: "weather" },
  ]);
});

Deno.test("shields go to an external safety provider", () => {
  const spec = { externalProviders: { safety: [own()] }, resources: { shields: ["guard"] } };
  deepStrictEqual(listAt(config(spec, smallBase()), "registered_resources", "shields"), [
    { provider_id: "own", shield_id: "guard", provider_shield_id: "guard" },
  ]);
});
