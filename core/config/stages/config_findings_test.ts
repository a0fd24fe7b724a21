import { deepStrictEqual } from "node:assert/strict";
import { formatPath } from "../../data/field_path.ts";
import type { Json, JsonObject } from "../../data/json.ts";
import { serverOf } from "../servers/families/families.ts";
import { configFindings } from "./config_findings.ts";
import type { KnownVariables } from "../known_environment.ts";
import { registrationFindings } from "./registration_findings.ts";

const NOTHING_SET: KnownVariables = { environment: () => "Unset", valueOf: () => "" };
const UNKNOWN: KnownVariables = { environment: () => "Unknown", valueOf: () => undefined };

const found = (config: JsonObject, version = "1.5.0", known = NOTHING_SET): ReadonlyArray<string> => {
  const server = serverOf(version);
  if (server === undefined) throw new Error(version);
  const whole = { version: 2, image_name: "my", providers: {}, ...config };
  return configFindings(whole, server, known).map(({ path }) => formatPath(path));
};
const models = (...items: ReadonlyArray<JsonObject>) => ({ registered_resources: { models: items } });

Deno.test("configFindings() judges every section of a config", () => {
  deepStrictEqual(found({ apis: "inference" }), ["apis"]);
  deepStrictEqual(found({ providers: { inference: [{ provider_id: 1, config: [] }] } }), [
    "providers.inference[0].provider_type",
    "providers.inference[0].provider_id",
    "providers.inference[0].config",
  ]);
  deepStrictEqual(found({ server: { port: "x", workers: [] } }), ["server.port", "server.workers"]);
  deepStrictEqual(found({ connectors: [{ connector_type: "mcp", url: "http://a" }] }), ["connectors[0].connector_id"]);
  const quota = { kvstore: { backend: "b", namespace: "n" }, period: "year" };
  deepStrictEqual(found({ storage: { backends: {} }, server: { quota } }, "0.3.5"), ["server.quota.period"]);
  deepStrictEqual(found({ models: [{ model_id: 1 }] }, "0.2.24"), ["models[0].model_id"]);
});

Deno.test("configFindings() says nothing of what the server converts or does not read", () => {
  for (const version of ["1.0.4", "1.5.0"]) deepStrictEqual(found({ version: "one" }, version), []);
  // The programs of those before read it.
  for (const version of ["0.2.24", "0.8.0"]) deepStrictEqual(found({ version: "one" }, version), ["version"]);
  deepStrictEqual(found({ image_name: 5 }, "0.4.7"), []);
  for (const name of [null, "${env.UNSET:=}"]) deepStrictEqual(found({ image_name: name }, "0.4.7"), ["image_name"]);
  deepStrictEqual(found({ image_name: "${env.UNSET:=}" }), ["distro_name"]);
  deepStrictEqual(found({ routing_table: {}, providers: [] }), []);
  deepStrictEqual(found({ server: { auth: { provider_config: { type: "${env.AUTH:+custom}" } } } }), []);
  deepStrictEqual(found({ server: { auth: { provider_config: { type: "", endpoint: 1 } } } }), []);
});

Deno.test("configFindings() judges the section of the log, which no class has", () => {
  for (const section of ["debug", 1, ["a"]]) deepStrictEqual(found({ logging_config: section }), ["logging_config"]);
  deepStrictEqual(found({ logging_config: { category_levels: "debug" } }), ["logging_config.category_levels"]);
  for (const section of [null, "", [], {}, { category_levels: { core: "debug" } }]) {
    deepStrictEqual(found({ logging_config: section }), []);
  }
});

Deno.test("configFindings() judges a provider of authentication without type where the server refuses it", () => {
  const auth = (provider_config: JsonObject | null, version: string) =>
    found({ server: { auth: { provider_config } }, storage: { backends: {} } }, version);
  deepStrictEqual(auth({ type: "${env.UNSET:=}" }, "0.5.2"), ["server.auth.provider_config.type"]);
  deepStrictEqual(auth(null, "0.4.7"), ["server.auth.provider_config"]);
  deepStrictEqual([...auth(null, "0.5.2"), ...auth({ type: "${env.UNSET:=}" }, "1.5.0")], []);
});

const OIDC = { type: "oauth2_token", audience: "a", jwks: { uri: "http://keys" } };

Deno.test("configFindings() judges what variables are known to become", () => {
  const known: KnownVariables = { environment: () => "Set", valueOf: (name) => ({ A: "5", B: "true", C: "db" })[name] };
  const of = (config: JsonObject) => found(config, "0.2.24", known);
  const account = { type: "postgres", host: "${env.C}", user: "${env.A}", db: "x${env.A}", password: "${env.UNKNOWN}" };
  deepStrictEqual(of({ metadata_store: { ...account, port: "${env.A}" } }), ["metadata_store.user"]);
  deepStrictEqual(of({ inference_store: { ...account, port: "${env.B:=1}", host: "${env.B}" } }), [
    "inference_store.host",
    "inference_store.user",
  ]);
  deepStrictEqual(of({ inference_store: { sql_store_config: account } }), ["inference_store.sql_store_config.user"]);
  deepStrictEqual(of({ inference_store: { type: "sqlite", db_path: "/${env.A}.db" } }), []);
  deepStrictEqual(of({ inference_store: { type: "mysql" } }), ["inference_store.type"]);
  deepStrictEqual(of({ metadata_store: { type: "${env.C}", user: "a" } }), ["metadata_store.type"]);
  const claims = (mapping: JsonObject) => ({
    server: { auth: { provider_config: { ...OIDC, claims_mapping: mapping } } },
  });
  deepStrictEqual(found(claims({ a: "${env.A}", b: "${env.C}", c: "${env.UNKNOWN}" }), "1.5.0", known), [
    "server.auth.provider_config.claims_mapping.a",
  ]);
  const cors = (value: Json) => found({ server: { cors: value } }, "0.7.3", known);
  deepStrictEqual(cors({ allow_origins: ["${env.C}", "${env.A}"] }), ["server.cors.allow_origins[1]"]);
  deepStrictEqual([cors("${env.B}"), cors("${env.C}"), cors("${env.a:=true}")], [[], ["server.cors"], ["server.cors"]]);
  // A form that no server expands.
  deepStrictEqual(of({ metadata_store: { ...account, user: "${env.a}${env.A}" } }), []);
  deepStrictEqual(of({ models: [{ model_id: "${env.A}", metadata: {} }] }), ["models[0].model_id"]);
});

Deno.test("registrationFindings() finds tool groups whose MCP server has no address", () => {
  const server = serverOf("0.6.1");
  if (server === undefined) throw new Error("no server 0.6.1");
  const of = (group: JsonObject) =>
    registrationFindings(
      {
        apis: ["tool_runtime"],
        providers: { tool_runtime: [{ provider_id: "p", provider_type: "remote::model-context-protocol" }] },
        registered_resources: { tool_groups: [{ toolgroup_id: "g", provider_id: "p", ...group }] },
      },
      server,
      NOTHING_SET,
    ).map(({ path }) => formatPath(path));
  deepStrictEqual(of({}), ["registered_resources.tool_groups[0].mcp_endpoint"]);
  deepStrictEqual(of({ mcp_endpoint: { uri: "http://mcp:8000/sse" } }), []);
  deepStrictEqual(of({ provider_id: "other" }), []);
});

Deno.test("configFindings() says nothing of items that the server leaves out, or may leave out", () => {
  const broken = { metadata: 1, provider_id: "p" };
  deepStrictEqual(found(models({ model_id: "m", ...broken })), ["registered_resources.models[0].metadata"]);
  for (const id of ["", null, "${env.MODEL:=}", "${env.MODEL:+m}"]) {
    deepStrictEqual(found(models({ model_id: id, ...broken })), [], String(id));
  }
  deepStrictEqual(found(models({ model_id: "${env.MODEL}", ...broken }), "1.5.0", UNKNOWN), []);
  deepStrictEqual(found(models({ model_id: "${env.MODEL:=m}", ...broken })), [
    "registered_resources.models[0].metadata",
  ]);
  // Llama Stack 0.3 leaves none out.
  const storage = { backends: {} };
  deepStrictEqual(found({ storage, ...models({ model_id: null }) }, "0.3.5"), [
    "registered_resources.models[0].model_id",
  ]);
});

Deno.test("configFindings() knows what validators of the classes demand", () => {
  const vector_stores = (section: string, fields: JsonObject) => found({ vector_stores: { [section]: fields } });
  deepStrictEqual(vector_stores("annotation_prompt_params", { annotation_instruction_template: "" }), [
    "vector_stores.annotation_prompt_params.annotation_instruction_template",
  ]);
  const header = ["vector_stores.file_search_params.header_template"];
  deepStrictEqual(vector_stores("file_search_params", { header_template: "found {num_chunks}" }), header);
  deepStrictEqual(vector_stores("file_search_params", { header_template: "file_search {chunks}" }), header);
  deepStrictEqual(vector_stores("file_search_params", { header_template: "File_Search: {num_chunks}" }), []);
  const cors = (section: JsonObject) => found({ server: { cors: section }, storage: { backends: {} } }, "0.7.3");
  deepStrictEqual(cors({ allow_origins: ["a", "${env.UNSET:=*}"], allow_credentials: true }), [
    "server.cors.allow_credentials",
  ]);
  deepStrictEqual([...cors({ allow_origins: ["*"] }), ...cors({ allow_origins: ["a"], allow_credentials: true })], []);
  const inFile = (db_path: string) => found({ metadata_store: { type: "sqlite", db_path } }, "0.2.24");
  deepStrictEqual(inFile("registry.db"), ["metadata_store.db_path"]);
  deepStrictEqual([...inFile("./registry.db"), ...inFile("${env.FOLDER:=/a}/registry.db")], []);
  const auth = (provider_config: JsonObject) => found({ server: { auth: { provider_config } } });
  deepStrictEqual(auth({ type: "kubernetes", claims_mapping: { username: "", groups: "roles" } }), [
    "server.auth.provider_config.claims_mapping.username",
  ]);
  deepStrictEqual(auth({ type: "upstream_header", principal_header: "x-user", trusted_proxy_cidrs: [] }), [
    "server.auth.provider_config.trusted_proxy_cidrs",
  ]);
});

Deno.test("configFindings() knows which schemes of a URL a validator accepts", () => {
  const at = (api_server_url: string) =>
    found({ server: { auth: { provider_config: { type: "kubernetes", api_server_url } } } });
  deepStrictEqual(at("ftp://api"), ["server.auth.provider_config.api_server_url"]);
  deepStrictEqual(at("https://api:6443"), []);
});

Deno.test("configFindings() knows what the server refuses of tenants and ciphers", () => {
  const tenancy = (section: JsonObject, version?: string) => found({ server: { tenancy: section } }, version);
  const tenant = ["server.tenancy.default_tenant_id"];
  deepStrictEqual(tenancy({ mode: "single" }), tenant);
  deepStrictEqual(tenancy({ mode: "${env.MODE:=single}", default_tenant_id: "${env.UNSET:=}" }), tenant);
  deepStrictEqual(tenancy({ mode: "disabled", default_tenant_id: "a b" }), tenant);
  deepStrictEqual(tenancy({ mode: "single", default_tenant_id: " Team-1_a " }), []);
  deepStrictEqual(tenancy({ mode: "single" }, "1.1.3"), []);
  const files = { tls_certfile: "/c", tls_keyfile: "/k" };
  const ciphers = (list: ReadonlyArray<string>, more: JsonObject = files) =>
    found({ server: { ...more, tls_config: { ciphers: list } } });
  deepStrictEqual(ciphers(["ECDHE-RSA-AES128-GCM-SHA256", "RC4"]), ["server.tls_config.ciphers[1]"]);
  deepStrictEqual(ciphers([]), ["server.tls_config.ciphers"]);
  deepStrictEqual(ciphers(["RC4"], { ...files, insecure: true }), []);
  deepStrictEqual(ciphers(["RC4"], {}), []);
});
