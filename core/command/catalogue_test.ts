import { deepStrictEqual, ok } from "node:assert/strict";
import { catalogueCommand, type CatalogueQuery } from "./catalogue.ts";

const ask = (query: Partial<CatalogueQuery>) =>
  catalogueCommand({ serverVersion: undefined, api: undefined, type: undefined, format: "text", ...query });

Deno.test("catalogueCommand() lists every type of a server, that of starter where none is named", () => {
  const { stdout, code } = ask({});
  ok(stdout.startsWith("OGX 1.4\n") && stdout.includes("inference  remote::vllm\n") && code === 0);
  ok(ask({ serverVersion: "0.7.3" }).stdout.includes("safety  inline::llama-guard"));
});

Deno.test("catalogueCommand() marks a type as unsupported, with the reason, on servers that do not start with it", () => {
  const refused = "  refused: its module cannot be loaded, so the server fails to start; use remote::vllm";
  ok(ask({ serverVersion: "0.6", type: "tgi" }).stdout.includes(`inference  remote::tgi\n${refused}`));
  ok(!ask({ serverVersion: "0.2", type: "tgi" }).stdout.includes("refused"));
});

Deno.test("catalogueCommand() shows what endpoint and apiKey become, and each field with type, default and meaning", () => {
  const { stdout } = ask({ serverVersion: "0.7", type: "vllm" });
  ok(stdout.includes("endpoint → base_url; /v1 is added if the endpoint has no path"), stdout);
  ok(stdout.includes("apiKey → api_token") && stdout.includes("settings.max_tokens: integer; default 4096"), stdout);
  const found = JSON.parse(ask({ api: "inference", type: "remote::vllm", format: "json" }).stdout);
  deepStrictEqual([found.length, found[0].type], [1, "remote::vllm"]);
});

for (
  const [query, words] of [
    [
      { serverVersion: "9.9.9x" },
      'unknown server version "9.9.9x"; known: Llama Stack 0.2 from 0.2.13 on, Llama Stack 0.3',
    ],
    [{ api: "inferense" }, "did you mean inference"],
    [{ type: "vlm" }, "did you mean"],
  ] as const
) {
  Deno.test(`catalogueCommand() rejects ${JSON.stringify(query)} and suggests a fix`, () => {
    const { stderr, stdout, code } = ask(query);
    deepStrictEqual([stdout, code], ["", 1]);
    ok(stderr.includes(words), stderr);
  });
}

Deno.test("catalogueCommand() says where the names are listed if none is similar", () => {
  ok(ask({ type: "foo" }).stderr.includes("`llama-stack-operator catalogue` without --type lists all types"));
  ok(ask({ api: "x" }).stderr.includes("; known: "), ask({ api: "x" }).stderr);
});
