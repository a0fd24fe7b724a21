/** Resources and base configs for tests, and the functions that process them, as pure values. */
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../core/config/default_surroundings.ts";
import { decodeResource, type Resource } from "../core/api/decode.ts";
import { API_VERSION, KIND } from "../core/api/v1alpha2.ts";
import type { Rejection } from "../core/failure/rejection.ts";
import type { DerivationFailure } from "../core/config/derive.ts";
import { derive, Derived, type Surroundings } from "../core/config/derive.ts";
import { formatPath } from "../core/data/field_path.ts";
import type { Json, JsonObject } from "../core/data/json.ts";
import { readYaml11 } from "../core/data/yaml.ts";

/** What the operator knows when nothing is overridden, with a mirror of the images that nobody publishes any more. */
export const SURROUNDINGS: Surroundings = {
  ...DEFAULT_SURROUNDINGS,
  registries: {
    ...DEFAULT_SURROUNDINGS.registries,
    mirrors: new Map([["docker.io/llamastack", ["mirror.example.com/llamastack"]]]),
  },
};

/** A resource called `my` with this spec; without a distribution it runs a server that has every API. */
export const manifest = (spec: JsonObject, name = "my"): JsonObject => ({
  apiVersion: API_VERSION,
  kind: KIND,
  metadata: { name, namespace: "default" },
  spec: { distribution: { name: "starter", serverVersion: "0.7.1" }, ...spec },
});

export const decoded = (spec: JsonObject, name = "my"): Resource => {
  const resource = decodeResource(manifest(spec, name), "strict");
  if (Result.isFailure(resource)) throw new Error(resource.failure.map(({ message }) => message).join("\n"));
  return resource.success;
};

export type GeneratedConfig = Derived & { readonly _tag: "Generated" };

/** The generated config of a spec, or a throw with every failure. */
export const generated = (spec: JsonObject, surroundings: Partial<Surroundings> = {}): GeneratedConfig => {
  const derived = derive(decoded(spec), { ...SURROUNDINGS, ...surroundings });
  if (Result.isFailure(derived)) throw new Error(derived.failure.failures.map(({ message }) => message).join("\n"));
  if (!Derived.$is("Generated")(derived.success)) throw new Error(`not generated: ${derived.success._tag}`);
  return derived.success;
};

/** The config.yaml of a spec, read back from its text. */
export const config = (spec: JsonObject, surroundings: Partial<Surroundings> = {}): JsonObject =>
  Result.getOrThrow(readYaml11(generated(spec, surroundings).config.yaml)) as JsonObject;

/** Why a spec has no config. */
export const rejected = (spec: JsonObject, surroundings: Partial<Surroundings> = {}): Rejection<DerivationFailure> => {
  const derived = derive(decoded(spec), { ...SURROUNDINGS, ...surroundings });
  if (Result.isSuccess(derived)) throw new Error(`expected a failure, got ${derived.success._tag}`);
  return derived.failure;
};

/** Failures as `Tag at path`, the form in which tables of tests state them. */
export const failures = (spec: JsonObject, surroundings: Partial<Surroundings> = {}): ReadonlyArray<string> =>
  rejected(spec, surroundings).failures.map(({ _tag, path }) => `${_tag} at ${formatPath(path)}`);

/** Warnings of a generated config as `Code at path`. */
export const warnings = (spec: JsonObject, surroundings: Partial<Surroundings> = {}): ReadonlyArray<string> =>
  generated(spec, surroundings).config.warnings.map(({ code, path }) => `${code} at ${formatPath(path)}`);

/** The environment variable of a generated config. */
export const envOf = (spec: JsonObject, name: string): Json | undefined =>
  generated(spec).env.find((env) => env.name === name) as unknown as Json | undefined;

/** A base document of the 0.7 line with two inference providers and nothing else; for cases that the real bases hide. */
export const smallBase = (more: JsonObject = {}): Partial<Surroundings> => ({
  base: {
    origin: "test",
    content: JSON.stringify({
      version: 2,
      distro_name: "small",
      apis: ["inference"],
      providers: {
        inference: [
          { provider_id: "${env.OLLAMA_URL:+ollama}", provider_type: "remote::ollama", config: {} },
          { provider_id: "openai", provider_type: "remote::openai", config: {} },
        ],
      },
      storage: {
        backends: {
          kv_default: { type: "kv_sqlite", db_path: "/.llama/kvstore.db" },
          sql_default: { type: "sql_sqlite", db_path: "/.llama/sql_store.db" },
        },
      },
      ...more,
    }),
  },
});

export const secret = (name: string, key: string): JsonObject => ({ secretKeyRef: { name, key } });
