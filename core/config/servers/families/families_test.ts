import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { config, decoded, failures, generated, rejected, SURROUNDINGS, warnings } from "../../../../tests/given.ts";
import { derive } from "../../derive.ts";
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../../data/json.ts";
import { deployment } from "../../../resources/deployment.ts";
import { blueprintOf, NOWHERE } from "../../../resources/of_resource.ts";
import { startScript } from "../../../resources/start_command.ts";
import { CATALOGUES } from "../catalogue.ts";
import { SERVER_FAMILIES, serverOf } from "./families.ts";

const on = (serverVersion: string) => ({ serverVersion });
const key = { secretKeyRef: { name: "s", key: "k" } };
const vllm = { id: "vllm", provider: "vllm", endpoint: "http://vllm:8000", apiKey: key };

for (
  const [version, line] of [
    ["0.2.13", "legacy 0.2"],
    ["0.2.24", "legacy 0.2"],
    ["0.2", "legacy 0.2"],
    ["0.3.5", "0.3 0.3"],
    ["0.4.0", "0.4 0.4"],
    ["0.5.4", "0.4 0.5"],
    ["0.6", "0.4 0.6"],
    ["0.7.3", "0.7 0.7"],
    ["0.8.0", "0.8 0.8"],
    ["1.0.4", "1.0 1.0"],
    ["1.1.3", "1.0 1.1"],
    ["1.2.0", "1.2 1.2"],
    ["1.3.1", "1.2 1.3"],
    ["1.9.0", "1.2 1.5"],
  ] as const
) {
  Deno.test(`serverOf() assigns ${version} to server family and catalogue ${line}`, () => {
    const server = serverOf(version);
    strictEqual(`${server?.family.name} ${server?.catalogue.server}`, line);
  });
}

Deno.test("serverOf() returns no server family before 0.2.13, between the families and beyond them", () => {
  deepStrictEqual(["0.2.12", "0.1.9", "0.9.0", "2.0", "latest", ""].filter((text) => serverOf(text) !== undefined), []);
});

Deno.test("every catalogue belongs to one server family, and every family has at least one", () => {
  const lines = CATALOGUES.map(({ server }) => serverOf(server)?.family.name);
  deepStrictEqual([...new Set(lines)], SERVER_FAMILIES.map(({ name }) => name));
});

for (const { server } of CATALOGUES) {
  Deno.test(`starter accepts a vLLM with its model and storage on ${server}`, () => {
    const spec = {
      providers: { inference: [vllm] },
      resources: { models: [{ name: "m" }] },
      storage: { kv: {}, sql: {} },
    };
    const made = config(spec, on(server));
    const entry = listAt(made, "providers", "inference").find((value) => stringAt(value, "provider_id") === "vllm") ??
      null;
    const field = server === "0.2" || server === "0.3" ? "url" : "base_url";
    strictEqual(stringAt(entry, "config", field), "http://vllm:8000/v1");
    strictEqual(stringAt(entry, "config", "api_token"), "${env.LLSD_VLLM_API_KEY}");
    const registered = listAt(made, ...(server === "0.2" ? [] : ["registered_resources"]), "models");
    ok(registered.some((value) => /^(vllm\/)?m$/.test(stringAt(value, "model_id") ?? "")), JSON.stringify(registered));
  });
}

Deno.test("a name uses its release for the requested server: image and base follow", () => {
  const image = (version: string, name = "starter") =>
    generated({ distribution: { name }, storage: { kv: {} } }, on(version)).distribution.image;
  strictEqual(image("0.5"), "docker.io/ogxai/distribution-starter:0.5.2");
  strictEqual(image("0.6"), "docker.io/ogxai/distribution-starter:0.6.1");
  strictEqual(image("0.6.0"), "docker.io/ogxai/distribution-starter:0.6.0");
  strictEqual(image("0.7"), "docker.io/llamastack/distribution-starter:0.7.1");
  strictEqual(image("0.7.3"), "docker.io/llamastack/distribution-starter:0.7.3");
  strictEqual(image("1.2"), "docker.io/ogxai/distribution-starter:1.2.5");
  strictEqual(image("1.4.1"), "docker.io/ogxai/distribution-starter:1.4.1");
  strictEqual(image("0.8", "ogx-postgres-demo"), "docker.io/ogxai/distribution-postgres-demo:0.8.0");
  const asked = { distribution: { name: "starter", serverVersion: "0.3.5" }, storage: { kv: {} } };
  strictEqual(generated(asked).server.family.name, "0.3");
});

Deno.test("a name without a release for the requested server is rejected with those that it has", () => {
  const spec = { distribution: { name: "remote-vllm" }, storage: { kv: {} } };
  strictEqual(
    rejected(spec, on("1.4")).failures[0]?.message,
    "spec.distribution.serverVersion: unsupported server version 1.4; set spec.distribution.serverVersion to a supported version " +
      "(Llama Stack 0.2.14), or provide a complete config with spec.overrideConfig",
  );
});

for (
  const [spec, version, path, sentence] of [
    [
      { resources: { shields: ["guard"] } },
      "1.0",
      "spec.resources.shields",
      "not supported by OGX 1.0: shields; remove it, or set spec.distribution.serverVersion to 0.8.0, the last server that has it. OGX asks a moderation " +
      'service instead: set moderation_endpoint in the settings of a provider "builtin" in spec.providers.responses',
    ],
    [
      { providers: { safety: [{ provider: "inline::llama-guard" }] } },
      "1.1",
      "spec.providers.safety[0]",
      "not supported by OGX 1.1: safety API; remove it, or set spec.distribution.serverVersion to 0.8.0, the last server that has it. OGX asks a moderation " +
      'service instead: set moderation_endpoint in the settings of a provider "builtin" in spec.providers.responses',
    ],
  ] as const
) {
  Deno.test(`${path} is rejected on ${version} with a suggested fix`, () => {
    const [failure] = rejected(spec as never, on(version)).failures;
    strictEqual(failure?._tag, "NotSupportedByServer");
    ok(failure?.message.includes(path) && failure.message.includes(sentence), failure?.message);
  });
}

Deno.test("an unsupported provider type is rejected with the closest supported ones", () => {
  const spec = { providers: { inference: [{ provider: "llama-cpp-server", endpoint: "http://x:1" }] } };
  deepStrictEqual(failures(spec, on("0.5")), ["UnknownProviderType at spec.providers.inference[0].provider"]);
  ok(generated(spec, on("0.6")));
});

Deno.test("a provider type is renamed for the server family, with a warning", () => {
  const spec = (provider: string) => ({ providers: { toolRuntime: [{ id: "rag", provider }] } });
  const typeOn = (version: string, provider: string) =>
    listAt(config(spec(provider), on(version)), "providers", "tool_runtime")
      .filter((value) => stringAt(value, "provider_id") === "rag").map((value) => stringAt(value, "provider_type"));
  deepStrictEqual(typeOn("0.6", "inline::file-search"), ["inline::rag-runtime"]);
  deepStrictEqual(typeOn("0.7", "inline::rag-runtime"), ["inline::file-search"]);
  deepStrictEqual(warnings(spec("inline::file-search"), on("0.2")), [
    "TypeRenamed at spec.providers.toolRuntime[0].provider",
  ]);
});

Deno.test("tool groups are entries of the file up to 0.6, with the address of an MCP server", () => {
  const mcp = { id: "weather", provider: "model-context-protocol", endpoint: "http://weather:8000/mcp" };
  const spec = { providers: { toolRuntime: [mcp] }, resources: { tools: ["websearch", "rag", "mcp::weather"] } };
  for (
    const [version, path] of [["0.2", []], ["0.3", ["registered_resources"]], ["0.6", [
      "registered_resources",
    ]]] as const
  ) {
    const made = config(spec, on(version));
    const groups = listAt(made, ...path, "tool_groups");
    const group = (id: string) => objectAt(groups.find((value) => stringAt(value, "toolgroup_id") === id));
    strictEqual(group("builtin::websearch").provider_id, "tavily-search", version);
    strictEqual(group("builtin::rag").provider_id, "rag-runtime", version);
    deepStrictEqual(group("mcp::weather").mcp_endpoint, { uri: mcp.endpoint }, version);
    deepStrictEqual(listAt(made, "connectors"), [], version);
  }
});

Deno.test("a tool group of a provider that is switched off goes with it", () => {
  const made = config({ disabled: ["files"] }, on("0.6"));
  const groups = listAt(made, "registered_resources", "tool_groups").map((value) => stringAt(value, "toolgroup_id"));
  deepStrictEqual(groups, ["builtin::websearch"]);
});

Deno.test("spec.disabled treats agents and responses as one API on every server", () => {
  for (
    const [version, api] of [["0.2", "agents"], ["0.6", "agents"], ["0.7", "responses"], ["1.0", "responses"]] as const
  ) {
    for (const name of ["agents", "responses"]) {
      const made = config({ disabled: [name] }, on(version));
      ok(!listAt(made, "apis").includes(api) && at(made, "providers", api) === undefined, `${version} ${name}`);
    }
  }
});

Deno.test("telemetry is a provider of the file up to 0.2 and environment later", () => {
  const spec = {
    providers: {
      telemetry: [{ id: "meta-reference", provider: "inline::meta-reference", settings: { sinks: ["console"] } }],
    },
  };
  deepStrictEqual(
    at(config(spec, on("0.2")), "providers", "telemetry") as Json,
    [{ provider_id: "meta-reference", provider_type: "inline::meta-reference", config: { sinks: ["console"] } }],
  );
  const otel = { providers: { telemetry: [{ provider: "otel", endpoint: "http://otel:4318" }] } };
  for (const version of ["0.3", "0.4", "0.8", "1.0"]) {
    const { env, config: { tree } } = generated(otel, on(version));
    ok(env.some(({ name }) => name === "OTEL_EXPORTER_OTLP_ENDPOINT"), version);
    strictEqual(at(tree, "providers", "telemetry"), undefined, version);
  }
});

const POSTGRES = { kv: { type: "postgres" }, sql: { type: "postgres", connectionString: key } };

Deno.test("up to 0.2 every store is declared in place: each consumer has its own namespace on a shared backend", () => {
  const redis = { kv: { type: "redis", endpoint: "redis:6379", password: key }, sql: {} };
  const made = config({ storage: redis }, on("0.2"));
  const shared = { type: "redis", host: "${env.LLSD_KV_USERINFO:=}redis", port: 6379 };
  deepStrictEqual(made.metadata_store, { ...shared, namespace: "metadata_store" });
  const faiss = listAt(made, "providers", "vector_io").find((value) => stringAt(value, "provider_id") === "faiss") ??
    null;
  deepStrictEqual(at(faiss, "config", "kvstore"), { ...shared, namespace: "vector_io::faiss" });
  strictEqual(stringAt(made, "inference_store", "type"), "sqlite");
  strictEqual(made.storage, undefined);
});

Deno.test("up to 0.2 both stores go to PostgreSQL wherever the file names one, without a password in it", () => {
  const made = config({ storage: POSTGRES }, on("0.2"));
  strictEqual(/"type":"sqlite"/.test(JSON.stringify(made)), false);
  strictEqual(stringAt(made, "inference_store", "password"), "");
  strictEqual(objectAt(made, "metadata_store").password, undefined);
});

Deno.test("up to 0.2 a sqlite store keeps a file of its own", () => {
  const files = (made: JsonObject) =>
    [...JSON.stringify(made).matchAll(/"db_path":"([^"]*)"/g)].map(([, file]) => file);
  const found = files(config({ storage: { kv: {}, sql: {} } }, on("0.2")));
  ok(found.length > 5 && new Set(found).size === found.length, found.join(" "));
});

Deno.test("several replicas on sqlite cause a warning in every server family", () => {
  const spec = { storage: { kv: {} }, workload: { replicas: 2 } };
  for (const { server } of CATALOGUES) {
    ok(warnings(spec, on(server)).includes("SharedSqlite at spec.workload.replicas"), server);
  }
});

const scriptOn = (version: string, spec: JsonObject = {}): string => {
  const resource = decoded({ storage: { kv: {} }, ...spec });
  const derived = derive(resource, { ...SURROUNDINGS, ...on(version) });
  if (derived._tag === "Failure") throw new Error(version);
  return startScript(blueprintOf(resource, derived.success, NOWHERE));
};

Deno.test("the container of each server family starts its own server with its own names", () => {
  for (const { server } of CATALOGUES) {
    const { process } = serverOf(server)?.family ?? SERVER_FAMILIES[0] ?? { process: undefined };
    const started = process?.start.kind === "factory"
      ? `set -- python3 -m uvicorn --factory ${process.start.factory} --host '' --port 8321 --workers 1 --lifespan on`
      : "set -- python3 -m llama_stack.cli.llama stack run /etc/llama-stack/config.yaml --port 8321";
    ok(scriptOn(server).split("\n").includes(started), `${server}: ${scriptOn(server)}`);
  }
});

Deno.test("the pod of each server family has the variables that its server reads", () => {
  for (
    const [version, prefix] of [["0.2", "LLAMA_STACK"], ["0.6", "LLAMA_STACK"], ["0.8", "OGX"], ["1.0", "OGX"]] as const
  ) {
    const resource = decoded({ storage: { kv: {} } });
    const derived = generated({ storage: { kv: {} } }, on(version));
    const pod = at(deployment(blueprintOf(resource, derived, NOWHERE)), "spec", "template", "spec") ?? null;
    const [container] = listAt(pod, "containers");
    const names = listAt(container, "env").map((value) => stringAt(value, "name"));
    ok(names.includes(`${prefix}_PORT`) && names.includes(`${prefix}_CONFIG`), `${version}: ${names}`);
    strictEqual(at(container, "startupProbe", "httpGet", "path"), "/v1/health");
  }
});

Deno.test("up to 0.2 TLS comes from the file, and more than one process is warned of", () => {
  const tls = { networking: { tls: { enabled: true, secretName: "tls" } } };
  const made = config({ storage: { kv: {} }, ...tls }, on("0.2"));
  strictEqual(stringAt(made, "server", "tls_certfile"), "/etc/llama-stack/tls/tls.crt");
  strictEqual(scriptOn("0.2", tls).includes("--ssl"), false);
  const workers = { storage: { kv: {} }, workload: { workers: 2 } };
  deepStrictEqual(warnings(workers, on("0.2")), ["FieldNotRead at spec.workload.workers"]);
  deepStrictEqual(warnings(workers, on("0.3")), []);
});

Deno.test("insecure is written from 1.2 on and not before", () => {
  const insecure = (version: string) => objectAt(config({ storage: { kv: {} } }, on(version)), "server").insecure;
  deepStrictEqual(["0.8", "1.0", "1.1", "1.2", "1.3"].map(insecure), [undefined, undefined, undefined, true, true]);
});

Deno.test("Redis causes a warning if the server loses its connections after the start", () => {
  const spec = { storage: { kv: { type: "redis", endpoint: "redis:6379" } } };
  const defect = (version: string) => warnings(spec, on(version)).includes("ServerDefect at spec.storage.kv.type");
  deepStrictEqual(["0.7", "0.8", "1.0", "1.1", "1.2", "1.5"].map(defect), [true, true, true, true, false, false]);
});

Deno.test("if no log level hides the Redis password, a warning is given and no level is set", () => {
  const spec = { storage: { kv: { type: "redis", endpoint: "redis:6379", password: key } } };
  for (
    const [version, quiet] of [["0.2", false], ["0.3", false], ["0.4", true], ["0.8", true], ["1.0", true]] as const
  ) {
    const { env, config: { warnings: found } } = generated(spec, on(version));
    const said = found.find(({ code }) => code === "ServerLogsHost")?.message ?? "";
    strictEqual(said.includes("this cannot be prevented on this server"), !quiet, version);
    strictEqual(env.some(({ name }) => name.endsWith("_LOGGING")), quiet, version);
  }
});

Deno.test("traces of the oldest servers, which contain provider keys, are not printed unless the user enables it", () => {
  const sinks = (spec: JsonObject) =>
    generated({ storage: { kv: {} }, ...spec }, on("0.2")).env.find(({ name }) => name === "TELEMETRY_SINKS")?.value;
  strictEqual(sinks({}), "sqlite");
  strictEqual(sinks({ workload: { overrides: { env: [{ name: "TELEMETRY_SINKS", value: "console" }] } } }), "console");
  ok(!generated({ storage: { kv: {} } }, on("0.3")).env.some(({ name }) => name === "TELEMETRY_SINKS"));
});

Deno.test("an endpoint that a type does not read causes a warning", () => {
  const spec = { providers: { inference: [{ provider: "together", endpoint: "http://x:1/v1", apiKey: key }] } };
  deepStrictEqual(warnings(spec, on("0.3")), ["FieldNotRead at spec.providers.inference[0].endpoint"]);
  deepStrictEqual(warnings(spec, on("0.4")), []);
});
