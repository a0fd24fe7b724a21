import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import {
  config,
  decoded,
  envOf,
  failures,
  generated,
  secret,
  smallBase,
  SURROUNDINGS,
  warnings,
} from "../../../tests/given.ts";
import { derive } from "../derive.ts";
import { type JsonObject } from "../../data/json.ts";

const server = (spec: JsonObject, surroundings = smallBase()) =>
  config({ storage: { kv: {} }, ...spec }, surroundings).server;
const ogx = { ...smallBase(), serverVersion: "1.4.1" };

Deno.test("setServer() writes the port into the file and into the environment", () => {
  deepStrictEqual(server({}), { port: 8321 });
  deepStrictEqual(server({ networking: { port: 9000 } }), { port: 9000 });
  deepStrictEqual(envOf({ storage: { kv: {} }, networking: { port: 9000 } }, "LLAMA_STACK_PORT"), {
    name: "LLAMA_STACK_PORT",
    value: "9000",
  });
});

Deno.test("setServer() rejects ports that the server rejects", () => {
  deepStrictEqual(failures({ storage: { kv: {} }, networking: { port: 80 } }), ["RuleBroken at spec.networking.port"]);
});

Deno.test("setServer() names the mounted certificate and key", () => {
  const tls = { enabled: true, secretName: "tls" };
  const files = { tls_certfile: "/etc/llama-stack/tls/tls.crt", tls_keyfile: "/etc/llama-stack/tls/tls.key" };
  deepStrictEqual(server({ networking: { tls } }), { port: 8321, ...files });
  deepStrictEqual(server({ networking: { tls } }, ogx), { port: 8321, ...files });
});

Deno.test("setServer() declares in the config that there is no TLS if the server requires one of the two", () => {
  deepStrictEqual(server({}, ogx), { port: 8321, insecure: true });
});

Deno.test("setServer() writes workers and keeps other keys of the base", () => {
  deepStrictEqual(server({ workload: { workers: 4 } }, smallBase({ server: { port: 1, auth: { x: 1 } } })), {
    auth: { x: 1 },
    port: 8321,
    workers: 4,
  });
});

Deno.test("containerEnv() points the server's HTTP clients to the CA bundle", () => {
  const spec = { storage: { kv: {} }, networking: { tls: { caBundle: { configMapName: "ca" } } } };
  deepStrictEqual(envOf(spec, "SSL_CERT_FILE"), {
    name: "SSL_CERT_FILE",
    value: "/etc/ssl/certs/ca-bundle/ca-bundle.crt",
  });
});

Deno.test("containerEnv() puts every data folder onto the mount, whatever the server's name", () => {
  const folders = (distribution: string, storage: JsonObject) =>
    Object.fromEntries(
      generated({ distribution: { name: distribution }, storage: { kv: {} }, workload: { storage } }).env
        .filter(({ name }) => /DIR$|HF_HOME/.test(name)).map(({ name, value }) => [name, value]),
    );
  deepStrictEqual(folders("ogx-starter", {}), {
    FILES_STORAGE_DIR: "/.llama/distributions/starter/files",
    HF_HOME: "/.llama",
    LLAMA_STACK_CONFIG_DIR: "/.llama",
    OGX_CONFIG_DIR: "/.llama",
    SQLITE_STORE_DIR: "/.llama/distributions/starter",
  });
  deepStrictEqual(folders("starter", { mountPath: "/data/" }).SQLITE_STORE_DIR, "/data/distributions/starter");
});

Deno.test("containerEnv() sets the variables that keep keys out of the log, for a user-provided config on an unknown image", () => {
  const unknown = (more: JsonObject) => {
    const resource = decoded({ distribution: { image: "registry.example/own:1" }, ...more });
    const derived = Result.getOrThrow(derive(resource, SURROUNDINGS));
    return derived.env.find(({ name }) => name === "TELEMETRY_SINKS")?.value;
  };
  strictEqual(unknown({ overrideConfig: { configMapName: "own" } }), "sqlite");
  strictEqual(unknown({}), undefined);
});

Deno.test("containerEnv() gives the variable of the user precedence, once", () => {
  const spec = {
    storage: { kv: {} },
    workload: { overrides: { env: [{ name: "HF_HOME", value: "/models" }, { name: "A", value: "b" }] } },
  };
  deepStrictEqual(generated(spec).env.filter(({ name }) => name === "HF_HOME" || name === "A"), [
    { name: "HF_HOME", value: "/models" },
    { name: "A", value: "b" },
  ]);
});

Deno.test("exportTelemetry() converts telemetry to OTEL_* environment variables and writes no section", () => {
  const telemetry = [{
    provider: "otel",
    endpoint: "http://collector:4318",
    apiKey: secret("otel", "headers"),
    settings: { OTEL_SERVICE_NAME: "my", OTEL_BSP_MAX_QUEUE_SIZE: 10, sinks: ["console"] },
  }];
  const spec = { providers: { telemetry } };
  const env = generated(spec).env.filter(({ name }) => name.startsWith("OTEL_"));
  deepStrictEqual(env, [
    { name: "OTEL_BSP_MAX_QUEUE_SIZE", value: "10" },
    { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" },
    { name: "OTEL_EXPORTER_OTLP_HEADERS", valueFrom: { secretKeyRef: { name: "otel", key: "headers" } } },
    { name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "http/protobuf" },
    { name: "OTEL_SERVICE_NAME", value: "my" },
  ]);
  ok(!("telemetry" in (config(spec).providers as object)));
  deepStrictEqual(warnings(spec), ["TelemetrySetting at spec.providers.telemetry[0].settings.sinks"]);
});

Deno.test("addCautions() warns of sqlite under several pods and of a server open to everybody", () => {
  const spec = { storage: { kv: {} }, workload: { replicas: 2 }, networking: { expose: {} } };
  deepStrictEqual(warnings(spec), ["SharedSqlite at spec.workload.replicas", "Exposed at spec.networking.expose"]);
  deepStrictEqual(warnings({ storage: { kv: {} }, networking: { expose: { enabled: false } } }), []);
});

const TWO = [{ id: "a", provider: "otel", endpoint: "http://a:4318" }, {
  id: "b",
  provider: "otel",
  endpoint: "http://b:4318",
}];
for (
  const [name, telemetry, wanted] of [
    ["a second endpoint", TWO, ["RuleBroken at spec.providers.telemetry[1]"]],
    ["an unknown type", [{ provider: "foo" }], ["UnknownProviderType at spec.providers.telemetry[0].provider"]],
    [
      "an endpoint without a scheme",
      [{ provider: "otel", endpoint: "otel:4318" }],
      ["UnusableEndpoint at spec.providers.telemetry[0].endpoint"],
    ],
  ] as const
) {
  Deno.test(`exportTelemetry() rejects ${name}`, () =>
    deepStrictEqual(failures({ providers: { telemetry } } as never), wanted));
}

Deno.test("setServer() rejects several workers where each would bind the metrics port", () => {
  const spec = (workers: number, value: string) => ({
    distribution: { name: "ogx-starter" },
    workload: { workers, overrides: { env: [{ name: "OGX_METRICS_ENDPOINT_ENABLED", value }] } },
  });
  deepStrictEqual(failures(spec(2, "1")), ["RuleBroken at spec.workload.workers"]);
  deepStrictEqual(failures(spec(2, " TRUE ")), ["RuleBroken at spec.workload.workers"]);
  deepStrictEqual([warnings(spec(1, "1")), warnings(spec(2, "0"))], [[], []]);
  deepStrictEqual(warnings(spec(2, "1"), { serverVersion: "1.1" }), []);
});
