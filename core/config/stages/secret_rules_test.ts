import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, secret, SURROUNDINGS } from "../../../tests/given.ts";
import { secretsOf } from "../../../tests/snapshots.ts";
import type { JsonObject } from "../../data/json.ts";
import { formatPath } from "../../data/field_path.ts";
import { derive, warningsOf } from "../derive.ts";

/** Messages of failures with this value in the Secret; none if there are none. */
const said = (spec: JsonObject, value: string): ReadonlyArray<string> => {
  const made = derive(decoded(spec), { ...SURROUNDINGS, secrets: secretsOf({ s: { k: value } }) });
  return Result.isFailure(made) ? made.failure.failures.map(({ _tag, message }) => `${_tag} at ${message}`) : [];
};

const REF = secret("s", "k");
const provider = (list: string, type: string, field: string, more: JsonObject = {}): JsonObject => ({
  distribution: { name: list === "telemetry" ? "starter" : "ogx-starter" },
  providers: { [list]: [{ id: "x", provider: type, secretRefs: { [field]: REF }, ...more }] },
});
const backend = (type: string, field: string, settings: JsonObject): JsonObject => ({
  distribution: { name: "ogx-starter" },
  storage: { backends: [{ name: "own", type, settings, secretRefs: { [field]: REF } }] },
});

const variable = (name: string, providers: JsonObject = {}): JsonObject => ({
  distribution: { name: "ogx-starter" },
  providers,
  workload: { overrides: { env: [{ name, valueFrom: REF }] } },
});

const ROWS: ReadonlyArray<readonly [what: string, spec: JsonObject, unfit: string, fit: string]> = [
  [
    "sinks of telemetry",
    {
      ...provider("telemetry", "inline::meta-reference", "sinks"),
      distribution: { name: "starter", serverVersion: "0.2" },
    },
    "kafka",
    "console,sqlite",
  ],
  [
    "a region",
    provider("files", "remote::s3", "region", { settings: { bucket_name: "b" } }),
    "us east",
    "us-east-1",
  ],
  ["a bucket", provider("files", "remote::s3", "bucket_name", { settings: { region: "r" } }), "my bucket", "bucket"],
  [
    "the address of a bucket",
    provider("files", "remote::s3", "endpoint_url", { settings: { region: "r", bucket_name: "b" } }),
    "http://my_minio:9000",
    "http://minio:9000",
  ],
  [
    "a way of authentication",
    provider("inference", "remote::oci", "oci_auth_type", { settings: { oci_compartment_id: "c" } }),
    "password",
    "config_file",
  ],
  ["a file of Milvus", provider("vectorIo", "inline::milvus", "db_path"), "/data/milvus", "/data/milvus.db"],
  [
    "the name of a database",
    backend("kv_mongodb", "db", { host: "mongo", port: 27017, collection_name: "c" }),
    "a.b",
    "stack",
  ],
  ["the name of a collection", backend("kv_mongodb", "collection_name", { host: "mongo" }), "a$b", "c"],
  ["the port of Redis", backend("kv_redis", "port", { host: "redis" }), "99999", "6380"],
  [
    "a connection without a database",
    backend("sql_postgres", "connection_string", {}),
    "postgresql://user:word@pg",
    "postgresql://user:word@pg/db",
  ],
  [
    "a connection that sets TLS a second time",
    backend("kv_postgres", "connection_string", { ssl_mode: "require" }),
    "postgresql://user:word@pg/db?sslmode=disable",
    "postgresql://user:word@pg/db",
  ],
  [
    "the address of a model server",
    provider("inference", "remote::vllm", "base_url"),
    "http://vllm:99999/v1",
    "http://vllm:8000/v1",
  ],
  [
    "a variable that a provider reads itself",
    variable("AWS_RETRY_MODE", { files: [{ provider: "remote::s3", settings: { bucket_name: "b", region: "r" } }] }),
    "often",
    "standard",
  ],
  ["a variable that the server reads itself", variable("OGX_LOG_WIDTH"), "wide", "120"],
];

Deno.test("a Secret with a file that no volume has, or with a proxy that clients do not take, is a warning without its value", () => {
  const warned = (name: string, value: string) => {
    const made = derive(decoded(variable(name)), { ...SURROUNDINGS, secrets: secretsOf({ s: { k: value } }) });
    return Result.isSuccess(made)
      ? warningsOf(made.success).map(({ code, path, message }) => `${code} at ${formatPath(path)}: ${message}`)
      : [];
  };
  const rows = [
    ["OGX_LOG_FILE", "/nowhere/x.log", "/tmp/x.log", "FileNotMounted"],
    ["HTTPS_PROXY", "http://pro xy:80a", "http://proxy:3128", "VariableUnfit"],
    ["SSL_CERT_FILE", "/nowhere/ca.pem", "/etc/ssl/certs/ca-certificates.crt", "FileNotMounted"],
  ] as const;
  for (const [name, unfit, fit, code] of rows) {
    const [message = "", ...others] = warned(name, unfit);
    deepStrictEqual([others, message.startsWith(`${code} at spec.workload.overrides.env[0]: `)], [[], true], message);
    deepStrictEqual(message.includes(unfit), false);
    deepStrictEqual(warned(name, fit), [], name);
  }
});

Deno.test("a Secret with a token file of AWS that no volume has is a warning without its value", () => {
  const spec = {
    distribution: { name: "ogx-starter" },
    providers: { files: [{ provider: "remote::s3", settings: { bucket_name: "b", region: "r" } }] },
    workload: {
      overrides: {
        env: [{ name: "AWS_WEB_IDENTITY_TOKEN_FILE", valueFrom: REF }, {
          name: "AWS_ROLE_ARN",
          value: "arn:aws:iam::1:role/a",
        }],
      },
    },
  };
  const warned = (value: string) => {
    const made = Result.getOrThrow(derive(decoded(spec), { ...SURROUNDINGS, secrets: secretsOf({ s: { k: value } }) }));
    return warningsOf(made).filter(({ code }) => code === "FileNotMounted")
      .map(({ path, message }) => `${formatPath(path)}: ${message.includes(value)}`);
  };
  deepStrictEqual(warned("/nowhere/token"), ["spec.workload.overrides.env[0]: false"]);
  deepStrictEqual(warned("/etc/ssl/cert.pem"), []);
});

Deno.test("a Secret that switches a variable on or off counts for what the server then reads", () => {
  const spec = (name: string, more: JsonObject, workers = 1): JsonObject => ({
    distribution: { name: "ogx-starter" },
    workload: { workers, overrides: { env: [{ name, valueFrom: REF }, more] } },
  });
  // Logs in JSON have no width.
  const width = spec("OGX_LOG_FORMAT", { name: "OGX_LOG_WIDTH", value: "wide" });
  deepStrictEqual([said(width, "text").length, said(width, "json").length], [1, 0]);
  const port = spec("OGX_METRICS_ENDPOINT_ENABLED", { name: "OGX_METRICS_PORT", value: "x" });
  deepStrictEqual([said(port, "true").length, said(port, "no").length], [1, 0]);
  const workers = spec("OGX_METRICS_ENDPOINT_ENABLED", { name: "A", value: "x" }, 2);
  deepStrictEqual([said(workers, "true").length, said(workers, "no").length], [1, 0]);
  // The pod makes the folder.
  const folder = variable("SQLITE_STORE_DIR");
  deepStrictEqual([said(folder, "").length, said(folder, "/data").length], [1, 0]);
});

for (const [what, spec, unfit, fit] of ROWS) {
  Deno.test(`a Secret with ${what} that the server does not start with is rejected, and its value not printed`, () => {
    const messages = said(spec, unfit);
    deepStrictEqual(messages.map((message) => message.split(" ")[0]), ["SecretValueUnusable"], messages.join("\n"));
    deepStrictEqual(messages.filter((message) => message.includes(unfit)), []);
    deepStrictEqual(said(spec, fit), []);
  });
}
