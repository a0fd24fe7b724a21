/** Each case was refused by a server when it started. */
import { deepStrictEqual, match } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, SURROUNDINGS } from "../../../tests/given.ts";
import { secretsOf } from "../../../tests/snapshots.ts";
import type { JsonObject } from "../../data/json.ts";
import { derive, warningsOf } from "../derive.ts";

const refused = (spec: JsonObject): ReadonlyArray<string> => {
  const derived = derive(decoded({ distribution: { name: "starter" }, ...spec }), SURROUNDINGS);
  return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
};

const vllm = (more: JsonObject): JsonObject => ({
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", ...more }] },
});
const tei = (tls: JsonObject): JsonObject => ({
  distribution: { name: "starter", serverVersion: "1.5" },
  providers: { inference: [{ provider: "text-embeddings-inference", settings: { network: { tls } } }] },
});
const store = (entry: JsonObject): JsonObject => ({ providers: { vectorIo: [entry] } });
const env = (name: string, value: string): JsonObject => ({ workload: { overrides: { env: [{ name, value }] } } });
const REF = { secretKeyRef: { name: "s", key: "k" } };

const CASES: ReadonlyArray<readonly [name: string, spec: JsonObject, message: RegExp | undefined]> = [
  ["a number for verify", vllm({ settings: { network: { tls: { verify: 10 } } } }), /verify.*true, false or the path/],
  ["null for verify", vllm({ settings: { network: { tls: { verify: null } } } }), /verify.*true, false or the path/],
  ["a list for verify", vllm({ settings: { network: { tls: { verify: [] } } } }), /verify.*true, false or the path/],
  ["true for verify", vllm({ settings: { network: { tls: { verify: true } } } }), undefined],
  ["a map for tls_verify", vllm({ settings: { tls_verify: {} } }), /tls_verify.*true, false or the path/],
  ["a word for timeout", vllm({ settings: { network: { timeout: "x" } } }), /timeout.*a number or a map/],
  ["a number for timeout", vllm({ settings: { network: { timeout: 5 } } }), undefined],
  ["a map for timeout", vllm({ settings: { network: { timeout: { connect: 5 } } } }), undefined],
  ["a Secret for a list", vllm({ secretRefs: { allowed_models: REF } }), /secretRefs\.allowed_models: .* is a list/],
  ["a Secret for a map", vllm({ secretRefs: { network: REF } }), /secretRefs\.network: .* is a map/],
  ["ciphers that are none", tei({ ciphers: ["a"] }), /network\.tls\.ciphers.*none of them is a cipher/],
  [
    "ciphers by the names of IANA",
    tei({ ciphers: ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"] }),
    /ciphers.*none of them/,
  ],
  ["a group of ciphers", tei({ ciphers: ["ECDHE+AESGCM", "!aNULL"] }), undefined],
  [
    "a header that no client can send",
    vllm({ settings: { network: { headers: { "X-Team": "Zürich" } } } }),
    /network\.headers.*no client can send "X-Team"/,
  ],
  [
    "a header that no client can send, from a variable",
    { ...vllm({ settings: { network: { headers: { "X-Team": "${env.T}" } } } }), ...env("T", "Zürich") },
    /env\[0\]\.value: .*network\.headers\.X-Team; expected ASCII/,
  ],
  ["a cipher", tei({ ciphers: ["ECDHE-RSA-AES128-GCM-SHA256"] }), undefined],
  ["no ciphers", tei({ ciphers: [] }), undefined],
  ["qdrant without a scheme", store({ provider: "qdrant", endpoint: "q:6333" }), /begin with http:\/\/ or https:/],
  ["qdrant by gRPC", store({ provider: "qdrant", endpoint: "grpc://q:6334" }), /begin with http:\/\/ or https:/],
  ["qdrant on this host", store({ provider: "qdrant", endpoint: "localhost:6333" }), undefined],
  ["qdrant by a name alone", store({ provider: "qdrant", endpoint: "qdrant" }), undefined],
  [
    "qdrant in two places",
    store({ provider: "qdrant", endpoint: "http://q:6333", settings: { host: "q" } }),
    /host.*cannot be combined with a URL/,
  ],
  [
    "qdrant in two places without a URL",
    store({ provider: "qdrant", settings: { host: "q", location: "q" } }),
    /location.*cannot be combined with a host/,
  ],
  [
    "qdrant by a host that is a URL",
    store({ provider: "qdrant", settings: { host: "http://q:6333" } }),
    /host.*without http.*write the address as url/,
  ],
  ["qdrant by a host", store({ provider: "qdrant", settings: { host: "q" } }), undefined],
  [
    "qdrant in two places, one of which becomes empty",
    store({ provider: "qdrant", endpoint: "http://q:6333", settings: { host: "${env.H:=}", location: "${env.L:=}" } }),
    undefined,
  ],
  [
    "gemini with a project that becomes empty",
    { providers: { inference: [{ provider: "remote::gemini", settings: { project: "${env.P:=}" } }] } },
    undefined,
  ],
  [
    "qdrant below two paths",
    store({ provider: "qdrant", endpoint: "http://q:6333/x", settings: { prefix: "p" } }),
    /a path cannot be combined with prefix/,
  ],
  [
    "qdrant below a prefix and the slash at the end of a URL",
    store({ provider: "qdrant", endpoint: "http://q:6333/", settings: { prefix: "p" } }),
    /a path cannot be combined with prefix/,
  ],
  ...["http://q:6333", "HTTPS://u:w@q", "http://[::1]:6333", "http://q?x", "q.example:6333"].map((endpoint) =>
    [
      `qdrant below a prefix at ${endpoint}`,
      store({ provider: "qdrant", endpoint, settings: { prefix: "p" } }),
      undefined,
    ] as const
  ),
  [
    "the base's embedding model as an LLM",
    { resources: { models: [{ name: "nomic-ai/nomic-embed-text-v1.5", provider: "sentence-transformers" }] } },
    /models\[0\]\.modelType: .*set modelType to embedding/,
  ],
  [
    "the base's embedding model as what it is",
    {
      resources: {
        models: [{
          ...{ name: "nomic-ai/nomic-embed-text-v1.5", provider: "sentence-transformers" },
          ...{ modelType: "embedding", embeddingDimension: 768 },
        }],
      },
    },
    undefined,
  ],
  [
    "the base's embedding model as an LLM under another id, which leaves the embedding model as it is",
    {
      resources: {
        models: [{
          ...{ name: "chat", provider: "sentence-transformers" },
          providerModelId: "nomic-ai/nomic-embed-text-v1.5",
        }],
      },
    },
    undefined,
  ],
  [
    "another model under the id of the base's embedding model",
    {
      resources: {
        models: [{
          ...{ name: "nomic-ai/nomic-embed-text-v1.5", provider: "sentence-transformers" },
          providerModelId: "x/y",
        }],
      },
    },
    /set modelType to embedding and providerModelId to nomic-ai\/nomic-embed-text-v1\.5$/,
  ],
  ["chroma without a port", store({ provider: "remote::chromadb", endpoint: "http://c" }), /must have a port/],
  [
    "chroma in the pod",
    store({ provider: "inline::chromadb", settings: { db_path: "/data" } }),
    /use remote::chromadb/,
  ],
];

Deno.test("what a server refuses when it starts is refused before, with the field", () => {
  for (const [name, spec, message] of CASES) {
    const found = refused(spec);
    deepStrictEqual([name, found.length, ...found.map((text) => message?.test(text))], [
      name,
      ...(message === undefined ? [0] : [1, true]),
    ], found.join("\n"));
  }
});

Deno.test("where servers know models by providerModelId, a name of the base's embedding model for another one is accepted", () => {
  const under = (name: string, providerModelId: string) =>
    refused({
      distribution: { name: "starter", serverVersion: "0.7.1" },
      resources: { models: [{ name, provider: "sentence-transformers", providerModelId }] },
    }).length;
  deepStrictEqual(under("nomic-ai/nomic-embed-text-v1.5", "x/y"), 0);
  deepStrictEqual(under("chat", "nomic-ai/nomic-embed-text-v1.5"), 1);
});

Deno.test("a Secret that does not fit the field that reads it is refused by its key, wherever it is named", () => {
  const values = { k: "١٢٣", number: "7", word: "canary", on: "true", yes: "yes", url: "canary.example" };
  const secrets = secretsOf({ s: values });
  const of = (key: string) => ({ secretKeyRef: { name: "s", key } });
  const messages = (spec: JsonObject) => {
    const derived = derive(decoded({ distribution: { name: "starter" }, ...spec }), { ...SURROUNDINGS, secrets });
    return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
  };
  const AT = "spec.providers.inference[0]";
  const refused: ReadonlyArray<readonly [JsonObject, string]> = [
    [vllm({ apiKey: of("k") }), `${AT}.apiKey: invalid value in Secret key s/k: `],
    [vllm({ apiKey: of("on") }), `${AT}.apiKey: invalid value in Secret key s/on: `],
    [
      vllm({ secretRefs: { max_tokens: of("word") } }),
      `${AT}.secretRefs.max_tokens: invalid value in Secret key s/word: `,
    ],
    [
      { providers: { inference: [{ provider: "vllm", secretRefs: { base_url: of("url") } }] } },
      `${AT}.secretRefs.base_url: invalid value in Secret key s/url: `,
    ],
    [
      { workload: { overrides: { env: [{ name: "OPENAI_API_KEY", valueFrom: of("number") }] } } },
      "spec.workload.overrides.env[0]: invalid value in Secret key s/number: ",
    ],
  ];
  for (const [spec, begin] of refused) {
    const [first = "", ...more] = messages(spec);
    deepStrictEqual([first.slice(0, begin.length), more, /canary|١/.test(first)], [begin, [], false]);
  }
  deepStrictEqual(messages(vllm({ secretRefs: { max_tokens: of("number"), refresh_models: of("on") } })), []);
  // Digits of any script, which become a whole number.
  deepStrictEqual(messages(vllm({ secretRefs: { max_tokens: of("k") } })), []);
  // Whatever the Secret contains, it is said once; and advises nothing that a Secret cannot hold.
  deepStrictEqual(messages(vllm({ secretRefs: { allowed_models: of("word") } })).length, 1);
  deepStrictEqual(
    messages(vllm({ secretRefs: { tls_verify: of("yes") } })).map((text) => text.replace(/.*expected /, "")),
    ["true, false or the path of a file"],
  );
});

Deno.test("an address in a Secret that a client misreads, with which the server starts, is a warning", () => {
  const WEAVIATE = { name: "WEAVIATE_CLUSTER_URL", valueFrom: REF };
  const secrets = secretsOf({ s: { k: "http://canary:8080" } });
  const resource = decoded({
    distribution: { name: "starter" },
    storage: { kv: {} },
    workload: { overrides: { env: [WEAVIATE] } },
  });
  const said = warningsOf(Result.getOrThrow(derive(resource, { ...SURROUNDINGS, secrets })))
    .filter(({ code }) => code === "VariableUnfit").map(({ message }) => message);
  deepStrictEqual([said.length, said.some((message) => message.includes("canary"))], [1, false]);
  match(said.join(), /^provider "weaviate": .*cloud/);
});

Deno.test("a shield whose name becomes a number is refused where a server has shields", () => {
  const shields = {
    distribution: { name: "starter", serverVersion: "0.7.1" },
    resources: { shields: ["${env.X:=5}"] },
  };
  deepStrictEqual(refused(shields).length, 1);
  deepStrictEqual(refused({ ...shields, resources: { shields: ["${env.X:=}"] } }), []);
  deepStrictEqual(
    refused({ distribution: { name: "starter", serverVersion: "0.6.1" }, ...env("SAFETY_MODEL", "123") }),
    [],
  );
});

Deno.test("variables that the base config reads as an account or a port of its database are refused if they do not fit", () => {
  const demo = (name: string, value: string) =>
    refused({ distribution: { name: "postgres-demo" }, providers: {}, ...env(name, value) });
  deepStrictEqual(demo("POSTGRES_PASSWORD", "12345").length, 2);
  deepStrictEqual(demo("POSTGRES_PORT", "x").length, 2);
  deepStrictEqual([...demo("POSTGRES_PORT", "5433"), ...demo("POSTGRES_PASSWORD", "word")], []);
  deepStrictEqual(demo("INFERENCE_MODEL", "007").length > 0, true);
});

Deno.test("a rule over fields that the server does not know yet is none", () => {
  const gemini = (serverVersion: string) =>
    refused({
      distribution: { name: "starter", serverVersion },
      providers: { inference: [{ provider: "remote::gemini", settings: { project: "${env.P:=p}" } }] },
    }).length;
  deepStrictEqual(["0.7.1", "1.5"].map(gemini), [0, 1]);
});
