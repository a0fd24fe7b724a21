import { deepStrictEqual } from "node:assert/strict";
import { config, generated, rejected } from "../../../tests/given.ts";
import { formatPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";
import { warningsOf } from "../derive.ts";
import { serverOf } from "../servers/families/families.ts";
import { registrationFindings } from "./registration_findings.ts";

const on = (serverVersion: string, model: JsonObject, settings: JsonObject = {}) => ({
  distribution: { name: "starter", serverVersion },
  providers: { inference: [{ provider: "inline::meta-reference", id: "meta", settings }] },
  resources: { models: [{ provider: "meta", ...model }] },
});
const NAME = "Llama3.2-3B-Instruct";
const NAMED = { name: NAME, metadata: { llama_model: NAME } };
const failures = (spec: JsonObject) => rejected(spec).failures.map(({ message }) => message);

const SAID = (name: string) =>
  "spec.resources.models[0]: inline::meta-reference serves only models of Meta that the server knows by name, and with " +
  `"${name}" the server does not start; write the name of one as providerModelId and as metadata.llama_model, e.g. ${NAME}`;

for (const version of ["0.2", "0.3.5", "0.4.7"]) {
  Deno.test(`${version} starts with those models of inline::meta-reference alone that it knows`, () => {
    deepStrictEqual(failures(on(version, { name: "m" })), [SAID("m")]);
    deepStrictEqual(failures(on(version, { name: NAME })), [SAID(NAME)]);
    deepStrictEqual(failures(on(version, { name: "m", metadata: { llama_model: NAME } })), [SAID("m")]);
    // Of a repository, the server finds the model, and then compares another name.
    deepStrictEqual(
      failures(on(version, { name: NAME, metadata: { llama_model: "meta-llama/Llama-3.2-3B-Instruct" } })),
      [SAID(NAME)],
    );
    config(on(version, NAMED));
    config(on(version, { ...NAMED, name: "m", providerModelId: NAME }));
  });
}

Deno.test("the setting model of inline::meta-reference is one that the server knows", () => {
  const said =
    "spec.providers.inference[0].settings.model: not a model of Meta that the server knows by name; write e.g. " +
    `${NAME}, or remove it`;
  for (const model of ["m", "Llama-2-7b", "Llama-Guard-4-12B", "Llama-Guard-3-1B:int4", null, "${env.NOT_SET:=}"]) {
    deepStrictEqual(failures(on("0.4.7", NAMED, { model })), [said], String(model));
  }
  for (const model of [NAME, "meta-llama/Llama-3.2-3B-Instruct", "meta-llama/Llama-3.1-405B-FP8", "Llama-Guard-3-1B"]) {
    config(on("0.4.7", NAMED, { model }));
  }
});

Deno.test("the model of meta-reference-gpu is named by its variable", () => {
  const of = (value: string) => ({
    distribution: { name: "meta-reference-gpu" },
    storage: { kv: {}, sql: {} },
    workload: { overrides: { env: [{ name: "INFERENCE_MODEL", value }] } },
  });
  config(of(NAME));
  deepStrictEqual(rejected(of("m")).failures.map(({ path }) => formatPath(path)), [
    "spec.workload.overrides.env[0].value",
    "spec.workload.overrides.env[0]",
  ]);
  // A repository is a model for the setting of the provider, and none for what is registered.
  deepStrictEqual(rejected(of("meta-llama/Llama-3.2-3B-Instruct")).failures.map(({ path }) => formatPath(path)), [
    "spec.workload.overrides.env[0].value",
  ]);
});

Deno.test("models of inline::meta-reference in a config of the author's are judged, too", () => {
  const of = (model: JsonObject, version = "0.4.7") => {
    const server = serverOf(version);
    if (server === undefined) throw new Error(version);
    const models = [{ provider_id: "meta", ...model }];
    const found = registrationFindings(
      {
        apis: ["inference"],
        providers: { inference: [{ provider_id: "meta", provider_type: "inline::meta-reference" }] },
        ...(version.startsWith("0.2") ? { models } : { registered_resources: { models } }),
      },
      server,
      { environment: () => "Unset", valueOf: () => "" },
    );
    return found.map(({ path, isFatal, code }) => [formatPath(path), isFatal ? "fatal" : code]);
  };
  deepStrictEqual(of({ model_id: "m" }), [["registered_resources.models[0]", "fatal"]]);
  deepStrictEqual(of({ model_id: NAME, metadata: { llama_model: NAME } }), []);
  // Releases of 0.2 differ in the name by which they look.
  deepStrictEqual(of({ model_id: NAME }, "0.2.24"), [["models[0]", "ConfigUnfit"]]);
  deepStrictEqual(of({ model_id: "m" }, "0.2.24"), [["models[0]", "fatal"]]);
  deepStrictEqual(of({ model_id: "m" }, "0.5.4"), []);
});

Deno.test("a model that is known causes no warning", () =>
  deepStrictEqual(
    warningsOf(generated(on("0.4.7", NAMED))).filter(({ code }) => code === "ConfigUnfit"),
    [],
  ));
