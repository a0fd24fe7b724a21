import { deepStrictEqual, match } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, generated, smallBase, SURROUNDINGS } from "../../../tests/given.ts";
import { formatPath } from "../../data/field_path.ts";
import { type Json, type JsonObject, put } from "../../data/json.ts";
import { derive, warningsOf } from "../derive.ts";

const refused = (env: ReadonlyArray<JsonObject>, name = "starter", serverVersion?: string): ReadonlyArray<string> => {
  const distribution = { name, ...(serverVersion === undefined ? {} : { serverVersion }) };
  const spec = { distribution, storage: { kv: {} }, workload: { overrides: { env: [...env] } } };
  const derived = derive(decoded(spec), SURROUNDINGS);
  return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
};

const FROM_SECRET = { secretKeyRef: { name: "s", key: "k" } };

Deno.test("variables that the client of AWS reads itself are refused where a provider makes one", () => {
  const of = (env: ReadonlyArray<JsonObject>, provider: JsonObject, serverVersion = "0.7") => {
    const [api = "", rest = {}] = Object.entries(provider)[0] ?? [];
    const derived = derive(
      decoded({
        distribution: { name: "starter", serverVersion },
        providers: { [api]: [rest as JsonObject] },
        workload: { overrides: { env: [...env] } },
      }),
      SURROUNDINGS,
    );
    return Result.isFailure(derived) ? derived.failure.failures.map(({ path }) => formatPath(path)) : [];
  };
  const at = ["spec.workload.overrides.env[0]"];
  const atValue = ["spec.workload.overrides.env[0].value"];
  const s3 = (settings: JsonObject = {}) => ({
    files: { provider: "remote::s3", settings: { bucket_name: "b", ...settings } },
  });
  const keys = { aws_access_key_id: "${env.A:=a}", aws_secret_access_key: "${env.B:=b}" };
  const safety = { safety: { provider: "bedrock", settings: { region_name: "us-east-1", ...keys } } };
  const token = { name: "AWS_WEB_IDENTITY_TOKEN_FILE", value: "/token" };
  deepStrictEqual(of([token], s3()), at);
  deepStrictEqual(of([token], s3(keys)), []);
  deepStrictEqual(of([token, { name: "AWS_ROLE_ARN", value: "arn:aws:iam::1:role/a" }], s3()), []);
  deepStrictEqual(of([{ name: "AWS_ACCESS_KEY_ID", value: "a" }], s3()), at);
  deepStrictEqual(
    of([{ name: "AWS_ACCESS_KEY_ID", value: "a" }, { name: "AWS_SECRET_ACCESS_KEY", value: "b" }], s3()),
    [],
  );
  deepStrictEqual(of([], safety), ["spec.providers.safety[0].settings.aws_access_key_id"]);
  deepStrictEqual(of([], safety, "0.8"), []);
  const withTtl = (ttl: Json) => ({ safety: put(safety.safety, ["settings", "session_ttl"], ttl) });
  deepStrictEqual(of([], withTtl(null)), []);
  deepStrictEqual(of([], withTtl("${env.NO_TTL:=}")), []);
  deepStrictEqual(of([], withTtl(3600)), ["spec.providers.safety[0].settings.aws_access_key_id"]);
  deepStrictEqual(of([{ name: "AWS_PROFILE", value: "mine" }], s3()), at);
  deepStrictEqual(of([{ name: "AWS_PROFILE", value: "mine" }, { name: "AWS_CONFIG_FILE", value: "/c" }], s3()), []);
  // The client looks for it with keys, too, and one without a name is none.
  deepStrictEqual(of([{ name: "AWS_PROFILE", value: "" }], s3(keys)), at);
  deepStrictEqual(of([{ name: "AWS_DEFAULT_PROFILE", value: "default" }], safety), [
    "spec.providers.safety[0].settings.aws_access_key_id",
    ...at,
  ]);
  const withProfile = (name: Json) => ({ safety: put(safety.safety, ["settings", "profile_name"], name) });
  const atProfile = ["spec.providers.safety[0].settings.profile_name"];
  deepStrictEqual(of([], withProfile("mine"), "0.8"), atProfile);
  deepStrictEqual(of([], withProfile("${env.PROFILE:=mine}"), "0.8"), atProfile);
  deepStrictEqual(of([], withProfile("${env.PROFILE:=}"), "0.8"), []);
  deepStrictEqual(of([], withProfile(null), "0.8"), []);
  deepStrictEqual(of([{ name: "AWS_SHARED_CREDENTIALS_FILE", value: "/c" }], withProfile("mine"), "0.8"), []);
  deepStrictEqual(of([{ name: "AWS_RETRY_MODE", value: "often" }], s3()), atValue);
  deepStrictEqual(of([{ name: "AWS_RETRY_MODE", value: "standard" }], s3()), []);
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "" }], s3()), atValue);
  deepStrictEqual(
    of([{ name: "AWS_MAX_ATTEMPTS", value: "x" }], { inference: { provider: "bedrock" } }, "0.8"),
    atValue,
  );
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "" }], { inference: { provider: "bedrock" } }, "0.8"), []);
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "x" }], { inference: { provider: "bedrock" } }, "0.7"), []);
});

const KEYS = [{ name: "AWS_ACCESS_KEY_ID", value: "a" }, { name: "AWS_SECRET_ACCESS_KEY", value: "b" }];

/** Paths below spec.workload.overrides.env of a server with a bucket. */
const ofBucket = (env: ReadonlyArray<JsonObject>, settings: JsonObject = {}, serverVersion = "1.5") => {
  const derived = derive(
    decoded({
      distribution: { name: "starter", serverVersion },
      providers: { files: [{ provider: "remote::s3", settings: { bucket_name: "b", ...settings } }] },
      workload: { overrides: { env: [...env] } },
    }),
    SURROUNDINGS,
  );
  return Result.isFailure(derived)
    ? derived.failure.failures.map(({ path }) => formatPath(path).replace("spec.workload.overrides.env", ""))
    : [];
};

// Each as botocore 1.41.4, 1.43.6 and 1.44.5 take it.
for (
  const [name, odd, fine] of [
    ["AWS_ENDPOINT_URL", ["minio:9000", "minio", "http://", "http://[", "http://my_minio:9000", "ftp://minio"], [
      ...["", "http://minio:9000", "https://s3.example.com/x", "http://[fd00::1]:9000"],
    ]],
    ["AWS_ENDPOINT_URL_S3", ["minio:9000"], ["http://minio:9000"]],
    ["AWS_RETRY_MODE", ["", "Standard"], ["standard"]],
    ["AWS_DEFAULTS_MODE", ["", "fast"], ["Legacy"]],
    ["AWS_STS_REGIONAL_ENDPOINTS", ["global"], ["", "regional"]],
    ["AWS_REQUEST_CHECKSUM_CALCULATION", ["", "never"], ["When_Required"]],
    ["AWS_METADATA_SERVICE_TIMEOUT", ["", "1.5", "5s"], ["5", "1_0"]],
    ["AWS_METADATA_SERVICE_NUM_ATTEMPTS", ["", "x"], ["3"]],
    ["AWS_EC2_METADATA_SERVICE_ENDPOINT", ["imds"], ["", "http://169.254.169.254/"]],
    ["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", ["", "6"], ["IPv6"]],
    ["AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES", ["", "0", "x", "1048577"], ["1", "10240"]],
    ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", ["v2/credentials"], ["/v2/credentials"]],
    ["AWS_CONTAINER_CREDENTIALS_FULL_URI", ["", "x", "http://credentials/", "http://169.254.170.2.evil/"], [
      ...["http://169.254.170.23/v1/credentials", "https://credentials/", "http://localhost:80/", "http://127.0.0.1"],
    ]],
  ] as ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]>
) {
  Deno.test(`${name} is refused with values with which the client of AWS ends`, () => {
    for (const value of odd) deepStrictEqual(ofBucket([{ name, value }]), ["[0].value"], value);
    for (const value of fine) deepStrictEqual(ofBucket([{ name, value }]), [], value);
  });
}

Deno.test("variables of AWS are not judged where the client does not read them", () => {
  const written = { aws_access_key_id: "${env.A:=a}", aws_secret_access_key: "${env.B:=b}" };
  const timeout = { name: "AWS_METADATA_SERVICE_TIMEOUT", value: "5s" };
  deepStrictEqual(ofBucket([timeout], written), []);
  deepStrictEqual(ofBucket([timeout, ...KEYS]), ["[0].value"]);
  const container = { name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", value: "http://credentials/" };
  deepStrictEqual(ofBucket([container, ...KEYS]), []);
  const address = { name: "AWS_ENDPOINT_URL", value: "minio:9000" };
  deepStrictEqual(ofBucket([address], { endpoint_url: "http://minio:9000" }), []);
  deepStrictEqual(ofBucket([address, { name: "AWS_ENDPOINT_URL_S3", value: "http://minio:9000" }]), []);
  deepStrictEqual(ofBucket([address, { name: "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", value: "true" }]), []);
  const expiry = (value: string) => ({ name: "AWS_CREDENTIAL_EXPIRATION", value });
  deepStrictEqual(ofBucket([expiry("soon")]), []);
  deepStrictEqual(ofBucket([expiry("soon"), ...KEYS]), ["[0].value"]);
  deepStrictEqual(ofBucket([expiry("2030-01-31T12:00:00Z"), ...KEYS]), []);
  deepStrictEqual(refused([address, timeout, { name: "AWS_PROFILE", value: "mine" }]), []);
});

const PROXIES = [
  "http://proxy:3128",
  "proxy:3128",
  "//proxy",
  "socks5://u:p@proxy:1080",
  "http://[fd00::1]:3128/",
  "proxy",
];

for (
  const [name, odd, fine] of [
    ["HTTPS_PROXY", ["ftp://proxy:21", "http://proxy:port", "http://[::1"], ["", ...PROXIES]],
    ["http_proxy", ["ftp://proxy:21"], PROXIES],
    ["ALL_PROXY", ["http://proxy:port"], PROXIES],
    ["NO_PROXY", ["a,host:port", "[::1]"], [
      "*",
      ".svc, .cluster.local",
      "10.0.0.0/8,fd00::/8,::1",
      "host:80",
      "http://host",
    ]],
    ["SSL_CERT_FILE", ["/ca.crt"], ["", "/etc/ssl/certs/ca-certificates.crt"]],
    ["PGSSLROOTCERT", ["/ca.crt"], ["", "/etc/ssl/certs/ca-certificates.crt"]],
    ["OGX_LOG_FILE", ["/logs/server.log"], ["", "server.log", "/tmp/server.log", "/.llama/server.log"]],
  ] as ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]>
) {
  Deno.test(`${name} is a warning with values with which clients in the server, or its log, may end`, () => {
    const of = (value: string) =>
      warningsOf(generated({
        distribution: { name: "starter", serverVersion: "1.5" },
        storage: { kv: {} },
        providers: { vectorIo: [{ provider: "pgvector", settings: { db: "d", user: "u", password: "" } }] },
        workload: { overrides: { env: [{ name, value }] } },
      })).filter(({ code }) => code === "VariableUnfit" || code === "FileNotMounted").length;
    for (const value of odd) deepStrictEqual(of(value), 1, value);
    for (const value of fine) deepStrictEqual(of(value), 0, value);
  });
}

Deno.test("a token that the client of AWS reads from a file which no volume has is a warning", () => {
  const codes = (env: ReadonlyArray<JsonObject>, overrides: JsonObject = {}) =>
    warningsOf(generated({
      distribution: { name: "starter", serverVersion: "1.5" },
      providers: { files: [{ provider: "remote::s3", settings: { bucket_name: "b" } }] },
      workload: { overrides: { env: [...env], ...overrides } },
    })).filter(({ code }) => code === "FileNotMounted").map(({ path }) => formatPath(path));
  const at = ["spec.workload.overrides.env[0].value"];
  const token = { name: "AWS_WEB_IDENTITY_TOKEN_FILE", value: "/aws/token" };
  const role = { name: "AWS_ROLE_ARN", value: "arn:aws:iam::1:role/a" };
  deepStrictEqual(codes([token, role]), at);
  deepStrictEqual(codes([token, role, ...KEYS]), []);
  deepStrictEqual(codes([token, role], { serviceAccountName: "s3" }), []);
  const mounted = {
    volumes: [{ name: "aws", secret: { secretName: "aws" } }],
    volumeMounts: [{ name: "aws", mountPath: "/aws" }],
  };
  deepStrictEqual(codes([token, role], mounted), []);
  const file = { name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", value: "/aws/token" };
  deepStrictEqual(codes([file, { name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", value: "http://localhost/" }]), at);
  deepStrictEqual(codes([file]), []);
});

Deno.test("keys of AWS before 0.8 are refused at every provider of Bedrock's safety, whatever brings it", () => {
  const safety = (config: JsonObject, id = "bedrock") => ({
    providers: { safety: [{ provider_id: id, provider_type: "remote::bedrock", config }] },
  });
  const of = (base: JsonObject, env: ReadonlyArray<JsonObject>, serverVersion = "0.7.1") => {
    const resource = decoded({
      distribution: { name: "starter", serverVersion },
      storage: { kv: {} },
      workload: { overrides: { env: [...env] } },
    });
    const derived = derive(resource, { ...SURROUNDINGS, ...smallBase(base) });
    return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
  };
  const region = { region_name: "us-east-1" };
  const said =
    'spec.workload.overrides.env[0]: provider "bedrock" of the base config, field aws_access_key_id: with both ' +
    "keys of AWS this server does not start unless session_ttl is null; set it to null, or remove the keys here and from the " +
    "variables of the pod, and let its ServiceAccount provide the credentials";
  deepStrictEqual(of(safety(region), KEYS), [said]);
  deepStrictEqual(of(safety(region, "${env.ENABLE_BEDROCK:+bedrock}"), KEYS), []);
  deepStrictEqual(
    of(safety(region, "${env.ENABLE_BEDROCK:+bedrock}"), [...KEYS, { name: "ENABLE_BEDROCK", value: "1" }]),
    [said],
  );
  const read = { ...region, aws_access_key_id: "${env.ID:=}", aws_secret_access_key: "${env.KEY:=}" };
  deepStrictEqual(of(safety(read), [{ name: "ID", value: "a" }, { name: "KEY", value: "b" }]), [said]);
  deepStrictEqual(of(safety(read), [{ name: "ID", value: "a" }]), []);
});

Deno.test("variables of the driver of PostgreSQL are refused where a server has such a database", () => {
  for (
    const [name, odd, fine] of [
      ["PGSSLMODE", "always", "require"],
      ["PGSSLMINPROTOCOLVERSION", "1.2", "TLSv1.2"],
    ] as const
  ) {
    const of = (value: string, distribution = "postgres-demo") => refused([{ name, value }], distribution, "1.5");
    match(of(odd).join("\n"), /env\[0\]\.value: the driver of PostgreSQL reads this variable/);
    deepStrictEqual([...of(fine), ...of(""), ...of(odd, "starter")], []);
  }
});

const BY_SERVER = [
  ["LLAMA_STACK_LOG_WIDTH", "wide", "0.3"],
  ["LLAMA_STACK_LOG_WIDTH", "", "0.7"],
  ["OGX_LOG_WIDTH", "120.0", "1.5"],
  ["LLAMA_STACK_TEST_INFERENCE_MODE", "off", "0.2"],
  ["OGX_TEST_INFERENCE_MODE", "", "1.0"],
  ["LLAMA_STACK_PORT", "web", "0.2"],
  ["UVICORN_TIMEOUT_KEEP_ALIVE", "5s", "1.5"],
  ["UVICORN_WS_PING_INTERVAL", "often", "0.7"],
  ["UVICORN_LOG_LEVEL", "warn", "1.2"],
  ["PYTHONHASHSEED", "-1", "1.5"],
  ["PYTHONUTF8", "yes", "0.3"],
  ["PYTHONINTMAXSTRDIGITS", "5", "1.5"],
  ["PYTHONMALLOC", "jemalloc", "1.5"],
  ["UVICORN_ACCESS_LOG", "never", "1.5"],
] as const;

for (const [name, value, serverVersion] of BY_SERVER) {
  Deno.test(`${name} is refused on ${serverVersion} with ${JSON.stringify(value)}, with which nothing starts`, () =>
    match(
      refused([{ name, value }], "starter", serverVersion).join("\n"),
      /^spec\.workload\.overrides\.env\[0\]\.value: .* reads? this variable when it starts; expected .*$/,
    ));
}

for (
  const [name, value, serverVersion] of [
    ["LLAMA_STACK_LOG_WIDTH", "wide", "0.2"],
    ["LLAMA_STACK_LOG_WIDTH", "wide", "1.5"],
    ["OGX_LOG_WIDTH", "1_00", "1.5"],
    ["OGX_TEST_INFERENCE_MODE", "LIVE", "1.5"],
    ["OGX_METRICS_PORT", "x", "1.5"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "often", "1.5"],
    ["UVICORN_TIMEOUT_KEEP_ALIVE", "", "1.5"],
    ["UVICORN_TIMEOUT_KEEP_ALIVE", "5s", "0.2"],
    ["PYTHONHASHSEED", "random", "1.5"],
    ["UVICORN_ACCESS_LOG", " No ", "1.5"],
    ["PYTHONUTF8", "", "1.5"],
  ] as const
) {
  Deno.test(`${name} is accepted on ${serverVersion} with ${JSON.stringify(value)}`, () =>
    deepStrictEqual(refused([{ name, value }], "starter", serverVersion), []));
}

Deno.test("variables of the server are judged by others beside them", () => {
  const port = { name: "OGX_METRICS_PORT", value: "70000" };
  deepStrictEqual(refused([port, { name: "OGX_METRICS_ENDPOINT_ENABLED", value: "true" }], "starter", "1.5").length, 1);
  const json = (server: string) => [
    { name: `${server}_LOG_WIDTH`, value: "x" },
    { name: `${server}_LOG_FORMAT`, value: "JSON" },
  ];
  deepStrictEqual(refused(json("OGX"), "starter", "1.5"), []);
  deepStrictEqual(refused(json("LLAMA_STACK"), "starter", "0.4").length, 1);
});

Deno.test("a variable that switches on a provider with which the server does not start is refused", () => {
  const tgi = [{ name: "TGI_URL", value: "http://tgi:8080" }];
  deepStrictEqual(refused(tgi, "starter", "0.3"), [
    'spec.workload.overrides.env[0]: provider "tgi" of the base config: remote::tgi: its module cannot be loaded, so the server ' +
    "fails to start; use remote::vllm with the OpenAI-compatible endpoint of the same service",
  ]);
  deepStrictEqual(refused(tgi, "starter", "0.2"), []);
});

Deno.test("variables that leave a provider of the base config half configured are refused, by literal and by Secret", () => {
  deepStrictEqual(refused([{ name: "GEMINI_AI_PROJECT", value: "p" }]), [
    'spec.workload.overrides.env[0]: provider "gemini" of the base config, field project: requires access_token; ' +
    "remove it if you use an API key",
  ]);
  deepStrictEqual(refused([{ name: "A", value: "b" }, { name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }]), [
    'spec.workload.overrides.env[1]: provider "gemini" of the base config, field project: required with access_token',
  ]);
  deepStrictEqual(
    refused([{ name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }, { name: "GEMINI_AI_PROJECT", value: "p" }]),
    [],
  );
  deepStrictEqual(refused([{ name: "OPENAI_API_KEY", value: "k" }]), []);
  deepStrictEqual(refused([{ name: "SQLITE_STORE_DIR", value: "" }]).length, 1);
  deepStrictEqual(refused([{ name: "SQLITE_STORE_DIR" }]).length, 1);
  deepStrictEqual(refused([{ name: "SQLITE_STORE_DIR", value: "/data" }]), []);
  const cerebras = { name: "CEREBRAS_API_KEY", valueFrom: FROM_SECRET };
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "api.cerebras.ai" }]), [
    "spec.workload.overrides.env[1].value: providers of type remote::cerebras read this variable themselves; expected a URL",
  ]);
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "https://api.cerebras.ai" }]), []);
  deepStrictEqual(refused([{ name: "CEREBRAS_BASE_URL", value: "of nobody" }]), []);
  const chroma = { name: "ENABLE_CHROMADB", value: "chromadb" };
  deepStrictEqual(refused([chroma], "postgres-demo"), [
    'spec.workload.overrides.env[0]: provider "chromadb" of the base config, field url: required; set CHROMADB_URL, too',
  ]);
  deepStrictEqual(refused([chroma, { name: "CHROMADB_URL", value: "http://chroma:8000" }], "postgres-demo"), []);
});

Deno.test("a provider of the base config with which the server starts, though without its address, is not refused", () => {
  for (const serverVersion of ["0.4", "0.6.1", "0.7.1", "1.5"]) {
    for (const key of [{ value: "key" }, { valueFrom: FROM_SECRET }]) {
      deepStrictEqual(refused([{ name: "AZURE_API_KEY", ...key }], "starter", serverVersion), []);
    }
  }
  deepStrictEqual(refused([{ name: "AZURE_API_KEY", value: "key" }], "starter", "0.3").length, 1);
});

Deno.test("nothing is said of a provider of the base config that a variable may switch off in another form", () => {
  const of = (id: string, name = "GEMINI_AI_PROJECT", value = "p") => {
    const config = {
      api_key: "${env.KEY:=}",
      access_token: "${env.GEMINI_ACCESS_TOKEN:=}",
      project: "${env.GEMINI_AI_PROJECT:=}",
    };
    const base = smallBase({
      providers: { inference: [{ provider_id: id, provider_type: "remote::gemini", config }] },
    });
    const env = [{ name, value }];
    const resource = decoded({
      distribution: { name: "starter" },
      storage: { kv: {} },
      workload: { overrides: { env } },
    });
    const derived = derive(resource, { ...SURROUNDINGS, ...base });
    return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
  };
  deepStrictEqual(
    ["${env.USE:=__disabled__}", "${env.USE:=gemini}", "__disabled__", "gemini"].map((id) => of(id).length),
    [0, 0, 0, 1],
  );
  deepStrictEqual(["${env.USE:=__disabled__}", "gemini"].map((id) => of(id, "KEY", "5").length), [0, 1]);
});
