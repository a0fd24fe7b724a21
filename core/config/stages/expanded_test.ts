import { deepStrictEqual } from "node:assert/strict";
import { rejected, warnings } from "../../../tests/given.ts";
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
    "variables that look like a number",
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
