import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { config, failures, generated, rejected } from "../../tests/given.ts";
import { isObject, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { BASES } from "./servers/bases.ts";

const BASE: JsonObject = {
  version: 2,
  distro_name: "own",
  apis: ["inference", "vector_io"],
  providers: {
    inference: [
      { provider_id: "vllm", provider_type: "remote::vllm", config: { base_url: "http://old:8000/v1", max_tokens: 5 } },
      { provider_id: "kept", provider_type: "remote::openai", config: {} },
    ],
    vector_io: [
      {
        provider_id: "faiss",
        provider_type: "inline::faiss",
        config: { persistence: { namespace: "f", backend: "kv_default" } },
      },
    ],
  },
  storage: {
    backends: {
      kv_default: { type: "kv_sqlite", db_path: "/tmp/kv.db" },
      sql_default: { type: "sql_sqlite", db_path: "/tmp/sql.db" },
    },
    stores: { metadata: { namespace: "registry", backend: "kv_default" } },
  },
  logging_config: { category_levels: { core: "debug" } },
};
const BASE_INFERENCE = listAt(BASE, "providers", "inference").filter(isObject);
const SPEC = { baseConfig: { configMapName: "base" } };
const given = (data: Readonly<Record<string, string>>, binaryData: Readonly<Record<string, string>> = {}) => ({
  configMaps: new Map([["default/base", { data, binaryData }]]),
});
const BESIDE = given({ "config.yaml": JSON.stringify(BASE) });
const inference = (spec: JsonObject) =>
  listAt(config(spec, BESIDE), "providers", "inference").filter(isObject).map((entry) => [
    stringAt(entry, "provider_id"),
    stringAt(entry, "config", "base_url"),
  ]);

Deno.test("spec.baseConfig is judged as part of what is made of it", () => {
  const args = (spec: JsonObject, more: JsonObject) =>
    [
      { distribution: { name: "starter", serverVersion: "1.5" }, ...SPEC, ...spec },
      given({ "config.yaml": JSON.stringify({ ...BASE, ...more }) }),
    ] as const;
  const refused = (...given: Parameters<typeof args>) =>
    deepStrictEqual(failures(...args(...given)), ["RuleBroken at spec.baseConfig"]);
  const accepted = (...given: Parameters<typeof args>) => ok(config(...args(...given)));
  const store = { backend: "sql_extra", table_name: "f" };
  const files = [{
    provider_id: "f",
    provider_type: "inline::localfs",
    config: { storage_dir: "/.llama/f", metadata_store: store },
  }];
  const providers = { providers: { inference: BASE_INFERENCE, files } };
  refused({}, providers);
  const extra = { name: "sql_extra", type: "sql_sqlite", settings: { db_path: "/.llama/extra.db" } };
  accepted({ storage: { backends: [extra] } }, providers);
  // The start command of the operator sets insecure where the server has no certificate.
  const provider_config = {
    type: "oauth2_token",
    audience: "a",
    issuer: "https://i",
    jwks: { uri: "https://i/jwks" },
    verify_tls: false,
  };
  accepted({}, { server: { auth: { provider_config } } });
  const azure = { provider_id: "z", provider_type: "remote::azure", config: { api_key: "${env.KEY:=}" } };
  accepted({}, { providers: { inference: [azure] } });
  refused({}, { providers: { inference: [{ ...azure, provider_type: "remote::vllm" }] } });
});

Deno.test("spec.baseConfig is enough for a config, and keeps what the operator does not know", () => {
  const made = config(SPEC, BESIDE);
  deepStrictEqual(made.logging_config, BASE.logging_config);
  deepStrictEqual(listAt(made, "apis"), ["inference", "vector_io"]);
  deepStrictEqual(inference(SPEC), [["vllm", "http://old:8000/v1"], ["kept", undefined]]);
});

Deno.test("spec.baseConfig is the base of all other fields: providers are merged by id", () => {
  const provider = { id: "vllm", provider: "vllm", endpoint: "http://new:8000/v1" };
  const spec = { ...SPEC, providers: { inference: [provider] }, resources: { models: [{ name: "m" }] } };
  deepStrictEqual(inference(spec), [["vllm", "http://new:8000/v1"], ["kept", undefined]]);
  const [model] = listAt(config(spec, BESIDE), "registered_resources", "models");
  strictEqual(stringAt(model, "provider_id"), "vllm");
});

Deno.test("spec.baseConfig comes before the labels of the image and the embedded base config", () => {
  const labels = {
    kind: "read" as const,
    read: {
      image: "i",
      digest: `sha256:${"0".repeat(64)}`,
      wanted: undefined,
      config: { file: "f", base: { origin: "labels", content: "{}" }, serverVersion: "1.5.0" },
    },
  };
  const { distribution, config: made } = generated(SPEC, { ...BESIDE, labels, imageLabels: "Always" });
  strictEqual(stringAt(made.tree, "distro_name"), "own");
  deepStrictEqual([distribution.base, distribution.labels], [undefined, undefined]);
});

Deno.test("spec.baseConfig may be in another key, and be binary", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(BASE)).toBase64();
  const spec = { baseConfig: { configMapName: "base", key: "own.yaml" } };
  strictEqual(config(spec, given({}, { "own.yaml": bytes })).distro_name, "own");
});

Deno.test("a base config that cannot be used is named with its ConfigMap", () => {
  const of = (text: string) => rejected(SPEC, given({ "config.yaml": text })).failures[0];
  deepStrictEqual([of("a: [")?._tag, of("a: [")?.path], ["BaseUnreadable", ["spec", "baseConfig"]]);
  ok(of("a: [")?.message.startsWith("Cannot read the base config (config.yaml of ConfigMap base): "));
  const foreign = JSON.stringify({ ...BASE, apis: ["nonsense"] });
  deepStrictEqual([of(foreign)?._tag, of(foreign)?.path], ["UnsupportedConfigVersion", ["spec", "baseConfig"]]);
});

Deno.test("without its ConfigMap, nothing is generated in its place", () => {
  deepStrictEqual(failures(SPEC), ["BaseConfigRequired at spec.baseConfig"]);
  strictEqual(
    rejected(SPEC).failures[0]?.message,
    'spec.baseConfig: the base config is in ConfigMap "base", which the operator reads (offline: put it into a file ' +
      "beside the resource, or use --base FILE)",
  );
});

Deno.test("spec.baseConfig with which the server does not start is refused, unless the resource removes what is wrong", () => {
  const broken = given({
    "config.yaml": JSON.stringify({
      ...BASE,
      registered_resources: { models: [{ model_id: "m", provider_id: "nobody", model_type: "llm" }] },
    }),
  });
  const found = rejected({ distribution: { name: "starter", serverVersion: "0.7.3" }, ...SPEC }, broken);
  deepStrictEqual(found.failures.map(({ message }) => message), [
    "spec.baseConfig: in the base config, registered_resources.models[0].provider_id: no inference provider of the config " +
    "has this id; the server does not start",
  ]);
  config({
    distribution: { name: "starter", serverVersion: "0.7.3" },
    ...SPEC,
    providers: { inference: [{ id: "nobody", provider: "vllm", endpoint: "http://v:8000/v1" }] },
  }, broken);
});

Deno.test("spec.baseConfig that its server would not parse is refused, unless the resource replaces what is wrong", () => {
  const broken = given({
    "config.yaml": JSON.stringify({
      ...BASE,
      registered_resources: { models: [{ model_id: "m", provider_id: "a", model_type: "chat" }] },
      server: { auth: { provider_config: { type: "custom" } } },
    }),
  });
  const on = { distribution: { name: "starter", serverVersion: "0.7.3" }, ...SPEC };
  const found = (spec: JsonObject) => rejected({ ...on, ...spec }, broken).failures.map(({ message }) => message);
  const model = "spec.baseConfig: in the base config, registered_resources.models[0].model_type: " +
    '"chat" is not accepted; write one of embedding, llm, rerank; the server does not start';
  deepStrictEqual(found({}).filter((line) => !line.includes("no inference provider")), [
    model,
    "spec.baseConfig: in the base config, server.auth.provider_config.endpoint: missing; write a string; the server " +
    "does not start",
  ]);
  const auth = { webhook: { endpoint: "https://auth.example.com" } };
  deepStrictEqual(found({ auth }).filter((line) => !line.includes("no inference provider")), [model]);
});

Deno.test("no field may name a ConfigMap that the operator makes for this resource and deletes", () => {
  for (const configMapName of ["my-config-0123abcd", "my-ca-bundle", "my-ca-bundle-0123abcd"]) {
    for (const field of ["baseConfig", "overrideConfig"]) {
      const [failure, ...others] = rejected({ [field]: { configMapName } }).failures;
      deepStrictEqual([failure?.path.join("."), others], [`spec.${field}.configMapName`, []]);
      match(failure?.message ?? "", /copy the config into one of another name/);
    }
  }
  for (const configMapName of ["my-config", "other-config-0123abcd", "my-config-0123abcdef"]) {
    deepStrictEqual(failures({ baseConfig: { configMapName } }), ["BaseConfigRequired at spec.baseConfig"]);
  }
});

const OLD = { distribution: { name: "starter", serverVersion: "0.7.3" }, ...SPEC };

Deno.test("spec.baseConfig with a resource of a provider that is off is refused with the variable that switches it on", () => {
  const [provider] = BASE_INFERENCE;
  const base = given({
    "config.yaml": JSON.stringify({
      ...BASE,
      providers: {
        ...BASE.providers as JsonObject,
        inference: [{ ...provider, provider_id: "${env.VLLM_URL:+vllm}" }],
      },
      registered_resources: { models: [{ model_id: "${env.HOME}", provider_id: "vllm", model_type: "llm" }] },
    }),
  });
  deepStrictEqual(rejected(OLD, base).failures.map(({ message }) => message), [
    'spec.baseConfig: in the base config, registered_resources.models[0].provider_id: the inference provider "vllm" is ' +
    "disabled unless VLLM_URL is set; set VLLM_URL in spec.workload.overrides.env; the server does not start",
  ]);
  generated({ ...OLD, workload: { overrides: { env: [{ name: "VLLM_URL", value: "http://v:8000/v1" }] } } }, base);
});

Deno.test("spec.baseConfig has the findings of an own config that do not prevent a start as warnings at its field", () => {
  const of = (more: JsonObject) =>
    generated(OLD, given({ "config.yaml": JSON.stringify({ ...BASE, ...more }) })).config.warnings
      .map(({ code, path, message }) => `${code} at ${path.join(".")}: ${message}`);
  const [provider] = BASE_INFERENCE;
  const unread = { ...provider, config: { base_url: "http://v:8000/v1", url: "x" } };
  const inference = [unread];
  const [first = "", ...others] = of({ providers: { ...BASE.providers as JsonObject, inference } });
  match(first, /^UnknownSetting at spec\.baseConfig: in the base config, providers\.inference\[0\]\.config\.url: /);
  deepStrictEqual(others, []);
  match(of({ quota: { a: 1 } }).join(), /^SectionIgnored at spec\.baseConfig: in the base config, .*quota/);
});

Deno.test("a variable that spec.baseConfig needs and nothing sets is a failure at its field", () => {
  const base = given({ "config.yaml": JSON.stringify({ ...BASE, logging_config: { a: "${env.OF_NOBODY}" } }) });
  deepStrictEqual(failures(OLD, base), ["VariableNotSet at spec.baseConfig"]);
});

Deno.test("a variable that the image may set is a warning, where the server does not start without it", () => {
  const base = given({
    "config.yaml": JSON.stringify({ ...BASE, image_name: "${env.NAME:=}", distro_name: "${env.NAME:=}" }),
  });
  const distribution = { image: "registry.example.com/own:1", serverVersion: "1.4.1" };
  const found = generated({ ...SPEC, distribution }, base).config.warnings.map(({ code, message }) =>
    `${code}: ${message}`
  );
  match(found.join(), /^VariableNotKnown: in the base config, \w+_name: .*does not start unless NAME is set/);
});

Deno.test("no config that a server ships has a finding as spec.baseConfig", () => {
  for (const [file, text] of Object.entries(BASES)) {
    const [, serverVersion = ""] = /-([0-9.]+)\.yaml$/.exec(file) ?? [];
    const spec = { ...SPEC, distribution: { image: "registry.example.com/own:1", serverVersion } };
    const found = generated(spec, given({ "config.yaml": text })).config.warnings
      .filter(({ code, path }) => code !== "VariableNotKnown" && path.includes("baseConfig"));
    deepStrictEqual([file, ...found], [file]);
  }
});

Deno.test("spec.baseConfig causes a warning for what it says of the server and the resource decides", () => {
  const of = (server: JsonObject, more: JsonObject = {}) =>
    generated(
      { distribution: { name: "starter", serverVersion: "1.4.1" }, ...SPEC, ...more },
      given({ "config.yaml": JSON.stringify({ ...BASE, server }) }),
    ).config.warnings.filter(({ path }) => path.includes("baseConfig")).map(({ message }) => message);
  deepStrictEqual(of({ port: 8321 }), []);
  deepStrictEqual(of({ port: 9000, workers: 3, tls_certfile: "/c", tls_keyfile: "/k" }), [
    "server.tls_certfile of the base config is not used: the server answers without TLS; set spec.networking.tls",
    "server.port of the base config is not used: set spec.networking.port",
    "server.workers of the base config is not used: set spec.workload.workers",
  ]);
  deepStrictEqual(
    of({ auth: { access_policy: [] }, tenancy: { mode: "multi" } }, { auth: { webhook: { endpoint: "http://who" } } }),
    [
      "server.auth of the base config is not used: spec.auth replaces all of it; write its policies in " +
      "spec.auth.accessPolicy and routePolicy",
      "server.tenancy of the base config rejects callers without a tenant, and spec.auth names none; set tenantClaim, " +
      "tenantField or tenantHeader there",
    ],
  );
});
