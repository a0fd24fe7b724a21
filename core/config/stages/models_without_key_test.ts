import { deepStrictEqual } from "node:assert/strict";
import { config, generated, rejected, secret } from "../../../tests/given.ts";
import type { JsonObject } from "../../data/json.ts";
import { warningsOf } from "../derive.ts";

const on = (serverVersion: string, spec: JsonObject) => ({ distribution: { name: "starter", serverVersion }, ...spec });
const MODEL = { resources: { models: [{ name: "m", provider: "groq" }] } };
const failures = (spec: JsonObject) => rejected(spec).failures.map(({ message }) => message);

const SAID =
  'spec.resources.models[0].provider: provider "groq" has no API key, and the server does not start when it ' +
  "registers a model of it; set apiKey of that provider in spec.providers.inference, or choose another provider";

for (const version of ["0.3.5", "0.4.7", "0.5.2"]) {
  Deno.test(`${version} registers models of a provider with an API key only`, () => {
    deepStrictEqual(failures(on(version, MODEL)), [SAID]);
    deepStrictEqual(failures(on(version, { providers: { inference: [{ provider: "groq" }] }, ...MODEL })), [SAID]);
    config(on(version, { providers: { inference: [{ provider: "groq", apiKey: secret("s", "k") }] }, ...MODEL }));
    config(on(version, { workload: { overrides: { env: [{ name: "GROQ_API_KEY", value: "k" }] } }, ...MODEL }));
    config(on(version, {
      providers: { inference: [{ provider: "vllm", endpoint: "http://v:8000/v1" }] },
      resources: { models: [{ name: "m" }] },
    }));
  });
}

Deno.test("models of NVIDIA need a key unless the service is one's own", () => {
  const of = (provider: JsonObject, version = "0.5.2") =>
    on(version, {
      providers: { inference: [{ provider: "nvidia", id: "n", ...provider }] },
      resources: { models: [{ name: "m", provider: "n" }] },
    });
  for (const version of ["0.3.5", "0.4.7", "0.5.2"]) {
    const said = version === "0.3.5"
      ? "spec.providers.inference[0].settings.api_key: required with integrate.api.nvidia.com; set apiKey, or the address of a NIM of your own"
      : SAID.replace("groq", "n");
    deepStrictEqual(failures(of({}, version)), [said]);
    config(of({ endpoint: "http://nim:8000" }, version));
    config(of({ apiKey: secret("s", "k") }, version));
  }
  const url = (value: string) => ({
    ...of({}),
    workload: { overrides: { env: [{ name: "NVIDIA_BASE_URL", value }] } },
  });
  config(url("http://nim:8000"));
  deepStrictEqual(failures(url("https://integrate.api.nvidia.com")), [SAID.replace("groq", "n")]);
  deepStrictEqual(failures(of({ endpoint: "https://integrate.api.nvidia.com" })), [SAID.replace("groq", "n")]);
});

Deno.test("a model without a provider is judged by the one that it goes to, also beside another model of its name", () => {
  const models = [{ name: "m", provider: "bedrock" }, { name: "m" }];
  deepStrictEqual(failures(on("0.4.7", { resources: { models } })), [
    SAID.replace("models[0]", "models[1]").replace("groq", "fireworks"),
  ]);
});

Deno.test("0.3 registers those models of Bedrock alone that it lists", () => {
  const of = (providerModelId: string) => ({
    resources: { models: [{ name: "m", provider: "bedrock", providerModelId }] },
  });
  deepStrictEqual(failures(on("0.3.5", of("amazon.nova-pro-v1:0"))), [
    "spec.resources.models[0].provider: this server knows only some models of Bedrock: use " +
    "meta.llama3-1-8b-instruct-v1:0, meta.llama3-1-70b-instruct-v1:0, meta.llama3-1-405b-instruct-v1:0 as providerModelId",
  ]);
  config(on("0.3.5", of("meta.llama3-1-8b-instruct-v1:0")));
});

Deno.test("0.2 is said to start with those models alone that it knows, as far as it cannot ask", () => {
  const codes = (provider: string, more: JsonObject = {}) =>
    warningsOf(generated(on("0.2", { resources: { models: [{ name: "m", provider }] }, ...more })))
      .filter(({ path }) => path.at(-1) === "provider").map(({ code }) => code);
  deepStrictEqual(codes("groq"), ["CredentialsMissing"]);
  deepStrictEqual(codes("bedrock"), ["ConfigUnfit"]);
  const together = { providers: { inference: [{ provider: "together", apiKey: secret("s", "k") }] } };
  deepStrictEqual(codes("together", together), ["ConfigUnfit"]);
  deepStrictEqual(codes("groq", { providers: { inference: [{ provider: "groq", apiKey: secret("s", "k") }] } }), []);
});

Deno.test("servers from 0.6 on register models without a key", () => {
  config(on("0.6.1", { providers: { inference: [{ provider: "groq" }] }, ...MODEL }));
});
