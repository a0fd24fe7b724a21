import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, SURROUNDINGS } from "../../../tests/given.ts";
import type { JsonObject } from "../../data/json.ts";
import { derive } from "../derive.ts";

const refused = (env: ReadonlyArray<JsonObject>, name = "starter"): ReadonlyArray<string> => {
  const spec = { distribution: { name }, providers: {}, workload: { overrides: { env: [...env] } } };
  const derived = derive(decoded(spec), SURROUNDINGS);
  return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
};

const FROM_SECRET = { secretKeyRef: { name: "s", key: "k" } };

Deno.test("variables that leave a provider of the base config half configured are refused, by literal and by Secret", () => {
  deepStrictEqual(refused([{ name: "GEMINI_AI_PROJECT", value: "p" }]), [
    'spec.workload.overrides.env[0]: provider "gemini" of the base config, field project: requires access_token; ' +
    "remove it if you use an API key",
  ]);
  deepStrictEqual(refused([{ name: "A", value: "b" }, { name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }]), [
    'spec.workload.overrides.env[1]: provider "gemini" of the base config, field project: required with access_token',
  ]);
  deepStrictEqual(
    refused([{ name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }, { name: "GEMINI_AI_PROJECT", value: "p" }]),
    [],
  );
  deepStrictEqual(refused([{ name: "OPENAI_API_KEY", value: "k" }]), []);
  const cerebras = { name: "CEREBRAS_API_KEY", valueFrom: FROM_SECRET };
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "api.cerebras.ai" }]), [
    "spec.workload.overrides.env[1].value: providers of type remote::cerebras read this variable themselves; expected a URL",
  ]);
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "https://api.cerebras.ai" }]), []);
  deepStrictEqual(refused([{ name: "CEREBRAS_BASE_URL", value: "of nobody" }]), []);
  const chroma = { name: "ENABLE_CHROMADB", value: "chromadb" };
  deepStrictEqual(refused([chroma], "postgres-demo"), [
    'spec.workload.overrides.env[0]: provider "chromadb" of the base config, field url: required; set the variable that it ' +
    "reads, too",
  ]);
  deepStrictEqual(refused([chroma, { name: "CHROMADB_URL", value: "http://chroma:8000" }], "postgres-demo"), []);
});
