import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, failures, generated, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { at, isObject, type JsonObject, listAt } from "../../data/json.ts";

const GUARD = { id: "guard", provider: "inline::llama-guard" };
const VLLM = { id: "vllm", provider: "vllm", endpoint: "http://vllm:8000/v1" };
const shields = (spec: JsonObject, surroundings = {}) =>
  listAt(config(spec, surroundings), "registered_resources", "shields").filter(isObject)
    .filter(({ provider_id }) => !String(provider_id).includes("${"));

Deno.test("registerShields() makes llama-guard call the routed id of the model of that name", () => {
  const spec = {
    providers: { inference: [VLLM], safety: [GUARD] },
    resources: { models: [{ name: "guard-3", providerModelId: "meta-llama/Llama-Guard-3-8B" }], shields: ["guard-3"] },
  };
  deepStrictEqual(shields(spec), [
    { provider_id: "guard", shield_id: "guard-3", provider_shield_id: "vllm/meta-llama/Llama-Guard-3-8B" },
  ]);
});

Deno.test("registerShields() uses the only guard model if no model has the name of the shield", () => {
  const spec = {
    providers: { inference: [VLLM], safety: [GUARD] },
    resources: { models: [{ name: "chat" }, { name: "org/Llama-Guard-4" }], shields: ["content"] },
  };
  strictEqual(shields(spec)[0]?.provider_shield_id, "vllm/org/Llama-Guard-4");
});

Deno.test("registerShields() warns when no registered model can be meant", () => {
  const spec = { providers: { safety: [GUARD] }, resources: { shields: ["content"] } };
  deepStrictEqual(warnings(spec), ["UnroutedShield at spec.resources.shields[0]"]);
  strictEqual(shields(spec)[0]?.provider_shield_id, "content");
});

Deno.test("registerShields() uses the safety provider of the base", () => {
  strictEqual(shields({ resources: { shields: ["content"] } })[0]?.provider_id, "llama-guard");
});

Deno.test("registerShields() assigns code-scanner to the provider that serves nothing else", () => {
  deepStrictEqual(shields({ resources: { shields: ["code-scanner"] } }), [
    { provider_id: "code-scanner", shield_id: "code-scanner", provider_shield_id: "code-scanner" },
  ]);
});

Deno.test("registerShields() fails without a safety provider", () => {
  const spec = { resources: { shields: ["content"] } };
  deepStrictEqual(failures(spec, smallBase()), ["MissingProviderForResource at spec.resources.shields"]);
  strictEqual(
    rejected(spec, smallBase()).failures[0]?.message,
    "spec.resources.shields requires at least one safety provider to be configured; add one to spec.providers.safety, and do " +
      "not disable that API in spec.disabled",
  );
});

const CONFIGURED = {
  providers: {
    inference: [VLLM],
    safety: [GUARD, { id: "pass", provider: "remote::passthrough", endpoint: "http://guard:8000" }],
  },
};

Deno.test("registerShields() registers a shield with its provider, its name there and its parameters", () => {
  const shieldConfigs = [
    { name: "a", provider: "pass", providerShieldId: "there", params: { level: [1, "x"] } },
    { name: "b", provider: "pass" },
  ];
  deepStrictEqual(shields({ ...CONFIGURED, resources: { shieldConfigs } }), [
    { shield_id: "a", provider_id: "pass", provider_shield_id: "there", params: { level: [1, "x"] } },
    { shield_id: "b", provider_id: "pass", provider_shield_id: "b" },
  ]);
});

Deno.test("registerShields() gives llama-guard the routed id of the model that providerShieldId names", () => {
  const models = [{ name: "org/judge", provider: "vllm" }, { name: "org/Llama-Guard-3", provider: "vllm" }];
  const [named, routed, unknown] = ["org/judge", "vllm/org/judge", "absent"].map((providerShieldId) => {
    const spec = { ...CONFIGURED, resources: { models, shieldConfigs: [{ name: "s", providerShieldId }] } };
    return [shields(spec)[0]?.provider_shield_id, warnings(spec).filter((line) => line.startsWith("UnroutedShield"))];
  });
  deepStrictEqual(named, ["vllm/org/judge", []]);
  deepStrictEqual(routed, named);
  deepStrictEqual(unknown, ["absent", ["UnroutedShield at spec.resources.shieldConfigs[0]"]]);
});

Deno.test("registerShields() rejects providers that are not there or off, and names that a provider does not have", () => {
  const failuresOf = (shield: JsonObject, more: JsonObject = {}) =>
    failures({ ...CONFIGURED, ...more, resources: { shieldConfigs: [{ name: "s", ...shield }] } });
  deepStrictEqual(failuresOf({ provider: "absent" }), ["UnknownProvider at spec.resources.shieldConfigs[0].provider"]);
  deepStrictEqual(failuresOf({ provider: "code-scanner", providerShieldId: "other" }), [
    "SettingInvalid at spec.resources.shieldConfigs[0].providerShieldId",
  ]);
  const off = {
    ...CONFIGURED,
    disabled: ["safety/code-scanner"],
    resources: { shieldConfigs: [{ name: "s", provider: "code-scanner" }] },
  };
  ok(
    rejected(off).failures[0]?.message.endsWith(
      'spec.disabled has "safety/code-scanner", which removes it from the base config',
    ),
  );
  const ogx = { distribution: { name: "ogx-starter" }, resources: { shieldConfigs: [{ name: "s" }] } };
  deepStrictEqual(failures(ogx), ["NotSupportedByServer at spec.resources.shieldConfigs"]);
});

Deno.test("registerShields() moves the server's default to a shield that is on", () => {
  const made = config({ providers: { safety: [GUARD] }, resources: { shields: ["first", "second"] } });
  strictEqual(at(made, "safety", "default_shield_id"), "first");
});

Deno.test("registerShields() rejects shields and safety on servers without them, and names the replacement", () => {
  const spec = { distribution: { name: "ogx-starter" }, providers: { safety: [GUARD] }, resources: { shields: ["s"] } };
  deepStrictEqual(failures(spec), [
    "NotSupportedByServer at spec.providers.safety[0]",
    "NotSupportedByServer at spec.resources.shields",
  ]);
  ok(rejected(spec).failures.every(({ message }) => message.includes("moderation_endpoint")));
});

Deno.test("what the refusal of shields advises can be followed", () => {
  const spec = { providers: { safety: [GUARD] }, resources: { shields: ["s"] } };
  const distribution = { name: "starter" };
  const { message = "" } = rejected({ distribution, ...spec }).failures[1] ?? {};
  const [, serverVersion = ""] = /serverVersion to ([0-9.]+)/.exec(message) ?? [];
  strictEqual(generated({ distribution: { ...distribution, serverVersion }, ...spec }).server.version, serverVersion);
  ok(message.includes("spec.providers.responses"), message);
  const moderated = generated({
    distribution,
    providers: { responses: [{ provider: "builtin", settings: { moderation_endpoint: "http://moderation/v1" } }] },
  });
  const responses = listAt(moderated.config.tree, "providers", "responses");
  deepStrictEqual(responses.map((entry) => at(entry, "config", "moderation_endpoint")), ["http://moderation/v1"]);
  deepStrictEqual(moderated.config.warnings.map(({ message }) => message), []);
});

Deno.test("overlayProviders() leaves the safety section of a base out on servers without it", () => {
  const base = smallBase({
    apis: ["inference", "safety"],
    providers: {
      inference: [{ provider_id: "openai", provider_type: "remote::openai" }],
      safety: [{ provider_id: "llama-guard", provider_type: "inline::llama-guard" }],
    },
    registered_resources: { shields: [{ shield_id: "s", provider_id: "llama-guard" }] },
    safety: { default_shield_id: "s" },
  });
  const spec = { resources: { models: [{ name: "gpt" }] } };
  const made = config(spec, { ...base, serverVersion: "1.4.1" });
  deepStrictEqual([
    made.apis,
    at(made, "providers", "safety"),
    made.safety,
    at(made, "registered_resources", "shields"),
  ], [
    ["inference"],
    undefined,
    undefined,
    undefined,
  ]);
  deepStrictEqual(warnings(spec, { ...base, serverVersion: "1.4.1" }), ["SectionDropped at spec.distribution"]);
});
