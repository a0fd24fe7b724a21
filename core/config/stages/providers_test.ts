import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { config, envOf, failures, generated, rejected, secret, smallBase, warnings } from "../../../tests/given.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";

const inference = (provider: object) => ({ providers: { inference: [provider] } });
const first = (provider: object, surroundings = smallBase()) =>
  listAt(config(inference(provider) as never, surroundings), "providers", "inference").at(-1);

Deno.test("providers() writes vllm as remote::vllm with endpoint, key and settings under the names it reads", () => {
  deepStrictEqual(
    first({
      provider: "vllm",
      endpoint: "http://vllm:8000/v1",
      apiKey: secret("vllm", "token"),
      settings: { refresh_models: true, max_tokens: 4096 },
    }),
    {
      provider_id: "vllm",
      provider_type: "remote::vllm",
      config: {
        api_token: "${env.LLSD_VLLM_API_KEY}",
        base_url: "http://vllm:8000/v1",
        max_tokens: 4096,
        refresh_models: true,
      },
    },
  );
});

for (
  const [wanted, type, api] of [
    ["remote::vllm", "remote::vllm", "inference"],
    ["inline::sentence-transformers", "inline::sentence-transformers", "inference"],
    ["faiss", "inline::faiss", "vectorIo"],
    ["llama-guard", "inline::llama-guard", "safety"],
    ["tavily-search", "remote::tavily-search", "toolRuntime"],
  ] as const
) {
  Deno.test(`fullType() expands ${wanted} of ${api} to ${type}`, () => {
    const provider = { provider: wanted, ...(type === "remote::vllm" ? { endpoint: "http://x/v1" } : {}) };
    const made = config({ providers: { [api]: [provider] } });
    const section =
      { inference: "inference", vectorIo: "vector_io", safety: "safety", toolRuntime: "tool_runtime" }[api];
    const id = type.split("::").at(-1);
    const found = listAt(made, "providers", section).find((entry) => objectAt(entry).provider_id === id);
    strictEqual(objectAt(found).provider_type, type);
  });
}

Deno.test("providers() puts the endpoint where each type reads it", () => {
  const endpointField = (list: string, api: string, provider: object) => {
    const entries = listAt(config({ providers: { [list]: [provider] } } as never), "providers", api);
    return Object.keys(objectAt(entries.find((entry) => objectAt(entry).provider_id === "x"), "config"));
  };
  const at = (list: string, api: string, provider: string, endpoint: string) =>
    endpointField(list, api, { id: "x", provider, endpoint }).filter((key) => key !== "persistence").sort();
  deepStrictEqual(at("inference", "inference", "ollama", "http://ollama:11434/v1"), ["base_url"]);
  deepStrictEqual(at("vectorIo", "vector_io", "qdrant", "http://qdrant:6333"), ["url"]);
  deepStrictEqual(at("vectorIo", "vector_io", "milvus", "http://milvus:19530"), ["token", "uri"]);
  deepStrictEqual(at("vectorIo", "vector_io", "elasticsearch", "http://es:9200"), ["elasticsearch_url"]);
});

Deno.test("providers() parts host and port for pgvector", () => {
  const made = config({
    providers: {
      vectorIo: [{ id: "pg", provider: "pgvector", endpoint: "pg.data.svc:5433", apiKey: secret("pg", "password") }],
    },
  });
  const own = listAt(made, "providers", "vector_io").find((entry) => objectAt(entry).provider_id === "pg");
  deepStrictEqual(objectAt(own, "config"), {
    host: "pg.data.svc",
    password: "${env.LLSD_PG_API_KEY}",
    persistence: { backend: "kv_default", namespace: "vector_io::pg" },
    port: 5433,
  });
});

for (
  const [name, id, field, want] of [
    ["upper-cases", "vllm", "apiKey", "LLSD_VLLM_API_KEY"],
    ["turns every other letter into _", "my-llm.v2", "apiKey", "LLSD_MY_LLM_V2_API_KEY"],
    ["names secretRefs by their field", "aws", "aws_secret_access_key", "LLSD_AWS_AWS_SECRET_ACCESS_KEY"],
  ] as const
) {
  Deno.test(`envName() ${name}`, () => {
    const ref = field === "apiKey" ? { apiKey: secret("s", "k") } : { secretRefs: { [field]: secret("s", "k") } };
    const spec = inference({ id, provider: "openai", ...ref }) as never;
    deepStrictEqual(envOf(spec, want), { name: want, valueFrom: { secretKeyRef: { name: "s", key: "k" } } });
  });
}

Deno.test("envCollisions() names both paths of two references that share a variable", () => {
  const spec = {
    providers: {
      inference: [
        { id: "a-b", provider: "openai", apiKey: secret("s", "one") },
        { id: "a.b", provider: "openai", apiKey: secret("s", "two") },
      ],
    },
  };
  deepStrictEqual(failures(spec), ["EnvNameCollision at spec.providers.inference[1].apiKey"]);
  strictEqual(
    rejected(spec).failures[0]?.message,
    "spec.providers.inference[0].apiKey and spec.providers.inference[1].apiKey: these provider ids map to the same " +
      'environment variable LLSD_A_B_API_KEY: "a-b" and "a.b"; change one of the ids',
  );
});

Deno.test("providers() prefers typed fields over settings and reports it", () => {
  const spec = inference({
    provider: "vllm",
    endpoint: "http://typed/v1",
    settings: { base_url: "http://loses/v1", max_tokens: 1 },
  }) as never;
  deepStrictEqual(
    objectAt(
      first({ provider: "vllm", endpoint: "http://typed/v1", settings: { base_url: "http://loses/v1" } }),
      "config",
    ),
    {
      base_url: "http://typed/v1",
    },
  );
  ok(warnings(spec).includes("SettingOverruled at spec.providers.inference[0].settings.base_url"));
  // It is not in the config, and so not in a ConfigMap.
  const key = inference({
    provider: "vllm",
    endpoint: "http://typed/v1",
    apiKey: secret("s", "k"),
    settings: { api_token: "in-the-clear" },
  }) as never;
  deepStrictEqual(warnings(key), ["SettingOverruled at spec.providers.inference[0].settings.api_token"]);
});

Deno.test("providers() passes settings through and never searches them for secrets", () => {
  const settings = { apiKeyRef: { secretKeyRef: { name: "s", key: "k" } }, list: [1, "${env.X:=y}", { z: null }] };
  const made = generated(inference({ provider: "openai", settings }) as never, smallBase());
  deepStrictEqual(objectAt(first({ provider: "openai", settings }), "config"), settings);
  deepStrictEqual(made.env.filter(({ name }) => name.startsWith("LLSD_")), []);
});

Deno.test("effectiveId() is the last part of the type for a single provider", () => {
  strictEqual(objectAt(first({ provider: "remote::llama-cpp-server" })).provider_id, "llama-cpp-server");
});

Deno.test("providers() lists the supported types if one is unknown", () => {
  const spec = inference({ provider: "vlm", endpoint: "http://x" }) as never;
  deepStrictEqual(failures(spec), ["UnknownProviderType at spec.providers.inference[0].provider"]);
  ok(rejected(spec).failures[0]?.message.includes("did you mean remote::vllm"));
});

Deno.test("providers() names the setting without which a type does not start", () => {
  deepStrictEqual(failures(inference({ provider: "vertexai" }) as never), [
    "MissingSetting at spec.providers.inference[0].settings.project",
  ]);
  deepStrictEqual(failures(inference({ provider: "vllm" }) as never), [
    "MissingSetting at spec.providers.inference[0].endpoint",
  ]);
});

Deno.test("providers() does not replace a required address with null, although the schema accepts null", () => {
  deepStrictEqual(failures({ providers: { vectorIo: [{ id: "c", provider: "remote::chromadb" }] } }), [
    "MissingSetting at spec.providers.vectorIo[0].endpoint",
  ]);
});

Deno.test("providers() warns of settings that the type does not read", () => {
  const spec = inference({ provider: "vllm", endpoint: "http://x/v1", settings: { max_token: 1 } }) as never;
  deepStrictEqual(warnings(spec), ["UnknownSetting at spec.providers.inference[0].settings.max_token"]);
  ok(generated(spec).config.warnings[0]?.message.includes("did you mean max_tokens"));
});

Deno.test("providers() rejects settings for which the server rejects the file", () => {
  const spec = {
    providers: { safety: [{ provider: "remote::passthrough", endpoint: "http://guard:8000", settings: { nope: 1 } }] },
  };
  deepStrictEqual(failures(spec), ["ForbiddenSetting at spec.providers.safety[0].settings.nope"]);
});

Deno.test("providers() warns when a key or endpoint has no reader", () => {
  const spec = {
    providers: {
      inference: [
        { id: "o", provider: "ollama", apiKey: secret("s", "k"), endpoint: "http://ollama:11434/v1" },
        { id: "a", provider: "anthropic", endpoint: "https://api.example.com" },
      ],
    },
  };
  deepStrictEqual(warnings(spec), [
    "FieldNotRead at spec.providers.inference[0].apiKey",
    "FieldNotRead at spec.providers.inference[1].endpoint",
  ]);
});

Deno.test("providers() fills storage references and local paths that a type needs", () => {
  const made = config({
    providers: {
      vectorIo: [{ id: "v", provider: "inline::sqlite-vec" }],
      files: [{ id: "f", provider: "inline::localfs" }],
    },
  });
  const own = (api: string, id: string) =>
    objectAt(listAt(made, "providers", api).find((entry) => objectAt(entry).provider_id === id), "config");
  deepStrictEqual(own("vector_io", "v"), {
    db_path: "${env.SQLITE_STORE_DIR:=/.llama/distributions/starter}/v.db",
    persistence: { backend: "kv_default", namespace: "vector_io::v" },
  });
  deepStrictEqual(own("files", "f"), {
    metadata_store: { backend: "sql_default", table_name: "files_metadata" },
    storage_dir: "/.llama/distributions/starter/files",
  });
});

Deno.test("rejectCollisions() names both ids that become one variable, once", () => {
  const both = (id: string) => ({
    id,
    provider: "vllm",
    endpoint: "http://x/v1",
    apiKey: secret("s", "k"),
    secretRefs: { tls_verify: secret("s", "v") },
  });
  const spec = { providers: { inference: [both("a.b"), both("a-b")] } };
  deepStrictEqual(rejected(spec).failures.map(({ message }) => message), [
    "spec.providers.inference[0].apiKey and spec.providers.inference[1].apiKey: these provider ids map to the same " +
    'environment variable LLSD_A_B_API_KEY: "a.b" and "a-b"; change one of the ids',
  ]);
});

Deno.test("a provider that replaces one of the base config with the same type goes on with its data", () => {
  const entryOf = (serverVersion: string, vectorIo: JsonObject) =>
    listAt(
      config({ distribution: { name: "starter", serverVersion }, providers: { vectorIo: [vectorIo] } }),
      "providers",
      "vector_io",
    ).find((entry) => stringAt(entry, "provider_id") === (vectorIo.id ?? "")) ?? null;
  for (const version of ["0.6.1", "1.4.1"]) {
    const base = listAt(
      config({ distribution: { name: "starter", serverVersion: version }, disabled: ["files"] }),
      "providers",
      "vector_io",
    )
      .find((entry) => stringAt(entry, "provider_id") === "sqlite-vec") ?? null;
    deepStrictEqual(entryOf(version, { id: "sqlite-vec", provider: "inline::sqlite-vec" }), base);
    strictEqual(stringAt(base, "config", "persistence", "namespace"), "vector_io::sqlite_vec");
  }
  // Another type, or a name of its own, gets stores of its own.
  const other = entryOf("1.4.1", { id: "sqlite-vec", provider: "inline::faiss" });
  strictEqual(stringAt(other, "config", "persistence", "namespace"), "vector_io::sqlite-vec");
  const own = entryOf("1.4.1", { id: "mine", provider: "inline::sqlite-vec" });
  strictEqual(stringAt(own, "config", "persistence", "namespace"), "vector_io::mine");
  // What the author sets counts.
  const settings = { persistence: { namespace: "own", backend: "kv_default" } };
  const set = entryOf("1.4.1", { id: "sqlite-vec", provider: "inline::sqlite-vec", settings });
  strictEqual(stringAt(set, "config", "persistence", "namespace"), "own");
});

Deno.test("expandProviders() keeps no store of the base config that the server does not take", () => {
  const persistenceOf = (persistence: JsonObject) => {
    const more = { provider_id: "more", provider_type: "inline::faiss", config: { persistence } };
    const base = smallBase({ providers: { vector_io: [more] } });
    const made = config({ providers: { vectorIo: [{ provider: "inline::faiss", id: "more" }] } }, base);
    return objectAt(listAt(made, "providers", "vector_io")[0] ?? null, "config", "persistence");
  };
  deepStrictEqual(persistenceOf({ backend: "kv_default", namespace: "x" }), { backend: "kv_default", namespace: "x" });
  deepStrictEqual(persistenceOf({ backend: 1.5, namespace: "x" }), {
    backend: "kv_default",
    namespace: "vector_io::more",
  });
});

Deno.test("expandProviders() warns of a variable that the replaced provider of the base reads, and this one does not", () => {
  const said = (provider: JsonObject, name: string, value = "x") =>
    warnings({
      distribution: { name: "starter" },
      providers: { inference: [provider] },
      workload: { overrides: { env: [{ name, valueFrom: secret("s", value) }] } },
    });
  const at = "VariableDropped at spec.providers.inference[0]";
  deepStrictEqual(said({ provider: "openai" }, "OPENAI_API_KEY"), [`${at}.apiKey`]);
  deepStrictEqual(said({ provider: "openai", apiKey: secret("s", "k") }, "OPENAI_API_KEY"), []);
  deepStrictEqual(said({ provider: "openai", id: "other" }, "OPENAI_API_KEY"), []);
  deepStrictEqual(
    said({ provider: "openai", settings: { api_key: "${env.OPENAI_API_KEY}" } }, "OPENAI_API_KEY"),
    [],
  );
  deepStrictEqual(said({ provider: "openai" }, "OTHER"), []);
});

Deno.test("expandProviders() names the field for a key that another type calls otherwise", () => {
  const { warnings: said } = generated({
    providers: {
      inference: [{
        provider: "vllm",
        endpoint: "http://vllm:8000/v1",
        secretRefs: { api_key: secret("s", "k") },
        settings: { server_url: "http://vllm:8000" },
      }],
    },
  }).config;
  deepStrictEqual(said.map(({ code, path }) => `${code} ${path.at(-1)}`).sort(), [
    "UnknownSetting api_key",
    "UnknownSetting server_url",
  ]);
  ok(said.some(({ message }) => message.includes("use apiKey, which this type reads as api_token")));
  ok(said.some(({ message }) => message.includes("use endpoint, which this type reads as base_url")));
});

Deno.test("expandProviders() refuses a second scoring provider of a type, whose functions the server registers once", () => {
  const on = { distribution: { name: "starter", serverVersion: "0.6.1" } };
  const said = (...scoring: ReadonlyArray<JsonObject>) =>
    rejected({ ...on, providers: { scoring } }).failures.map(({ message }) => message);
  const twice = "the server does not start with two providers of the scoring API that have the same type";
  deepStrictEqual(said({ id: "mine", provider: "basic" }), [
    `spec.providers.scoring[0].id: ${twice}, and the base config has one; set id to basic to replace it`,
  ]);
  deepStrictEqual(said({ id: "basic", provider: "basic" }, { id: "mine", provider: "inline::basic" }), [
    `spec.providers.scoring[1].id: ${twice}, and the base config has one; set id to basic to replace it`,
  ]);
  generated({
    ...on,
    providers: { scoring: [{ id: "basic", provider: "basic" }, { id: "braintrust", provider: "braintrust" }] },
  });
  for (const item of ["scoring/basic", "scoring/*"]) {
    const spec = { ...on, disabled: [item], providers: { scoring: [{ id: "mine", provider: "basic" }] } };
    deepStrictEqual(warnings(spec).filter((line) => line.startsWith("ServerDefect")), [
      "ServerDefect at spec.providers.scoring[0].id",
    ]);
  }
});

Deno.test("expandProviders() writes the Responses API under the name that the server has for it", () => {
  const apis = (serverVersion: string) => {
    const provider = serverVersion === "0.6.1" ? "meta-reference" : "builtin";
    const { config: { tree } } = generated({
      distribution: { name: "starter", serverVersion },
      providers: { responses: [{ provider }] },
    });
    return Object.keys(objectAt(tree, "providers")).filter((api) => ["agents", "responses"].includes(api));
  };
  deepStrictEqual([apis("0.6.1"), apis("0.7.1"), apis("1.5.0")], [["agents"], ["responses"], ["responses"]]);
});

Deno.test("expandProviders() warns of credentials in every map of headers", () => {
  const headers = { Authorization: "Bearer sk-1", "X-Trace": "on" };
  const settings = { moderation_endpoint: "https://moderation/v1", moderation_headers: headers };
  const spec = { distribution: { name: "starter" }, providers: { responses: [{ provider: "builtin", settings }] } };
  deepStrictEqual(warnings(spec), [
    "CredentialInSettings at spec.providers.responses[0].settings.moderation_headers.Authorization",
  ]);
});

Deno.test("providers() knows a provider by its API and id: one id in two APIs has two entries and two keys", () => {
  const spec = {
    providers: {
      inference: [{ id: "nvidia", provider: "nvidia", apiKey: secret("a", "k") }],
      safety: [{ id: "nvidia", provider: "nvidia", secretRefs: { guardrails_service_url: secret("b", "k") } }],
      toolRuntime: [{ id: "nvidia", provider: "tavily-search", apiKey: secret("c", "k") }],
    },
  };
  const made = config(spec as never);
  deepStrictEqual(
    ["inference", "safety", "tool_runtime"].map((api) =>
      listAt(made, "providers", api).filter((entry) => stringAt(entry, "provider_id") === "nvidia").length
    ),
    [1, 1, 1],
  );
  strictEqual(stringAt(envOf(spec as never, "LLSD_NVIDIA_API_KEY"), "valueFrom", "secretKeyRef", "name"), "a");
  strictEqual(
    stringAt(envOf(spec as never, "LLSD_TOOL_RUNTIME_NVIDIA_API_KEY"), "valueFrom", "secretKeyRef", "name"),
    "c",
  );
});

Deno.test("providers() keeps the stores of the base config where the only provider of an API has an id of its own", () => {
  const of = (spec: JsonObject, api: string) =>
    listAt(config(spec as never), "providers", api).map((entry) => objectAt(entry, "config", "persistence"));
  const [base] = of({ disabled: ["scoring"] }, "responses");
  ok(base !== undefined && Object.keys(base).length > 0);
  deepStrictEqual(of({ providers: { responses: [{ id: "own", provider: "inline::builtin" }] } }, "responses"), [base]);
});

Deno.test("providers() takes an address that is null for none", () => {
  const vector = (provider: string, settings: object) => ({ providers: { vectorIo: [{ provider, settings }] } });
  deepStrictEqual(
    failures(inference({ provider: "vllm", settings: { base_url: null } }) as never, { serverVersion: "1.4" }),
    [
      "MissingSetting at spec.providers.inference[0].endpoint",
    ],
  );
  deepStrictEqual(failures(vector("chromadb", { url: null }) as never, { serverVersion: "1.4" }), [
    "MissingSetting at spec.providers.vectorIo[0].endpoint",
  ]);
});

Deno.test("providers() says of several addresses that the client takes one", () => {
  const vectorIo = [{ provider: "elasticsearch", endpoint: "http://es:9200,http://es2:9200" }];
  const [failure] = rejected({ providers: { vectorIo } } as never, { serverVersion: "1.4" }).failures;
  match(failure?.message ?? "", /endpoint.*lists several addresses, and this client takes one/);
});

Deno.test("providers() takes an address that a variable leaves empty for none", () => {
  const of = (provider: object) =>
    failures(inference({ provider: "vllm", ...provider }) as never, { serverVersion: "1.4" });
  const missing = ["MissingSetting at spec.providers.inference[0].endpoint"];
  deepStrictEqual(of({ settings: { base_url: "${env.VLLM_URL:=}" } }), missing);
  deepStrictEqual(of({ endpoint: "${env.VLLM_URL:+http://v:1/v1}" }), missing);
  ok(generated(inference({ provider: "vllm", endpoint: "${env.VLLM_URL:=http://v:1/v1}" }) as never));
});

Deno.test("providers() rejects texts with which the clients of S3 and Qdrant are not made", () => {
  const on = (version: string, list: string, provider: object) =>
    failures({ providers: { [list]: [provider] } } as never, { serverVersion: version });
  const s3 = (settings: object) => ({
    provider: "s3",
    settings: { bucket_name: "b", region: "us-east-1", ...settings },
  });
  const place = (field: string) => [`SettingInvalid at spec.providers.files[0].settings.${field}`];
  deepStrictEqual(on("1.4", "files", s3({ region: "" })), place("region"));
  deepStrictEqual(on("1.4", "files", s3({ bucket_name: "arn:aws:s3:::b" })), place("bucket_name"));
  const accessPoint = s3({ bucket_name: "arn:aws:s3:us-east-1:123456789012:accesspoint/b" });
  ok(generated({ providers: { files: [accessPoint] } } as never, { serverVersion: "1.4" }));
  deepStrictEqual(on("1.4", "vectorIo", { provider: "inline::qdrant", settings: { path: "" } }), [
    "SettingInvalid at spec.providers.vectorIo[0].settings.path",
  ]);
});
