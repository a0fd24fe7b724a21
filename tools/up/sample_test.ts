import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { parsePostgres } from "../../core/config/connections/postgres_connection.ts";
import { stringAt } from "../../core/data/json.ts";
import { manifest, secret } from "../../tests/given.ts";
import { modelServersOf, modelsOf, readSample, SAMPLE, standIns } from "./sample.ts";

Deno.test("readSample() distinguishes resources from the other objects", () => {
  const text = `kind: Secret\nmetadata: { name: s }\n---\nkind: LlamaStackDistribution\nmetadata: { name: a }\n`;
  const { resources, others } = Result.getOrThrow(readSample("f.yaml", text));
  deepStrictEqual([resources, others].map((all) => all.map((object) => object.kind)), [["LlamaStackDistribution"], [
    "Secret",
  ]]);
});

Deno.test("readSample() reports missing parts in a message", () => {
  const said = (text: string) =>
    Result.match(readSample("f", text), { onSuccess: () => "", onFailure: (name) => name });
  deepStrictEqual(said("kind: Secret\n"), "No LlamaStackDistribution found in f");
  ok(said("a: [\n").startsWith("Cannot read f: "));
});

Deno.test("standIns() creates each Secret once, with every key that is read", async () => {
  const resource = manifest({
    providers: {
      inference: [
        { id: "a", provider: "vllm", endpoint: "http://a", apiKey: secret("keys", "one") },
        { id: "b", provider: "vllm", endpoint: "http://b", apiKey: secret("keys", "two") },
      ],
    },
    storage: { sql: { type: "postgres", connectionString: secret("pg", "url") } },
  });
  const made = await standIns(resource);
  deepStrictEqual(made.map((object) => Object.keys(object.stringData ?? {})), [["one", "two"], ["url"]]);
  const url = stringAt(made[1] ?? null, "stringData", "url") ?? "";
  ok(Result.isSuccess(parsePostgres(url, "pg/url", [])), url);
});

Deno.test("modelServersOf() selects plain HTTP endpoints of Services in the namespace of the resource, and no others", () => {
  const endpoints = [
    "http://vllm:8000",
    "http://tgi",
    "https://secure:8000",
    "http://a.b.example:80",
    "http://10.0.0.1:80",
  ];
  const inference = endpoints.map((endpoint, index) => ({ id: `p${index}`, provider: "vllm", endpoint }));
  const resource = manifest({ providers: { inference }, resources: { models: [{ name: "m" }] } });
  deepStrictEqual(modelServersOf(resource), [["vllm", 8000], ["tgi", 80]]);
  deepStrictEqual(modelsOf(resource), ["m"]);
});

Deno.test("the sample of `task up` requires nothing that its stand-ins do not provide", async () => {
  const text = await Deno.readTextFile(new URL(`../../${SAMPLE}`, import.meta.url));
  const { resources, others } = Result.getOrThrow(readSample(SAMPLE, text));
  deepStrictEqual([resources.length, others.length], [1, 0]);
  deepStrictEqual(
    (await Promise.all(resources.map(standIns))).flat().map((object) => stringAt(object, "metadata", "name")),
    ["vllm"],
  );
  deepStrictEqual(resources.flatMap(modelServersOf), [["vllm", 8000]]);
});
