import { deepStrictEqual } from "node:assert/strict";
import { formatPath } from "../../data/field_path.ts";
import type { Json, JsonObject } from "../../data/json.ts";
import { classMisfits } from "./class_misfits.ts";
import { serverOf } from "./families/families.ts";

const said = (name: string, value: JsonObject, version = "1.5.0"): ReadonlyArray<string> => {
  const { models = {} } = serverOf(version)?.catalogue ?? {};
  const found = models[name];
  if (found === undefined) throw new Error(`${version} has no class ${name}`);
  return classMisfits(found, value, [], { models }).map(({ path, message }) => `${formatPath(path)}: ${message}`);
};
const model = (more: JsonObject) => ({ model_id: "m", provider_id: "p", ...more });
const registered = (kind: string, value: Json) => said("RegisteredResources", { [kind]: value });

Deno.test("classMisfits() says nothing of what the class takes", () => {
  deepStrictEqual(said("ModelInput", model({ model_type: "embedding", metadata: { a: [1] }, of_nobody: 1 })), []);
  deepStrictEqual(said("ModelInput", model({ model_type: null, provider_model_id: null })), []);
  deepStrictEqual(said("ModelInput", model({ model_type: "${env.TYPE:=nonsense}" })), []);
  deepStrictEqual(said("ServerConfig", { port: "8321", workers: true, insecure: "yes" }), []);
  for (const when of ["user is owner", ["user is owner"], null]) {
    deepStrictEqual(said("AccessRule", { permit: { actions: "read" }, when }), []);
  }
});

Deno.test("classMisfits() names the place, the value and what to write", () => {
  deepStrictEqual(said("ModelInput", model({ model_type: "lm" })), [
    'model_type: "lm" is not accepted; write one of embedding, llm, rerank; did you mean llm?',
  ]);
  deepStrictEqual(said("ModelInput", { model_id: 123, metadata: [] }), [
    "model_id: 123 is not accepted; write a string, in quotes",
    "metadata: a list is not accepted here; write a map",
  ]);
  deepStrictEqual(said("ModelInput", {}), ["model_id: missing; write a string"]);
  deepStrictEqual(registered("models", { a: {} }), ["models: a map is not accepted here; write a list"]);
  deepStrictEqual(registered("models", [null, "m", {}]), [
    "models[0]: empty; write a map",
    "models[1]: this value is not accepted; write a map",
    "models[2].model_id: missing; write a string",
  ]);
  deepStrictEqual(said("ServerConfig", { port: "http" }), ['port: "http" is not accepted; write a whole number']);
  deepStrictEqual(said("ServerConfig", { port: 80 }), [
    "port: 80 is not accepted; write a whole number of at least 1024",
  ]);
});

Deno.test("classMisfits() looks into every choice", () => {
  const actions = (value: Json) => said("AccessRule", { permit: { actions: value } });
  deepStrictEqual(actions("write").length, 1);
  deepStrictEqual(actions(["read", "wite"]), [
    'permit.actions[1]: "wite" is not accepted; write one of create, delete, read, update',
  ]);
  deepStrictEqual(said("AuthenticationConfig", { provider_config: { type: "custm" } }), [
    'provider_config.type: "custm" is not accepted; write one of custom, github_token, kubernetes, local_api_key, ' +
    "oauth2_token, upstream_header; did you mean custom?",
  ]);
  deepStrictEqual(said("AuthenticationConfig", { provider_config: { endpoint: "http://a" } }), [
    "provider_config.type: missing; write one of custom, github_token, kubernetes, local_api_key, oauth2_token, " +
    "upstream_header",
  ]);
});

Deno.test("classMisfits() knows the conditions between fields that validators of the class have", () => {
  const rule = { permit: { actions: "read" } };
  deepStrictEqual(said("AccessRule", {}), ["permit: missing; write permit or forbid"]);
  deepStrictEqual(said("AccessRule", { ...rule, forbid: { actions: "read" } }), [
    "forbid: not allowed beside permit; remove one of the two",
  ]);
  deepStrictEqual(said("AccessRule", { ...rule, when: "${env.A:=}", unless: "user is owner" }), []);
  deepStrictEqual(said("RewriteQueryParams", { prompt: "rewrite", max_tokens: 0, temperature: 3 }), [
    'prompt: "rewrite" is not accepted; write a text with {query} in it',
    "max_tokens: 0 is not accepted; write a whole number of at least 1",
    "temperature: 3 is not accepted; write a number of at most 2",
  ]);
});

Deno.test("classMisfits() shows no value that may be a secret", () => {
  const canary = 48151623;
  const found = [
    ...said("LocalApiKeyAuthConfig", { api_keys: [canary] }),
    ...said("OAuth2IntrospectionConfig", { url: "u", client_id: "c", client_secret: canary }, "0.3.5"),
    ...said("AuthenticationConfig", { provider_config: `${canary}` }),
    ...said("OAuth2JWKSConfig", { uri: "u", token: canary }),
  ];
  deepStrictEqual(found.length, 4);
  deepStrictEqual(found.filter((line) => line.includes(String(canary))), []);
});
