import { deepStrictEqual, ok } from "node:assert/strict";
import { brokenRules } from "./provider_rules.ts";
import { config, failures, secret, warnings } from "../../../tests/given.ts";
import type { JsonObject } from "../../data/json.ts";

const given = (list: string, provider: JsonObject, env: ReadonlyArray<JsonObject> = []) => ({
  distribution: { name: "ogx-starter" },
  providers: { [list]: [{ id: "x", ...provider }] },
  workload: { overrides: { env } },
});
const inference = (provider: string, settings: JsonObject, more: JsonObject = {}) =>
  given("inference", { provider, settings, ...more });
const AT = "spec.providers.inference[0].settings";

Deno.test("brokenRules() requires the compartment of oci, in the settings or the environment", () => {
  deepStrictEqual(failures(inference("oci", {})), [`SettingInvalid at ${AT}.oci_compartment_id`]);
  const env = [{ name: "OCI_COMPARTMENT_OCID", value: "ocid1" }];
  deepStrictEqual(warnings(given("inference", { provider: "oci" }, env)), []);
  deepStrictEqual(failures(inference("oci", { oci_compartment_id: "z", oci_auth_type: "foo" })), [
    `SettingInvalid at ${AT}.oci_auth_type`,
  ]);
});

Deno.test("brokenRules() takes addresses with a service, descriptions and names of tnsnames.ora for Oracle", () => {
  const found = (conn_str: string) =>
    brokenRules("vector_io", "remote::oci", { config: { conn_str }, environment: () => "Unset", version: "1.5" }, [])
      .length;
  const taken = [
    "//db:1521/s",
    "db/s",
    "h1,h2/s",
    "h:1/s:pooled",
    "//[::1]/s",
    "TCPS://h:1522/s?x=/y",
    "a_name",
    "(X=(Y))",
  ];
  for (const text of taken) deepStrictEqual(found(text), 0, text);
  const refused = [
    "/s",
    "//db",
    "tcps://db:1522",
    "db:1521",
    "db:1521?x=1",
    "tcps:db/s",
    "jdbc:oracle:thin:@h:1/s",
    "http://h/s",
  ];
  for (const text of refused) deepStrictEqual(found(text), 1, text);
});

Deno.test("brokenRules() requires the key of Cerebras and NVIDIA on 0.2, in the settings or the environment", () => {
  for (const [provider, variable] of [["cerebras", "CEREBRAS_API_KEY"], ["nvidia", "NVIDIA_API_KEY"]] as const) {
    const on = (serverVersion: string, env: ReadonlyArray<JsonObject> = []) => ({
      ...given("inference", { provider }, env),
      distribution: { name: "starter", serverVersion },
    });
    deepStrictEqual(failures(on("0.2")), [`SettingInvalid at ${AT}.api_key`]);
    ok(JSON.stringify(config(on("0.2", [{ name: variable, value: "x" }]))).includes(`remote::${provider}`));
  }
});

Deno.test("brokenRules() refuses a model of docling from 1.3 on, in settings and in a Secret", () => {
  const docling = (more: JsonObject) => ({
    ...given("fileProcessors", { provider: "docling", ...more }),
    distribution: { name: "starter", serverVersion: "1.3" },
  });
  const at = "SettingInvalid at spec.providers.fileProcessors[0]";
  deepStrictEqual(failures(docling({ settings: { vlm_model: "m" } })), [`${at}.settings.vlm_model`]);
  deepStrictEqual(failures(docling({ secretRefs: { vlm_model: secret("s", "k") } })), [`${at}.secretRefs.vlm_model`]);
});

Deno.test("brokenRules() requires the key of an endpoint of Hugging Face", () => {
  const endpoint = (settings: JsonObject, more: JsonObject = {}) => ({
    ...inference("remote::hf::endpoint", { endpoint_name: "a", ...settings }, more),
    distribution: { name: "starter", serverVersion: "0.2" },
  });
  const at = [`SettingInvalid at ${AT}.api_token`];
  deepStrictEqual(failures(endpoint({})), at);
  deepStrictEqual(failures(endpoint({ api_token: "${env.HF_TOKEN:=}" })), at);
  deepStrictEqual(warnings(endpoint({}, { apiKey: secret("hf", "token") })), []);
});

Deno.test("brokenRules() rejects two ways of authentication of gemini, and one without its project", () => {
  const [apiKey, token] = [secret("s", "key"), secret("s", "token")];
  deepStrictEqual(failures(inference("gemini", { project: "p" }, { apiKey, secretRefs: { access_token: token } })), [
    "SettingInvalid at spec.providers.inference[0].secretRefs.access_token",
  ]);
  deepStrictEqual(failures(inference("gemini", {}, { secretRefs: { access_token: token } })), [
    `SettingInvalid at ${AT}.project`,
  ]);
  deepStrictEqual(failures(inference("gemini", { project: "p" }, { apiKey })), [`SettingInvalid at ${AT}.project`]);
  deepStrictEqual(warnings(inference("gemini", { project: "p" }, { secretRefs: { access_token: token } })), []);
});

Deno.test("brokenRules() compares settings of pgvector and of network", () => {
  const pgvector = (settings: JsonObject) =>
    failures(given("vectorIo", { provider: "pgvector", endpoint: "db:5432", settings }));
  const at = "spec.providers.vectorIo[0].settings";
  deepStrictEqual(pgvector({ pool_min_size: 30 }), [`SettingInvalid at ${at}.pool_min_size`]);
  deepStrictEqual(pgvector({ vector_index: { type: "IVFFlat", lists: 10, probes: 20 } }), [
    `SettingInvalid at ${at}.vector_index.probes`,
  ]);
  deepStrictEqual(pgvector({ vector_index: { type: "IVFFlat", lists: "${env.LISTS:=5}" } }), [
    `SettingInvalid at ${at}.vector_index.probes`,
  ]);
  const network = (value: JsonObject) => failures(inference("openai", { network: value }));
  deepStrictEqual(network({ proxy: { url: "http://p", http: "http://p" } }), [
    `SettingInvalid at ${AT}.network.proxy.url`,
  ]);
  deepStrictEqual(network({ tls: { client_cert: "/.llama/tls.crt" } }), [
    `SettingInvalid at ${AT}.network.tls.client_cert`,
  ]);
});

Deno.test("brokenRules() rejects headers that passthrough does not forward", () => {
  const headers = (forward_headers: JsonObject) =>
    given("inference", { provider: "passthrough", endpoint: "http://p", settings: { forward_headers } });
  for (const wrong of [{ token: "Host" }, { __token: "X-Token" }, { token: "a b" }]) {
    deepStrictEqual(failures(headers(wrong)), [`SettingInvalid at ${AT}.forward_headers`]);
  }
  deepStrictEqual(warnings(headers({ token: "Authorization" })), []);
});

Deno.test("brokenRules() wants the whole URL of a moderation service", () => {
  const of = (moderation_endpoint: string) =>
    failures({
      distribution: { name: "ogx-starter" },
      providers: { responses: [{ provider: "inline::builtin", settings: { moderation_endpoint } }] },
    } as never);
  deepStrictEqual(of("moderation:8000"), [
    "SettingInvalid at spec.providers.responses[0].settings.moderation_endpoint",
  ]);
  deepStrictEqual(
    warnings({
      distribution: { name: "ogx-starter" },
      providers: {
        responses: [{ provider: "inline::builtin", settings: { moderation_endpoint: "http://moderation/v1" } }],
      },
    } as never),
    [],
  );
});

Deno.test("brokenRules() rejects a model for images of pages, with which no server starts from 1.3 on", () => {
  const of = (vlm_model: string, more: JsonObject = {}) => ({
    distribution: { name: "ogx-starter", serverVersion: "1.5.0" },
    providers: { fileProcessors: [{ provider: "inline::docling", settings: { vlm_model } }] },
    ...more,
  } as never);
  const at = "SettingInvalid at spec.providers.fileProcessors[0].settings.vlm_model";
  const env = [{ name: "VLM", value: "granite" }];
  deepStrictEqual(failures(of("granite")), [at]);
  deepStrictEqual(failures(of("${env.VLM:=granite}")), [at]);
  deepStrictEqual(failures(of("${env.VLM:=}", { workload: { overrides: { env } } })), [at]);
  deepStrictEqual(warnings(of("${env.VLM:=}")), []);
});

Deno.test("brokenRules() rejects an IPv6 address of milvus", () => {
  const of = (endpoint: string) => failures(given("vectorIo", { provider: "milvus", endpoint }));
  deepStrictEqual(of("http://[::1]:19530"), ["SettingInvalid at spec.providers.vectorIo[0].endpoint"]);
  config(given("vectorIo", { provider: "milvus", endpoint: "http://milvus:19530" }));
});

Deno.test("brokenRules() wants sinks that the telemetry of Llama Stack 0.2 has, and a folder for its database", () => {
  const of = (settings: JsonObject) => ({
    distribution: { name: "starter", serverVersion: "0.2" },
    providers: { telemetry: [{ provider: "inline::meta-reference", settings }] },
  });
  const at = (field: string) => [`SettingInvalid at spec.providers.telemetry[0].settings.${field}`];
  deepStrictEqual(failures(of({ sinks: "1e3" })), at("sinks"));
  config(of({ sinks: "console, sqlite", sqlite_db_path: "/.llama/a.db" }));
  deepStrictEqual(failures(of({ sqlite_db_path: "a" })), at("sqlite_db_path"));
});

const isBroken = (api: string, type: string, config: JsonObject) =>
  brokenRules(api, type, { config, environment: () => "Unset", version: "1.5.0" }, []).length > 0;

Deno.test("brokenRules() wants brackets around an IPv6 address of Redis and MongoDB", () => {
  for (const host of ["fd00::1", "::1", "[fd00::1", "u:p@fd00::1"]) {
    deepStrictEqual([host, isBroken("storage", "kv_redis", { host })], [host, true]);
    deepStrictEqual([host, isBroken("storage", "kv_mongodb", { host: `mongodb://${host}` })], [host, true]);
  }
  for (const host of ["[fd00::1]", "redis", "u:p@redis", "u:p@[fd00::1]"]) {
    deepStrictEqual([host, isBroken("storage", "kv_redis", { host })], [host, false]);
    deepStrictEqual([host, isBroken("storage", "kv_mongodb", { host: `mongodb://${host}` })], [host, false]);
  }
  deepStrictEqual(isBroken("storage", "kv_redis", { host: "[fd00::1]:6379" }), true);
  deepStrictEqual(isBroken("storage", "kv_mongodb", { host: "[fd00::1]:27017" }), false);
  deepStrictEqual(isBroken("storage", "kv_mongodb", { host: "mongo/d" }), true);
});

Deno.test("brokenRules() wants what the client of milvus takes for the name of a file", () => {
  const of = (db_path: string) => isBroken("vector_io", "inline::milvus", { db_path });
  deepStrictEqual(["/tmp/a b.db", "/tmp/a+b.db", `/tmp/${"a".repeat(34)}.db`, "/tmp/a"].map(of), [
    true,
    true,
    true,
    true,
  ]);
  deepStrictEqual(["/tmp/a b/c-1.db", "a_b.c.db", `/tmp/${"a".repeat(33)}.db`].map(of), [false, false, false]);
});

Deno.test("brokenRules() rejects an empty number of lists or probes of pgvector", () => {
  const of = (index: JsonObject) => isBroken("vector_io", "remote::pgvector", { vector_index: index });
  deepStrictEqual(of({ type: "IVFFlat", probes: null }), true);
  deepStrictEqual(of({ type: "IVFFlat", lists: "${env.X:=}" }), true);
  deepStrictEqual(of({ type: "IVFFlat" }), false);
  deepStrictEqual(of({ type: "HNSW", probes: null }), false);
});

Deno.test("brokenRules() takes memory for a location of Qdrant, and for no URL", () => {
  const of = (config: JsonObject) => isBroken("vector_io", "remote::qdrant", config);
  deepStrictEqual([{ url: ":memory:" }, { location: "q:x" }, { location: "http://q:x" }].map(of), [true, true, true]);
  deepStrictEqual([{ location: ":memory:" }, { url: ":6333" }, { location: "http://q:6333" }].map(of), [
    false,
    false,
    false,
  ]);
});

Deno.test("brokenRules() rejects an account and options in an address of Neo4j", () => {
  const of = (uri: string) => isBroken("vector_io", "remote::neo4j", { uri });
  deepStrictEqual(["bolt://u:p@n", "neo4j://u@n", "bolt://n?x=1"].map(of), [true, true, true]);
  deepStrictEqual(["bolt://n", "neo4j+s://n?policy=x", "bolt://n:7687", "bolt://n?"].map(of), [
    false,
    false,
    false,
    false,
  ]);
});

Deno.test("brokenRules() wants the address of the collector for what is sent to one", () => {
  const of = (config: JsonObject) => isBroken("telemetry", "inline::meta-reference", config);
  deepStrictEqual(of({ sinks: ["otel_trace"] }), true);
  deepStrictEqual(of({ sinks: "console, otel_metric", otel_exporter_otlp_endpoint: null }), true);
  deepStrictEqual(of({ sinks: ["otel_trace"], otel_exporter_otlp_endpoint: "http://o:4318" }), false);
  deepStrictEqual(of({ sinks: "console" }), false);
});

Deno.test("brokenRules() wants a name for the file of a backend", () => {
  for (const type of ["kv_sqlite", "sql_sqlite"]) {
    const of = (db_path: string) =>
      brokenRules("storage", type, { config: { db_path }, environment: () => "Unset", version: "1.5.0" }, []).length;
    deepStrictEqual(["", ":memory:", "/a.db", "${env.FILE}"].map(of), [1, 0, 0, 0]);
  }
});
