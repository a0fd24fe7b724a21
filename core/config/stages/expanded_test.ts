import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, rejected, secret, SURROUNDINGS, warnings } from "../../../tests/given.ts";
import { secretsOf } from "../../../tests/snapshots.ts";
import { formatPath } from "../../data/field_path.ts";
import { derive, warningsOf } from "../derive.ts";
import type { JsonObject } from "../../data/json.ts";

const spec = (env: ReadonlyArray<JsonObject>, more: JsonObject = {}): JsonObject => ({
  resources: { models: [{ name: "m", provider: "vllm" }] },
  workload: { overrides: { env } },
  ...more,
});
const messages = (given: JsonObject) => rejected(given).failures.map(({ message }) => message);
const AT = "spec.workload.overrides.env";

Deno.test("rejectUnfitVariables() rejects values of variables that a provider of the base config does not accept", () => {
  deepStrictEqual(
    messages(spec([
      { name: "VLLM_URL", value: "vllm:8000" },
      { name: "VLLM_MAX_TOKENS", value: "lots" },
      { name: "VLLM_TLS_VERIFY", value: "no" },
    ])).map((message) => message.split(";")[0]),
    [
      `${AT}[0].value: provider "vllm" reads this value as its field base_url`,
      `${AT}[1].value: provider "vllm" reads this value as its field max_tokens`,
      `${AT}[2].value: provider "vllm" reads this value as its field network.tls.verify`,
    ],
  );
});

Deno.test("rejectUnfitVariables() accepts what the server converts, and ignores providers that are off", () => {
  deepStrictEqual(
    warnings(spec([
      { name: "VLLM_URL", value: "http://vllm:8000/v1" },
      { name: "VLLM_MAX_TOKENS", value: "4096" },
      { name: "VLLM_TLS_VERIFY", value: "false" },
    ])),
    [],
  );
  const openai = { providers: { inference: [{ provider: "openai" }] }, resources: {} };
  deepStrictEqual(warnings(spec([{ name: "VLLM_MAX_TOKENS", value: "lots" }], openai)), []);
});

Deno.test("rejectUnfitVariables() rejects a number where the provider reads text", () => {
  const watsonx = {
    providers: {
      inference: [{
        id: "w",
        provider: "watsonx",
        endpoint: "https://w",
        settings: { project_id: "${env.WX_PROJECT}" },
      }],
    },
    resources: {},
  };
  deepStrictEqual(messages(spec([{ name: "WX_PROJECT", value: "12345678" }], watsonx)), [
    `${AT}[0].value: provider "w" reads this value as its field project_id; expected a string; the server converts ` +
    "variables that look like a number: choose a value with letters",
  ]);
  deepStrictEqual(
    messages(spec([], {
      ...watsonx,
      workload: {},
      providers: {
        inference: [{
          id: "v",
          provider: "vllm",
          endpoint: "http://v/v1",
          settings: { max_tokens: "${env.TOKENS:=many}" },
        }],
      },
    })),
    [
      'spec.providers.inference[0].settings.max_tokens: provider "v" reads this value as its field max_tokens; expected a ' +
      "whole number",
    ],
  );
});

Deno.test("rejectUnfitVariables() warns of a URL without the path that endpoint would get", () => {
  deepStrictEqual(warnings(spec([{ name: "VLLM_URL", value: "http://vllm:8000" }])), [
    `EndpointIncomplete at ${AT}[0].value`,
  ]);
});

const vllm = (settings: JsonObject, env: ReadonlyArray<JsonObject>, more: JsonObject = {}): JsonObject => ({
  distribution: { name: "ogx-starter" },
  providers: { inference: [{ id: "v", provider: "vllm", endpoint: "http://v/v1", settings, ...more }] },
  workload: { overrides: { env } },
});
const SETTINGS = "spec.providers.inference[0].settings";

Deno.test("rejectUnfitVariables() does not judge values that the kubelet expands", () => {
  const env = [{ name: "BASE", value: "5" }, { name: "T", value: "$(BASE)" }];
  deepStrictEqual(warnings(vllm({ max_tokens: "${env.T}" }, env)), []);
});

Deno.test("rejectUnfitVariables() checks items of lists and values of maps", () => {
  const env = [{ name: "T", value: "5" }];
  const at = `${AT}[0].value: provider "v" reads this value as its field`;
  const wrong = (settings: JsonObject) => messages(vllm(settings, env)).map((message) => message.split(";")[0]);
  deepStrictEqual(wrong({ network: { headers: { "X-A": "${env.T}" } } }), [`${at} network.headers.X-A`]);
  deepStrictEqual(wrong({ allowed_models: ["${env.T}"] }), [`${at} allowed_models.0`]);
  deepStrictEqual(wrong({ network: { headers: { "X-A": "${env.NONE:+x}" } } }), [
    `${SETTINGS}.network.headers.X-A: provider "v" reads this value as its field network.headers.X-A`,
  ]);
});

Deno.test("rejectUnfitVariables() names endpoint if that holds the placeholder", () => {
  deepStrictEqual(
    messages(vllm({}, [], { endpoint: "${env.NONE:=localhost:8000}" })).map((text) => text.split(":")[0]),
    [
      "spec.providers.inference[0].endpoint",
    ],
  );
});

Deno.test("rejectUnfitVariables() rejects an address that the client of the provider does not accept", () => {
  const chroma = {
    distribution: { name: "ogx-starter" },
    providers: { vectorIo: [{ id: "c", provider: "remote::chromadb", endpoint: "${env.C}" }] },
    workload: { overrides: { env: [{ name: "C", value: "http://c:8000/api" }] } },
  };
  deepStrictEqual(messages(chroma), [
    `${AT}[0].value: provider "c": the URL must not have a path; end it after the port`,
  ]);
});

Deno.test("rejectUnfitVariables() rejects a name of a model that the server reads as a number", () => {
  const models = { models: [{ name: "${env.M}", provider: "v" }] };
  deepStrictEqual(messages({ ...vllm({}, [{ name: "M", value: "123" }]), resources: models }), [
    "spec.resources.models[0].name: the server converts variables that are empty or look like a number; expected a string",
  ]);
});

Deno.test("unfitVariables() warns for a config that is built into the image", () => {
  const env = [{ name: "VLLM_URL", value: "http://v/v1" }, { name: "VLLM_MAX_TOKENS", value: "many" }];
  const derived = Result.getOrThrow(derive(decoded({ workload: { overrides: { env } } }), SURROUNDINGS));
  deepStrictEqual(warningsOf(derived).map(({ code, path }) => `${code} at ${formatPath(path)}`), [
    `VariableUnfit at ${AT}[1].value`,
  ]);
  const tgi = { distribution: { name: "starter", serverVersion: "0.3" }, workload: { overrides: { env: [TGI] } } };
  const ofTgi = warningsOf(Result.getOrThrow(derive(decoded(tgi), SURROUNDINGS)));
  deepStrictEqual(ofTgi.map(({ code, path }) => `${code} at ${formatPath(path)}`), [`VariableUnfit at ${AT}[0]`]);
});

Deno.test("rejectUnfitVariables() rejects Secrets that look like a number where a database is accessed with them", () => {
  const of = (value: string) =>
    derive(
      decoded({
        distribution: { name: "postgres-demo", serverVersion: "0.2" },
        providers: {},
        workload: { overrides: { env: [{ name: "POSTGRES_PASSWORD", valueFrom: secret("pg", "word") }] } },
      }),
      { ...SURROUNDINGS, secrets: secretsOf({ pg: { word: value } }) },
    );
  const refused = of("48151623");
  const said = Result.isFailure(refused) ? refused.failure.failures : [];
  deepStrictEqual([said.length, ...new Set(said.map(({ _tag }) => _tag))], [4, "SecretValueUnusable"]);
  deepStrictEqual(said.map(({ message }) => message).join().includes("48151623"), false);
  deepStrictEqual(Result.isSuccess(of("letters")), true);
});

Deno.test("rejectUnfitVariables() warns of files that variables name and that no volume has", () => {
  const vllm = (settings: JsonObject, more: JsonObject = {}) => ({
    providers: { inference: [{ id: "v", provider: "vllm", endpoint: "http://v/v1", settings }] },
    workload: { overrides: { env: [{ name: "CA", value: "/certs/ca.pem" }], ...more } },
  });
  const codes = (given: JsonObject) => warnings(given).filter((line) => line.startsWith("FileNotMounted"));
  const network = { network: { tls: { verify: "${env.CA}" } } };
  deepStrictEqual(codes(vllm(network)), [`FileNotMounted at ${AT}[0].value`]);
  const volumes = [{ name: "c", secret: { secretName: "c" } }];
  deepStrictEqual(codes(vllm(network, { volumes, volumeMounts: [{ name: "c", mountPath: "/certs" }] })), []);
  deepStrictEqual(codes(vllm({ network: { tls: { verify: "${env.VERIFY:=false}" } } })), []);
  deepStrictEqual(codes(vllm({ network: { tls: { verify: "${env.UNSET:=/nowhere}" } } })), [
    "FileNotMounted at spec.providers.inference[0].settings.network.tls.verify",
  ]);
});

Deno.test("rejectUnfitVariables() rejects keys that a client cannot put into a header", () => {
  const of = (value: string) =>
    derive(
      decoded({
        providers: { vectorIo: [{ provider: "remote::qdrant", endpoint: "http://q:6333", apiKey: secret("s", "k") }] },
      }),
      { ...SURROUNDINGS, secrets: secretsOf({ s: { k: value } }) },
    );
  const refused = of("pässword");
  deepStrictEqual(Result.isFailure(refused) ? refused.failure.failures.map(({ _tag }) => _tag) : [], [
    "SecretValueUnusable",
  ]);
  deepStrictEqual(Result.isSuccess(of("a b#c")), true);
});

const TGI = { name: "TGI_URL", value: "http://tgi:8080" };

Deno.test("rejectUnfitVariables() rejects values that stores in place do not accept, at top level and inside providers", () => {
  const demo = (...env: ReadonlyArray<JsonObject>) =>
    messages({
      distribution: { name: "postgres-demo", serverVersion: "0.2" },
      providers: {},
      workload: { overrides: { env: [...env] } },
    }).map((message) => message.split(";")[0]);
  const read = (field: string) => [
    `the base config reads this value as metadata_store.${field}`,
    `the base config reads this value as inference_store.${field}`,
    `provider "meta-reference" reads this value as its field persistence_store.${field}`,
    `provider "meta-reference" reads this value as its field responses_store.${field}`,
  ];
  for (
    const [name, value, field] of [["USER", "5", "user"], ["HOST", "true", "host"], ["PORT", "db", "port"]] as const
  ) {
    deepStrictEqual(
      demo({ name: `POSTGRES_${name}`, value }),
      read(field).map((message) => `${AT}[0].value: ${message}`),
    );
  }
});

Deno.test("rejectUnfitVariables() takes placeholders in a value as text, which the server does not expand again", () => {
  deepStrictEqual(
    messages(spec([
      { name: "VLLM_URL", value: "http://vllm:8000/v1" },
      { name: "VLLM_MAX_TOKENS", value: "${env.HOME}" },
    ])),
    [`${AT}[1].value: provider "vllm" reads this value as its field max_tokens; expected a whole number`],
  );
});

Deno.test("rejectUnfitVariables() rejects shields of the base config that their provider does not serve", () => {
  const of = (value: string) => spec([{ name: "CODE_SCANNER_MODEL", value }], { resources: {}, ...VLLM });
  deepStrictEqual(messages(of("host")), [
    `${AT}[0].value: the base config reads this value as ` +
    "registered_resources.shields[1].provider_shield_id; expected one of code-scanner, code-shield",
  ]);
  deepStrictEqual(warnings(of("code-shield")), []);
});

const VLLM = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };

Deno.test("settings with variables that something else may set are a warning where the server refuses them unset", () => {
  const given = (settings: JsonObject, overrides: JsonObject): JsonObject => ({
    providers: { inference: [{ id: "v", provider: "vllm", endpoint: "http://vllm:8000/v1", settings }] },
    workload: { overrides },
  });
  const envFrom = [{ configMapRef: { name: "more" } }];
  const settings = { max_tokens: "${env.TOKENS:=}", allowed_models: ["m", "${env.ONLY:=5}"] };
  const below = "spec.providers.inference[0].settings";
  const said = (env: ReadonlyArray<JsonObject>, of = settings) =>
    warningsOf(Result.getOrThrow(derive(decoded(given(of, { envFrom, env })), SURROUNDINGS)))
      .filter(({ code }) => code === "VariableNotKnown").map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const end = (variable: string) =>
    `the server does not start unless ${variable} is set, and spec.workload.overrides.env does not set it`;
  deepStrictEqual(said([]), [
    `${below}.max_tokens: provider "v" reads this value as its field max_tokens; expected a whole number; ${
      end("TOKENS")
    }`,
    `${below}.allowed_models[1]: provider "v" reads this value as its field allowed_models.1; expected a string; the server ` +
    `converts variables that look like a number: choose a value with letters; ${end("ONLY")}`,
  ]);
  deepStrictEqual(said([{ name: "TOKENS", value: "5" }, { name: "ONLY", value: "m2" }]), []);
  deepStrictEqual(said([], { max_tokens: "${env.TOKENS:=5}", allowed_models: ["${env.ONLY:=m}"] }), []);
  // Nothing else sets them.
  deepStrictEqual(rejected(given(settings, {})).failures.map(({ path }) => formatPath(path ?? [])), [
    `${below}.max_tokens`,
    `${below}.allowed_models[1]`,
  ]);
});

Deno.test("a key that no header can have keeps a server from its start that asks for the models when one is registered", () => {
  const codes = (serverVersion: string, more: JsonObject) => {
    const derived = derive(
      decoded({
        distribution: { name: "starter", serverVersion },
        providers: { inference: [{ provider: "together", apiKey: secret("s", "k") }] },
        ...more,
      }),
      { ...SURROUNDINGS, secrets: secretsOf({ s: { k: "sk-äb" } }) },
    );
    return warningsOf(Result.getOrThrow(derived)).map(({ code }) => code).filter((code) =>
      code !== "ImageNotPublished"
    );
  };
  const models = { resources: { models: [{ name: "m" }] } };
  deepStrictEqual(codes("0.5", models), ["VariableUnfit"]);
  deepStrictEqual(codes("0.5", {}), ["KeyNotSendable"]);
  deepStrictEqual(codes("0.6", models), ["KeyNotSendable"]);
});

Deno.test("a key that no header can have is a warning, whatever provider has it", () => {
  const of = (value: string, provider = "openai") => {
    const secretRefs = { api_key: secret("s", "k") };
    const given = provider === "openai"
      ? { providers: { inference: [{ provider, apiKey: secret("s", "k") }] } }
      : { providers: { vectorIo: [{ provider, endpoint: "https://db:6333", secretRefs }] } };
    const derived = derive(decoded({ distribution: { name: "starter" }, ...given }), {
      ...SURROUNDINGS,
      secrets: secretsOf({ s: { k: value } }),
    });
    return warningsOf(Result.getOrThrow(derived)).map(({ code, path, message }) => {
      strictEqual(message.includes(value), false);
      return [code, formatPath(path), message.split("; ")[1]?.split(",")[0]];
    });
  };
  const at = "spec.providers.inference[0].apiKey";
  const blank = "it ends with a blank or a line break";
  const other = "it has a line break or a character that is not ASCII";
  deepStrictEqual(["sk-abc\n", "sk-abc\r\n", "sk-abc ", "sk-a\nb", "sk-äb", "sk-abc"].map((value) => of(value)), [
    [["KeyNotSendable", at, blank]],
    [["KeyNotSendable", at, blank]],
    [["KeyNotSendable", at, blank]],
    [["KeyNotSendable", at, other]],
    [["KeyNotSendable", at, other]],
    [],
  ]);
  deepStrictEqual(of("sk-abc\n", "qdrant"), [[
    "KeyNotSendable",
    "spec.providers.vectorIo[0].secretRefs.api_key",
    blank,
  ]]);
});
