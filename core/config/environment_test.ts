import { deepStrictEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { generated, secret } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";

const VLLM = { provider: "vllm", endpoint: "http://vllm:8000/v1", apiKey: secret("vllm", "token") };
const namesOf = (env: ReadonlyArray<JsonObject>) =>
  generated({ providers: { inference: [VLLM] }, workload: { overrides: { env } } }).env.map(({ name }) => name);

Deno.test("containerEnv() keeps the order of the author's variables, after those of the operator", () => {
  const env = ["POSTGRES_USER", "POSTGRES_PASSWORD"].map((name) => ({ name, valueFrom: secret("pg", name) }));
  const names = namesOf([
    ...env,
    { name: "DATABASE_URL", value: "postgres://$(POSTGRES_USER):$(POSTGRES_PASSWORD)@pg:5432/db" },
    { name: "ZONE", value: "eu" },
    { name: "OTEL_RESOURCE_ATTRIBUTES", value: "service.name=lls,zone=$(ZONE)" },
  ]);
  deepStrictEqual(names.slice(-5), [
    "POSTGRES_USER",
    "POSTGRES_PASSWORD",
    "DATABASE_URL",
    "ZONE",
    "OTEL_RESOURCE_ATTRIBUTES",
  ]);
  const own = names.slice(0, -5);
  deepStrictEqual(own, own.toSorted());
  ok(own.includes("LLSD_VLLM_API_KEY") && own.includes("SQLITE_STORE_DIR"));
});

Deno.test("containerEnv() moves a variable of the operator that the author sets to the author's place", () => {
  const names = namesOf([
    { name: "B", value: "$(SQLITE_STORE_DIR)/b" },
    { name: "HF_HOME", value: "$(B)/models" },
    { name: "A", value: "$(HF_HOME)" },
  ]);
  deepStrictEqual(names.slice(-3), ["B", "HF_HOME", "A"]);
  deepStrictEqual(names.filter((name) => name === "HF_HOME").length, 1);
});

Deno.test("containerEnv() keeps the database of Milvus on the volume where a variable switches it on", () => {
  deepStrictEqual(namesOf([]).includes("MILVUS_DB_PATH"), false);
  deepStrictEqual(namesOf([{ name: "MILVUS_URL", value: "milvus" }]).includes("MILVUS_DB_PATH"), true);
});

/** As the kubelet expands values: only variables before it are known. */
const expanded = (env: ReadonlyArray<{ readonly name: string; readonly value?: string }>) =>
  env.reduce<Readonly<Record<string, string>>>((known, { name, value = "" }) => ({
    ...known,
    [name]: value.replaceAll(/\$\(([A-Z_0-9]+)\)/g, (text, other) => known[other] ?? text),
  }), {});

Deno.test("every chain of references that the author writes expands in the pod as it is written", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,6}X$/), { minLength: 2, maxLength: 8 }),
      (chain) => {
        const env = chain.map((name, index) => ({ name, value: index === 0 ? "start" : `$(${chain[index - 1]})+` }));
        const made = generated({ providers: { inference: [VLLM] }, workload: { overrides: { env } } }).env;
        const values = expanded(made as ReadonlyArray<{ readonly name: string; readonly value?: string }>);
        deepStrictEqual(values[chain.at(-1) ?? ""], `start${"+".repeat(chain.length - 1)}`);
      },
    ),
    { numRuns: 200 },
  );
});
