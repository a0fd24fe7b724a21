import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { decoded, generated, SURROUNDINGS } from "../../tests/given.ts";
import { REGISTRIES_DEFAULT } from "../operator/registries.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { derive, type Surroundings, warningsOf } from "./derive.ts";
import { BASES } from "./servers/bases.ts";

const given = (config: string, spec: JsonObject = {}, more: Partial<Surroundings> = {}) => {
  const configMaps = new Map([["default/mine", { data: { "config.yaml": config }, binaryData: {} }]]);
  const resource = decoded({
    distribution: { name: "starter", serverVersion: "1.4.1" },
    ...(spec.baseConfig === undefined ? { overrideConfig: { configMapName: "mine" } } : {}),
    ...spec,
  });
  return warningsOf(Result.getOrThrow(derive(resource, { ...SURROUNDINGS, configMaps, ...more })));
};
/** `Code: message`. */
const said = (...args: Parameters<typeof given>) => given(...args).map(({ code, message }) => `${code}: ${message}`);
const HEAD = "version: 2\ndistro_name: my\n";
const inference = (config: string, type = "remote::vllm") =>
  `${HEAD}providers: {inference: [{provider_id: a, provider_type: "${type}", config: ${config}}]}\n`;
const VLLM = inference("{base_url: 'http://vllm:8000/v1'}");
const env = (...variables: ReadonlyArray<JsonObject>) => ({ workload: { overrides: { env: variables } } });

Deno.test("no config that a server ships has a finding but variables that nothing sets", () => {
  const found = Object.entries(BASES).flatMap(([file, text]) => {
    const [, serverVersion = ""] = /-([0-9.]+)\.yaml$/.exec(file) ?? [];
    return said(text, { distribution: { image: "registry.example.com/own:1", serverVersion } })
      .filter((line) => !line.startsWith("VariableNotKnown")).map((line) => `${file}: ${line}`);
  });
  deepStrictEqual(found, []);
});

Deno.test("a config for this server has no warning", () => deepStrictEqual(said(VLLM), []));

Deno.test("a date without quotes is a warning that names the line and not the value", () => {
  const dated = `${VLLM}image_name: 2024-10-21\n`;
  deepStrictEqual(said(dated), [
    "ConfigUnfit: in config.yaml, line 4: without quotes this is a date for the server, which does not start where it " +
    "expects a text; quote it",
  ]);
  deepStrictEqual(said(dated.replace("2024-10-21", "'2024-10-21'")), []);
});

Deno.test("a variable whose Secret may be missing is not known to be set", () => {
  const config = inference("{base_url: '${env.URL_OF_VLLM}'}");
  const reference = (optional: boolean) =>
    env({ name: "URL_OF_VLLM", valueFrom: { secretKeyRef: { name: "s", key: "k", optional } } });
  match(said(config, reference(true)).join(), /^VariableNotKnown: .*does not start unless URL_OF_VLLM is set/);
  deepStrictEqual(said(config, reference(false)), []);
});

Deno.test("without a variable that only the pod knows, the server does not start where nothing is no value", () => {
  const image = { distribution: { image: "registry.example.com/own:1", serverVersion: "1.5.0" } };
  const entry = (config: string) => inference(`{base_url: 'http://v:1/v1', ${config}}`);
  const found = said(entry("max_tokens: '${env.TOKENS:=}'"), image);
  deepStrictEqual(found, [
    "VariableNotKnown: in config.yaml, providers.inference[0].config.max_tokens: expected a whole number; the server does " +
    "not start unless TOKENS is set, and spec.workload.overrides.env does not set it",
  ]);
  const { workload } = env({ name: "TOKENS", value: "5" });
  deepStrictEqual(said(entry("max_tokens: '${env.TOKENS:=}'"), { ...image, workload }), []);
  deepStrictEqual(said(entry("max_tokens: '${env.TOKENS:=5}'"), image), []);
  match(
    said(entry("max_tokens: '${env.TOKENS:=}'")).join(),
    /^ConfigUnfit: .*a whole number; the server does not start$/,
  );
  match(
    said(entry("max_tokens: 5").replace(/distro_name: \S+/, "distro_name: '${env.NAME:=}'"), image).join(),
    /^VariableNotKnown: in config.yaml, \w+_name: .* does not start unless NAME is set/,
  );
  // What its provider depends on.
  const model = VLLM.replace("provider_id: a", "provider_id: '${env.ON:+a}'") +
    "registered_resources: {models: [{model_id: m, provider_id: a}]}\n";
  match(
    said(model, image).join(),
    /^VariableNotKnown: .*models\[0\]\.provider_id: .*disabled unless ON is set; .*does not start unless something else, such as/,
  );
});

Deno.test("an entry whose id depends on a variable is read, whether that is known or not", () => {
  const entry = (id: string) => inference("[]").replace(/provider_id: [^,]+/, `provider_id: '${id}'`);
  const image = { distribution: { image: "registry.example.com/own:1", serverVersion: "1.5.0" } };
  const secret = env({ name: "TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k" } } });
  for (const more of [image, secret, {}]) {
    match(
      said(entry("${env.TOKEN:+vllm}"), more).join(),
      /ConfigUnfit: .*inference\[0\]\.config: a list is not accepted/,
    );
  }
  match(said(entry("${env.TOKEN:+5}"), secret).join(), /ConfigUnfit: .*\.provider_id: expected a string/);
  deepStrictEqual(said(entry("${env.TOKEN:=__disabled__}"), image), []);
});

Deno.test("a type that a variable names may be any type", () => {
  deepStrictEqual(said(inference("{base_url: 'http://v:1/v1'}", "${env.TYPE:=remote::vllm}")), []);
});

Deno.test("safety of Bedrock needs credentials, or a ServiceAccount that has them", () => {
  const config =
    'version: 2\nimage_name: my\nproviders: {safety: [{provider_id: b, provider_type: "remote::bedrock", ' +
    "config: {region_name: us-east-1}}]}\n";
  const server = { distribution: { name: "starter", serverVersion: "0.7.3" } };
  match(said(config, server).join("\n"), /CredentialsMissing: .*safety provider "b" has no credentials of AWS/);
  const workload = { overrides: { serviceAccountName: "with-role" } };
  doesNotMatch(said(config, { ...server, workload }).join("\n"), /CredentialsMissing/);
});

Deno.test("an address that only requests need is a warning that does not speak of the start", () => {
  const responses =
    "{persistence: {agent_state: {backend: kv_default, namespace: a}, responses: {backend: sql_default, " +
    "table_name: r}}, moderation_endpoint: mod}";
  const config =
    `${HEAD}providers: {responses: [{provider_id: b, provider_type: "inline::builtin", config: ${responses}}]}\n`;
  const found = said(config).find((line) => line.includes("moderation_endpoint")) ?? "";
  match(found, /^ConfigUnfit: .*moderation_endpoint: not a URL/);
  doesNotMatch(found, /does not start/);
});

Deno.test("addresses of NVIDIA's services are read with the first request", () => {
  for (const [api, field] of [["datasetio", "datasets_url"], ["safety", "guardrails_service_url"]] as const) {
    const entry = `{provider_id: n, provider_type: "remote::nvidia", config: {${field}: svc}}`;
    const found = said(`${HEAD}providers: {${api}: [${entry}]}\n`, {
      distribution: { name: "starter", serverVersion: "0.7.3" },
    }).find((line) => line.includes(field)) ?? "";
    match(found, /^ConfigUnfit: .*not a URL/);
    doesNotMatch(found, /does not start/);
  }
});

const STORES = "storage: {backends: {kv_default: {type: kv_sqlite, db_path: /tmp/a.db}}}\n";
const vectors = (type: string, config: string) =>
  `${HEAD}providers: {vector_io: [{provider_id: v, provider_type: "remote::${type}", config: {${config}persistence: ` +
  `{backend: kv_default, namespace: v}}}]}\n${STORES}`;

Deno.test("a port that no URL can have is refused by the clients of vector databases when they are made", () => {
  for (const type of ["chromadb: url", "elasticsearch: elasticsearch_url", "milvus: uri", "qdrant: url"]) {
    const [name = "", field] = type.split(": ");
    for (const [port, isRight] of [[65535, true], [65536, false], ["abc", false], [99999, false]] as const) {
      const found = said(vectors(name, `${field}: 'http://svc:${port}', `)).filter((line) =>
        line.includes(`${field}: `)
      );
      strictEqual(found.some((line) => /port.*does not start/.test(line)), !isRight, `${name} ${port}: ${found}`);
    }
  }
  match(said(vectors("elasticsearch", "elasticsearch_url: 'http://:80', ")).join(), /not a host of a URL/);
  for (const [url, isRight] of [["http://a b:80", false], ["a b", false], ["http://svc:80/a b", true]] as const) {
    strictEqual(
      /not a host of a URL.*does not start/.test(said(vectors("qdrant", `url: '${url}', `)).join()),
      !isRight,
      url,
    );
  }
});

Deno.test("Weaviate starts without a store, and forgets", () => {
  const config = vectors("weaviate", "weaviate_cluster_url: 'localhost:8080', ").replace(/, persistence: {[^}]*}/, "");
  const found = said(config).find((line) => line.includes(".persistence: ")) ?? "";
  match(found, /^ConfigUnfit: .*forgets its vector stores when the server restarts; write persistence: /);
  doesNotMatch(found, /does not start/);
});

Deno.test("rules about fields that a server does not have are not about what it starts with", () => {
  const config = inference(
    "{base_url: 'http://v:1/v1', url: 'http://v:1/v1', network: {tls: {client_cert: /tmp/c.pem}}}",
  );
  const of = (serverVersion: string) => said(config, { distribution: { name: "starter", serverVersion } }).join("\n");
  match(of("1.4.1"), /client_cert and client_key must be set together; the server does not start/);
  doesNotMatch(of("0.2.24"), /client_key/);
});

Deno.test("workers of an own config have no effect beside the command of the operator", () => {
  const workers = `${VLLM}server: {workers: 4}\n`;
  match(
    said(workers).join(),
    /^SectionIgnored: .*server\.workers has no effect: the server runs with 1; set spec\.workload/,
  );
  deepStrictEqual(said(workers, { workload: { workers: 4 } }).filter((line) => line.includes("workers")), []);
});

Deno.test("a variable that nothing sets is a warning, and one that the image may set another", () => {
  const config = inference("{base_url: '${env.URL_OF_VLLM}'}");
  match(
    said(config).join(),
    /^VariableNotSet: in config\.yaml, \$\{env\.URL_OF_VLLM\} has no value, so the server does not start; set it/,
  );
  match(
    said(config, { distribution: { image: "registry.example.com/own:1" } }).join(),
    /^VariableNotKnown: .*does not start unless URL_OF_VLLM is set/,
  );
  deepStrictEqual(said(config, env({ name: "URL_OF_VLLM", value: "http://vllm:8000/v1" })), []);
});

Deno.test("variables of parts that the server drops are not required", () => {
  const auth = "server: {auth: {provider_config: {type: '${env.KIND:+oauth2_token}', issuer: '${env.ISSUER}'}}}\n";
  const models =
    "registered_resources: {models: [{model_id: '${env.MODEL:+a}', provider_id: '${env.PROVIDER}', metadata: {}}]}\n";
  deepStrictEqual(said(`${VLLM}${models}`), []);
  // Reported is that the section does nothing.
  deepStrictEqual(said(`${VLLM}${auth}`).map((line) => line.split(":")[0]), ["AuthenticationOff"]);
  match(said(`${VLLM}${auth}`, env({ name: "KIND", value: "x" })).join(), /^VariableNotSet: .*ISSUER/);
});

Deno.test("a value that the server takes for a number is a warning where text is expected, and is not quoted", () => {
  const backends = (password: string) =>
    `${VLLM}storage: {backends: {sql_default: {type: sql_postgres, host: db, user: u, password: '${password}'}, kv_default: {type: kv_sqlite, db_path: /tmp/a.db}}}\n`;
  const [line, ...others] = said(backends("${env.PG}"), env({ name: "PG", value: "48151623" }));
  match(line ?? "", /^ConfigUnfit: in config\.yaml, storage\.backends\.sql_default\.password: .*look like a number/);
  deepStrictEqual(others.filter((other) => !other.startsWith("CredentialInEnvironment")), []);
  ok(!line?.includes("48151623"));
  const secretKeyRef = { name: "pg", key: "password" };
  const ofSecret = (value: string) =>
    said(backends("${env.PG:=x}"), env({ name: "PG", valueFrom: { secretKeyRef } }), {
      secrets: new Map([["pg", { password: Redacted.make(value) }]]),
    });
  strictEqual(ofSecret("48151623").length, 1);
  deepStrictEqual(ofSecret("s3cret"), []);
  // Without a cluster its value is not known.
  deepStrictEqual(said(backends("${env.PG}"), env({ name: "PG", valueFrom: { secretKeyRef } })), []);
  match(said(inference("{base_url: 'http://v:1/v1', api_token: '${env.T:=12}'}")).join(), /^ConfigUnfit: .*api_token/);
});

for (
  const [what, auth] of [
    ["the shape of Llama Stack 0.2", "{provider_type: oauth2_token, config: {}}"],
    ["an empty section", "{}"],
    ["a misspelt provider_config", "{provider_conf: {type: oauth2_token}}"],
    ["an empty type", "{provider_config: {type: ''}}"],
    ["a policy alone", "{access_policy: [{permit: {actions: [read]}}]}"],
  ] as const
) {
  Deno.test(`an authentication that is silently off is a warning: ${what}`, () => {
    const config = `${VLLM}server: {auth: ${auth}}\n`;
    match(said(config).join(), /^AuthenticationOff: in config\.yaml, .*accepts every request/);
    ok(said(config, { networking: { expose: {} } }).some((line) => line.startsWith("Exposed")));
  });
}

Deno.test("an authentication that a variable switches off is a warning in an own config and in a base config", () => {
  const config =
    `${VLLM}server: {auth: {provider_config: {type: '\${env.AUTH:+oauth2_token}', issuer: 'https://i', jwks: {uri: 'https://j'}}}}\n`;
  const spec = (variables: JsonObject, field: string) => ({ ...variables, [field]: { configMapName: "mine" } });
  for (const field of ["overrideConfig", "baseConfig"]) {
    match(said(config, spec({}, field)).join(), /^AuthenticationOff: .*accepts every request/, field);
    deepStrictEqual(said(config, spec(env({ name: "AUTH", value: "1" }), field)), [], field);
  }
});

Deno.test("a server with authentication, or with rules for paths, is not said to lack it", () => {
  for (const auth of ["{provider_config: {type: github_token}}", "{route_policy: [{permit: {paths: [/v1/health]}}]}"]) {
    deepStrictEqual(said(`${VLLM}server: {auth: ${auth}}\n`, { networking: { expose: {} } }), []);
  }
});

for (
  const [section, place] of [
    ["auth: {provider_config: {type: oauth2_token}}", "auth at top level"],
    ["authentication: {provider_config: {type: oauth2_token}}", "authentication at top level"],
    ["provider_config: {type: oauth2_token}", "provider_config at top level"],
    ["server: {authentication: {provider_config: {type: oauth2_token}}}", "server.authentication"],
  ] as const
) {
  Deno.test(`authentication that stands where no server looks for it is a warning: ${place}`, () => {
    const [first, ...others] = said(`${VLLM}${section}\n`);
    match(first ?? "", /^AuthenticationOff/);
    ok(first?.includes(`no server reads ${place}, so authentication is off`), first ?? "none");
    match(first ?? "", /accepts every request; move it to server\.auth/);
    deepStrictEqual(others, []);
  });
}

for (
  const [content, words] of [
    [
      "access_policy: [{permit: {actions: [read]}}]",
      /ignores access_policy at top level, and reads server\.auth\.access/,
    ],
    ["tls: {certfile: /a}", /ignores tls at top level, and reads spec\.networking\.tls of the resource/],
    ["port: 8321", /ignores port at top level, and reads spec\.networking\.port/],
    ["tenancy: {mode: multi}", /ignores tenancy at top level, and reads server\.tenancy/],
    ["quota: {kvstore: {}, authenticated_max_requests: 1}", /ignores quota at top level$/],
    ["registered_resource: {models: []}", /ignores registered_resource at top level$/],
    ["server: {worker: 2}", /ignores server\.worker$/],
    [
      "server: {auth: {provider_config: {type: github_token}, acces_policy: [a]}}",
      /ignores server\.auth\.acces_policy$/,
    ],
  ] as const
) {
  Deno.test(`a section that no server reads is a warning: ${content}`, () => {
    const [line, ...others] = said(`${VLLM}${content}\n`);
    match(line ?? "", /^SectionIgnored: in config\.yaml, OGX 1\.4\.1/);
    match(line ?? "", words);
    deepStrictEqual(others, []);
  });
}

Deno.test("what protects something is said to be ignored by servers that do not know it yet", () => {
  const config = `${VLLM}server: {tenancy: {mode: multi}}\n`;
  deepStrictEqual(said(config), []);
  match(
    said(config, { distribution: { image: "registry.example.com/own:1", serverVersion: "1.1.3" } }).join(),
    /^SectionIgnored: .*OGX 1\.1\.3 ignores server\.tenancy$/,
  );
});

Deno.test("what a YAML file shares by anchors is not said to be ignored", () =>
  deepStrictEqual(said(`x-common: &a {b: c}\n.shared: {d: e}\n${VLLM}`), []));

Deno.test("a bucket without credentials is a warning, unless a variable or a ServiceAccount may bring them", () => {
  const s3 = (keys = "") =>
    `${HEAD}providers: {files: [{provider_id: s3, provider_type: "remote::s3", config: {bucket_name: b, ${keys}metadata_store: {backend: sql_default, table_name: f}}}]}\n` +
    "storage: {backends: {sql_default: {type: sql_sqlite, db_path: /tmp/a.db}, kv_default: {type: kv_sqlite, db_path: /tmp/b.db}}}\n";
  match(said(s3()).join(), /^CredentialsMissing: in config\.yaml, files provider "s3" has no credentials/);
  const conditional = s3().replace("provider_id: s3", "provider_id: '${env.ENABLE_S3:+s3}'");
  deepStrictEqual(said(conditional), []);
  match(said(conditional, env({ name: "ENABLE_S3", value: "1" })).join(), /^CredentialsMissing/);
  const ofBase = (config: string, spec: JsonObject = {}) =>
    given(config, { baseConfig: { configMapName: "mine" }, ...spec })
      .filter(({ code }) => code === "CredentialsMissing").map(({ path }) => path.join("."));
  deepStrictEqual(ofBase(conditional), []);
  deepStrictEqual(ofBase(conditional, env({ name: "ENABLE_S3", value: "1" })), ["spec.baseConfig"]);
  match(said(s3("aws_access_key_id: '${env.NO_KEY:=}', ")).join(), /^CredentialsMissing/);
  deepStrictEqual(said(s3(), { workload: { overrides: { serviceAccountName: "s3" } } }), []);
  const file = { name: "AWS_SHARED_CREDENTIALS_FILE", value: "/aws/credentials" };
  deepStrictEqual(said(s3(), env({ name: "AWS_PROFILE", value: "mine" }, file)), []);
  const safety =
    `${HEAD}providers: {safety: [{provider_id: aws, provider_type: "remote::bedrock", config: {profile_name: mine}}]}\n`;
  match(said(safety).join("\n"), /^ConfigUnfit: .*profile_name of safety provider "aws"/m);
  deepStrictEqual(said(safety, env(file)).filter((text) => text.includes("profile_name")), []);
  const keys =
    "aws_access_key_id: '${env.AWS_ACCESS_KEY_ID:=}', aws_secret_access_key: '${env.AWS_SECRET_ACCESS_KEY:=}', ";
  const variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: "aws", key: name } },
  }));
  deepStrictEqual(said(s3(keys), env(...variables)), []);
});

Deno.test("a config for another server names the version of the distribution that accepts it", () => {
  const config =
    'version: 2\nimage_name: starter\nproviders: {agents: [{provider_id: a, provider_type: "inline::meta-reference"}], ' +
    'tool_runtime: [{provider_id: r, provider_type: "inline::rag-runtime"}]}\n';
  match(
    said(config, {}, { registries: REGISTRIES_DEFAULT }).join(),
    /^OtherServer: in config\.yaml, the config is for another server.*OGX 1\.4\.1 has no API agents.*set spec\.distribution\.serverVersion to 0\.6\.1/,
  );
  match(
    said(config, { distribution: { image: "docker.io/ogxai/distribution-starter:1.5.0" } }).join(),
    /^OtherServer: .*OGX 1\.5\.0 has no API agents.*use an image with the server that it was written for, such as 0\.6/,
  );
});

Deno.test("a credential in clear text in server.auth is a warning, and a variable is none", () => {
  const of = (auth: string, spec: JsonObject = {}) =>
    said(`${VLLM}server: {auth: {provider_config: ${auth}}}\n`, {
      distribution: { name: "starter", serverVersion: "1.5.0" },
      ...spec,
    });
  const introspection = (secret: string) =>
    `{type: oauth2_token, introspection: {url: "https://i/t", client_id: c, client_secret: "${secret}"}}`;
  const jwks = '{type: oauth2_token, issuer: "https://i", jwks: {uri: "https://i/k", token: a-token}}';
  for (
    const [auth, place] of [
      [introspection("a-password"), "introspection.client_secret"],
      [jwks, "jwks.token"],
      ["{type: local_api_key, api_keys: [a-key]}", "api_keys[0]"],
    ] as const
  ) {
    const start =
      `CredentialInSettings: in config.yaml, server.auth.provider_config.${place}: the value is stored in clear`;
    const found = of(auth);
    ok(found.some((line) => line.startsWith(start)), found.join("\n"));
    doesNotMatch(found.join(), /a-(password|token|key)/);
    const inBase = of(auth, { baseConfig: { configMapName: "mine" } });
    ok(
      inBase.some((line) => line.includes(`provider_config.${place}: the value is stored in clear`)),
      inBase.join("\n"),
    );
  }
  doesNotMatch(of(introspection("${env.SECRET}")).join(), /CredentialInSettings/);
});

Deno.test("a key of a connector that no server reads is a warning, without its value", () => {
  const connector = 'connector_id: a, url: "http://m/sse", server_label: a';
  const of = (more: string) => said(`${VLLM}connectors: [{${connector}${more}}]\n`);
  deepStrictEqual(of(""), []);
  deepStrictEqual(of(", authorization: a-token"), [
    "UnknownSetting: in config.yaml, connectors[0].authorization: OGX 1.4.1 ignores this key; it reads connector_id, " +
    "connector_type, server_label, url; requests bring credentials",
  ]);
});

Deno.test("a port and workers that the start command overrules are found in quotes and in variables, too", () => {
  const of = (server: string, spec: JsonObject = {}) => said(`${VLLM}server: ${server}\n`, spec).join();
  for (const form of [(number: string) => `"${number}"`, (number: string) => `"\${env.N:=${number}}"`]) {
    match(of(`{port: ${form("9000")}}`), /server\.port has no effect: the server listens on 8321/);
    match(of(`{workers: ${form("3")}}`), /server\.workers has no effect: the server runs with 1/);
    strictEqual(of(`{port: ${form("8321")}, workers: ${form("1")}}`), "");
    const base = { baseConfig: { configMapName: "mine" } };
    match(of(`{port: ${form("9000")}}`, base), /server\.port of the base config is not used/);
    strictEqual(of(`{port: ${form("8321")}, workers: ${form("1")}}`, base), "");
  }
});

Deno.test("a certificate that nothing names is none that is missing", () => {
  for (const file of ["null", '""', '"${env.TLS_CERTIFICATE:=}"']) {
    const config = `${VLLM}server: {tls_certfile: ${file}}\n`;
    deepStrictEqual([said(config), said(config, { baseConfig: { configMapName: "mine" } })], [[], []]);
  }
});

for (
  const [what, config, words] of [
    [
      "a section of another version",
      `${VLLM}models: [{model_id: a}]\n`,
      /^SectionIgnored: .* ignores models at top level/,
    ],
    ["safety on OGX 1.x", `${VLLM}safety: {default_shield_id: a}\n`, /^SectionIgnored: .* ignores safety/],
    ["cors on OGX 1.x", `${VLLM}server: {cors: true}\n`, /^SectionIgnored: .* ignores server\.cors/],
    ["another port", `${VLLM}server: {port: 9999}\n`, /^SectionIgnored: .*listens on 8321/],
    ["TLS of its own", `${VLLM}server: {tls_certfile: /a, tls_keyfile: /b}\n`, /^SectionIgnored: .*without TLS/],
    [
      "no name",
      VLLM.replace("distro_name: my\n", ""),
      /^ConfigUnfit: .*distro_name: missing; write distro_name or image_name/,
    ],
    [
      "a field that the type does not read",
      inference("{base_url: 'http://v:1/v1', url: x}"),
      /^UnknownSetting: .*config\.url: .*this type reads base_url/,
    ],
    [
      "a model without its provider",
      `${VLLM}registered_resources: {models: [{model_id: m, provider_id: gone}, {model_id: n, provider_id: a}]}\n`,
      /^ConfigUnfit: .*models\[0\]\.provider_id: no inference provider of the config has this id; the server does not start$/,
    ],
    [
      "a field that was renamed",
      inference("{url: 'http://v:1/v1'}"),
      /ConfigUnfit: .*base_url: required by .*; rename url; /,
    ],
    ["a field that is required", inference("{}", "remote::vllm"), /^ConfigUnfit: .*base_url: required by/],
    [
      "an address without which the server starts",
      inference("{}", "remote::azure"),
      /^EndpointIncomplete: .*base_url: required by provider type "remote::azure"; the server starts, and the provider does not answer/,
    ],
    [
      "a store that is required",
      `${HEAD}providers: {vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {kvstore: {}}}]}\n`,
      /ConfigUnfit: .*config\.persistence: required/,
    ],
    [
      "a store that is required, and the backend that it may have",
      `${HEAD}providers: {vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {}}]}\n` +
      "storage: {backends: {sql_default: {type: sql_sqlite, db_path: /tmp/b.db}, kv_mine: {type: kv_sqlite, db_path: /tmp/a.db}}}\n",
      /required by provider type "inline::faiss"; write persistence: { backend: kv_mine, namespace: <name> }; the server/,
    ],
    [
      "an unknown backend",
      `${HEAD}providers: {vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {persistence: {backend: x, namespace: y}}}]}\n` +
      "storage: {backends: {kv_default: {type: kv_sqlite, db_path: /tmp/a.db}}}\n",
      /^ConfigUnfit: .*persistence\.backend: not a key-value storage backend/,
    ],
  ] as const
) {
  Deno.test(`a warning says of ${what} in an own config what the server does`, () => match(said(config).join(), words));
}

for (
  const [what, serverVersion, config, words] of [
    [
      "an API without a provider",
      "1.4.1",
      `${VLLM}apis: [inference, messages]\n`,
      /apis\[1\]: names the API messages, which no provider serves; add one to providers\.messages/,
    ],
    [
      "an access policy without a store for the owners of vector stores",
      "1.4.1",
      `${HEAD}providers: {vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {persistence: {backend: kv_default, namespace: y}}}]}\n` +
      "storage: {backends: {kv_default: {type: kv_sqlite, db_path: /tmp/a.db}, sql_default: {type: sql_sqlite, db_path: /tmp/b.db}}, stores: {metadata: {backend: kv_default, namespace: r}}}\n" +
      "server: {auth: {provider_config: {type: kubernetes}, access_policy: [{permit: {actions: [read]}}]}}\n",
      /storage\.stores\.vector_stores: required beside server\.auth\.access_policy/,
    ],
    [
      "a shield that its provider does not have",
      "0.7.3",
      `${HEAD}providers: {safety: [{provider_id: p, provider_type: "inline::prompt-guard", config: {}}]}\n` +
      "registered_resources: {shields: [{shield_id: Prompt-Guard-86M, provider_id: p}, {shield_id: guard, provider_id: p}, {shield_id: skipped}]}\n",
      /shields\[1\]: provider type "inline::prompt-guard" has no shield "guard", only Prompt-Guard-86M; the server does not start/,
    ],
    [
      "a registry without its router",
      "1.4.1",
      `${VLLM}apis: [inference, vector_stores]\n`,
      /apis\[1\]: names the API vector_stores, .*add vector_io to apis/,
    ],
    [
      "a key for an API that takes no providers",
      "0.7.3",
      `${HEAD}providers: {inference: [{provider_id: a, provider_type: "remote::vllm", config: {base_url: "http://v:1/v1"}}], models: []}\n`,
      /providers\.models: the server provides the API models itself; remove the key; the server does not start/,
    ],
    [
      "an API of later servers",
      "0.4.7",
      `${VLLM}image_name: my\napis: [inference, connectors]\n`,
      /apis\[1\]: names the API connectors, which this server does not have yet; use 0\.5 or newer, or remove the name/,
    ],
    ["an API without a provider", "0.6.1", `${VLLM}apis: [inference, files]\n`, /apis\[1\]: names the API files/],
    [
      "a provider without what it requires",
      "1.5.0",
      `${HEAD}apis: [messages]\nproviders: {messages: [{provider_id: m, provider_type: "inline::builtin", config: {kvstore: {backend: kv_default, namespace: m}}}]}\n`,
      /providers\.messages\[0\]: inline::builtin requires the API inference, .*add inference to apis/,
    ],
    [
      "a shield",
      "0.6.1",
      `${VLLM}registered_resources: {shields: [{shield_id: s, provider_id: gone}]}\n`,
      /shields\[0\]\.provider_id: no safety provider/,
    ],
    [
      "a tool group",
      "0.6.1",
      `${VLLM}registered_resources: {tool_groups: [{toolgroup_id: g, provider_id: gone}]}\n`,
      /tool_groups\[0\]\.provider_id: no tool_runtime provider/,
    ],
    [
      "a benchmark",
      "0.6.1",
      `${VLLM}registered_resources: {benchmarks: [{benchmark_id: g, dataset_id: d, scoring_functions: [], provider_id: gone}]}\n`,
      /benchmarks\[0\]\.provider_id: no eval provider/,
    ],
    [
      "a vector store",
      "1.4.1",
      `${VLLM}registered_resources: {vector_stores: [{vector_store_id: v, embedding_model: a/m, embedding_dimension: 4, provider_id: gone}], models: [{model_id: m, provider_id: a, model_type: embedding, metadata: {embedding_dimension: 4}}]}\n`,
      /vector_stores\[0\]\.provider_id: no vector_io provider/,
    ],
    [
      "a model whose provider is off",
      "1.4.1",
      `${
        VLLM.replace("provider_id: a", "provider_id: '${env.NONE:+a}'")
      }registered_resources: {models: [{model_id: m, provider_id: a}]}\n`,
      /models\[0\]\.provider_id: the inference provider "a" is disabled unless NONE is set; set NONE in spec/,
    ],
    ...["'${env.OF_NOBODY:=m}'", "'${env.HOME}'", "'${env.HOME:+m}'"].map((id) =>
      [
        `a model ${id} whose provider is off`,
        "0.6.1",
        `${
          VLLM.replace("provider_id: a", "provider_id: '${env.NONE:+a}'")
        }registered_resources: {models: [{model_id: ${id}, provider_id: a}]}\n`,
        /models\[0\]\.provider_id: the inference provider "a" is disabled unless NONE is set/,
      ] as const
    ),
    [
      "a provider that comes from a variable",
      "1.4.1",
      `${VLLM}registered_resources: {models: [{model_id: m, provider_id: '\${env.NONE:=gone}'}]}\n`,
      /models\[0\]\.provider_id: no inference provider/,
    ],
    [
      "a tool group of a provider that is off",
      "0.6.1",
      `${
        VLLM.replace("providers: {", "providers: {tool_runtime: [{provider_id: '${env.NONE:+t}', provider_type: x}], ")
      }registered_resources: {tool_groups: [{toolgroup_id: g, provider_id: t}]}\n`,
      /tool_groups\[0\]\.provider_id: the tool_runtime provider "t" is disabled unless NONE is set/,
    ],
    [
      "a default embedding model of a provider that is off",
      "1.4.1",
      `${
        VLLM.replace("provider_id: a", "provider_id: '${env.NONE:+a}'")
      }vector_stores: {default_embedding_model: {provider_id: a, model_id: '\${env.NONE:=m}'}}\n`,
      /default_embedding_model\.provider_id: the inference provider "a" is disabled unless NONE is set/,
    ],
    [
      "a model of a provider whose id is a form that the server does not expand",
      "1.4.1",
      `${
        VLLM.replace("provider_id: a", "provider_id: '${env.lower:=a}'")
      }registered_resources: {models: [{model_id: m, provider_id: a}]}\n`,
      /models\[0\]\.provider_id: no inference provider/,
    ],
    [
      "a default embedding model",
      "1.4.1",
      `${VLLM}vector_stores: {default_embedding_model: {provider_id: gone, model_id: m}}\n`,
      /vector_stores\.default_embedding_model\.provider_id: no inference provider/,
    ],
    [
      "a default reranker",
      "1.4.1",
      `${VLLM}vector_stores: {default_reranker_model: {provider_id: gone, model_id: m}}\n`,
      /default_reranker_model\.provider_id: no inference provider/,
    ],
    [
      "a default embedding model of another kind",
      "0.6.1",
      `${VLLM}vector_stores: {default_embedding_model: {provider_id: a, model_id: m}}\nregistered_resources: {models: [{model_id: m, provider_id: a, model_type: llm}]}\n`,
      /default_embedding_model\.model_id: this model is registered with model_type llm, not embedding/,
    ],
  ] as const
) {
  Deno.test(`a name in an own config that nothing answers to is a warning: ${what} on ${serverVersion}`, () => {
    const [line, ...others] = said(config, { distribution: { name: "starter", serverVersion } });
    match(line ?? "", /^ConfigUnfit: in config\.yaml, .*; the server does not start$/);
    match(line ?? "", words);
    deepStrictEqual(others, []);
  });
}

for (
  const [what, serverVersion, config] of [
    ["an API that this server leaves out", "1.5.0", `${VLLM}apis: [inference, messages]\n`],
    ["a router without a provider", "1.4.1", `${VLLM}apis: [inference, vector_io, tool_runtime]\n`],
    [
      "a resource of an API that is not opened",
      "1.4.1",
      `${VLLM}apis: [inference]\nregistered_resources: {vector_stores: [{vector_store_id: v, embedding_model: a/m, embedding_dimension: 4, provider_id: gone}]}\n`,
    ],
    ["a model of all providers", "1.4.1", `${VLLM}registered_resources: {models: [{model_id: m, provider_id: all}]}\n`],
    [
      "an embedding model that the server has itself",
      "1.4.1",
      `${
        inference("{}", "inline::sentence-transformers")
      }vector_stores: {default_embedding_model: {provider_id: a, model_id: nomic-ai/nomic-embed-text-v1.5}}\n`,
    ],
    [
      "an embedding model that is also registered under another id, as a model of another type",
      "1.4.1",
      `${
        inference("{}", "inline::sentence-transformers")
      }vector_stores: {default_embedding_model: {provider_id: a, model_id: nomic-ai/nomic-embed-text-v1.5}}\nregistered_resources: {models: [{model_id: chat, provider_model_id: nomic-ai/nomic-embed-text-v1.5, provider_id: a, model_type: llm}]}\n`,
    ],
    [
      "an embedding model that is registered",
      "0.6.1",
      `${VLLM}vector_stores: {default_embedding_model: {provider_id: a, model_id: m}}\nregistered_resources: {models: [{model_id: m, provider_id: a, model_type: embedding, metadata: {embedding_dimension: 4}}]}\n`,
    ],
  ] as const
) {
  Deno.test(`nothing is said of ${what}`, () =>
    deepStrictEqual(said(config, { distribution: { name: "starter", serverVersion } }), []));
}

Deno.test("a name that no server has is answered with the one that was meant, and hides nothing else", () => {
  const typo = VLLM.replace("remote::vllm", "remote::vlm");
  const found = said(`${typo}registered_resources: {models: [{model_id: m, provider_id: a, model_type: chat}]}\n`);
  deepStrictEqual(found, [
    "ConfigUnfit: in config.yaml, OGX 1.4.1 has no inference provider remote::vlm; did you mean remote::vllm?; the server " +
    "does not start",
    'ConfigUnfit: in config.yaml, registered_resources.models[0].model_type: "chat" is not accepted; write one of ' +
    "embedding, llm, rerank; the server does not start",
  ]);
  match(
    said(VLLM.replace("remote::vllm", "remote:vllm")).join(),
    /no inference provider remote:vllm; did you mean remote::vllm\?/,
  );
  deepStrictEqual(said(VLLM.replace("inference:", "inferense:")), [
    "ConfigUnfit: in config.yaml, OGX 1.4.1 has no API inferense; did you mean inference?; the server does not start",
  ]);
});

Deno.test("a model without a provider is a warning, because no server registers it", () => {
  const models = (fields: string) => said(`${VLLM}registered_resources: {models: [{model_id: m${fields}}]}\n`);
  for (const fields of ["", ", provider_id: null"]) {
    deepStrictEqual(models(fields), [
      "ResourceNotRegistered: in config.yaml, registered_resources.models[0].provider_id: missing, and the server " +
      'registers nothing without it; write "a"',
    ]);
  }
  // Written so on purpose.
  for (const id of ["__disabled__", "'${env.NONE:+a}'"]) deepStrictEqual(models(`, provider_id: ${id}`), [], id);
});

for (
  const [place, type, serverVersion] of [
    ["default_embedding_model: ", "embedding", "0.6.1"],
    ["default_embedding_model: ", "embedding", "1.4.1"],
    ["default_reranker_model: ", "rerank", "1.4.1"],
    ["rewrite_query_params: {model: ", "llm", "0.5.4"],
    ["rewrite_query_params: {model: ", "llm", "1.4.1"],
  ] as const
) {
  Deno.test(`${place.split(":")[0]} of a service is a warning on ${serverVersion} unless it is registered`, () => {
    const end = place.includes("{") ? "}" : "";
    const config = `${VLLM}vector_stores: {${place}{provider_id: a, model_id: m}${end}}\n`;
    const on = { distribution: { name: "starter", serverVersion } };
    const [line, ...others] = said(config, on);
    match(line ?? "", /^ConfigUnfit: .*model_id: this model is not registered, .*only while the provider answers/);
    ok(line?.endsWith(`add it to registered_resources.models with model_type ${type}`), String(line));
    deepStrictEqual(others, []);
    const registered =
      `registered_resources: {models: [{model_id: m, provider_id: a, model_type: ${type}, metadata: {embedding_dimension: 4}}]}\n`;
    deepStrictEqual(said(`${config}${registered}`, on), []);
  });
}

Deno.test("a dataset of rows that NVIDIA's service would have to read is a warning", () => {
  const of = (provider: string) =>
    said(
      `${HEAD}providers: {datasetio: [{provider_id: nemo, provider_type: "remote::nvidia", config: {}}]}\n` +
        `registered_resources: {datasets: [{dataset_id: d, purpose: eval/messages-answer, source: {type: rows, rows: []}, ` +
        `metadata: {provider_id: ${provider}}}]}\n`,
      { distribution: { name: "starter", serverVersion: "0.7.3" } },
    ).join();
  match(of("nemo"), /ConfigUnfit: .*datasets\[0\]\.source: a provider of type remote::nvidia takes no rows/);
  doesNotMatch(of("other"), /takes no rows/);
});

Deno.test("a vector store whose name Milvus does not accept is a warning", () => {
  const of = (name: string) =>
    said(
      `${
        VLLM.replace(
          "providers: {",
          'providers: {vector_io: [{provider_id: q, provider_type: "remote::milvus", config: {uri: "http://m:19530", persistence: {backend: kv_default, namespace: q}}}], ',
        )
      }registered_resources: {vector_stores: [{vector_store_id: ${name}, embedding_model: a/m, embedding_dimension: 4, provider_id: q}], models: [{model_id: m, provider_id: a, model_type: embedding, metadata: {embedding_dimension: 4}}]}\n`,
    ).join();
  match(
    of("'7th'"),
    /ConfigUnfit: .*vector_stores\[0\]\.vector_store_id: Milvus accepts no name that begins with a digit/,
  );
  doesNotMatch(of("seventh"), /vector_store_id/);
});

Deno.test("an embedding model of a vector store that is not registered is a warning", () => {
  const config = (model: string) =>
    `${
      VLLM.replace(
        "providers: {",
        'providers: {vector_io: [{provider_id: q, provider_type: "remote::qdrant", config: {url: "http://q:6333", persistence: {backend: kv_default, namespace: q}}}], ',
      )
    }` +
    `registered_resources: {vector_stores: [{vector_store_id: v, embedding_model: ${model}, embedding_dimension: 4, provider_id: q}], models: [{model_id: m, provider_id: a, model_type: embedding, metadata: {embedding_dimension: 4}}]}\n`;
  match(
    said(config("a/other")).join(),
    /^ConfigUnfit: .*vector_stores\[0\]\.embedding_model: not a model of registered_resources\.models/,
  );
  match(said(config("'${env.EMBEDDING:=other}'")).join(), /embedding_model: not a model/);
  for (const model of ["a/m", "'${env.EMBEDDING:=a/m}'"]) deepStrictEqual(said(config(model)), []);
  match(said(config("m")).join(), /embedding_model: the server does not find the model under this name; write "a\/m"/);
  const of = (serverVersion: string, model: string) =>
    said(config(model).replace("metadata:", "provider_model_id: n, metadata:"), {
      distribution: { name: "starter", serverVersion },
    }).join();
  for (const [version, key] of [["0.4.7", "a/n"], ["0.7.3", "a/n"], ["1.4.1", "a/m"]] as const) {
    doesNotMatch(of(version, key), /embedding_model/, version);
    match(of(version, key === "a/n" ? "a/m" : "a/n"), new RegExp(`embedding_model: .*; write "${key}"`), version);
  }
  // It looks for none.
  doesNotMatch(of("0.3.5", "m"), /embedding_model/);
  // The image may set the variable.
  const own = { distribution: { image: "registry.example.com/own:1", serverVersion: "1.4.1" } };
  match(said(config("'${env.EMBEDDING:=other}'"), own).join(), /^VariableNotKnown: .*start unless EMBEDDING is set/);
});

const verifying = (value: string, server = "") =>
  `${VLLM}server: {${server}auth: {provider_config: {type: oauth2_token, verify_tls: ${value}, issuer: 'https://i', jwks: {uri: 'https://j'}}}}\n`;

for (const value of ["false", "'off'", "'${env.VERIFY:=true}'", "'${env.OTHER:=false}'"]) {
  Deno.test(`certificates that authentication does not verify are a warning: ${value}`, () => {
    const variables = env({ name: "VERIFY", value: "false" });
    const [line, ...others] = said(verifying(value), variables);
    match(
      line ?? "",
      /^ConfigUnfit: .*server\.auth\.provider_config\.verify_tls: .*refuses false.*tls_cafile.*does not start$/,
    );
    deepStrictEqual(others, []);
    deepStrictEqual(said(verifying(value, "insecure: true, "), variables), []);
  });
}

Deno.test("certificates that are verified, or whose server does not care, are no warning", () => {
  for (const value of ["true", "'${env.VERIFY:=true}'"]) deepStrictEqual(said(verifying(value)), []);
  deepStrictEqual(said(verifying("false").replace("oauth2_token", "github_token")), []);
  const older = { distribution: { image: "registry.example.com/own:1", serverVersion: "1.1.3" } };
  deepStrictEqual(said(verifying("false"), older), []);
  const secretKeyRef = { name: "s", key: "k" };
  deepStrictEqual(said(verifying("'${env.VERIFY:=true}'"), env({ name: "VERIFY", valueFrom: { secretKeyRef } })), []);
});

Deno.test("keys of the file that cannot tell tenants apart are a warning with several tenants", () => {
  const config = (mode: string) =>
    `${VLLM}server: {tenancy: {mode: ${mode}, default_tenant_id: t}, auth: {provider_config: {type: local_api_key, api_keys: []}}}\n`;
  match(said(config("multi")).join(), /^ConfigUnfit: .*server\.tenancy\.mode: local_api_key tells no tenants apart/);
  deepStrictEqual(said(config("single")), []);
});

Deno.test("no advised version lacks an API of the config, although a base config could lose it there", () => {
  const config = `version: 2\nimage_name: my\nproviders: {safety: [], responses: []}\n`;
  match(said(config, {}, { registries: REGISTRIES_DEFAULT }).join(), /serverVersion to 0\.8\.0, or write it/);
});

Deno.test("entries of a base that the resource does not replace, and with which the server does not start, are a warning", () => {
  const content =
    `${HEAD}providers: {vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {kvstore: {}}}]}\n`;
  const at = (providers: JsonObject) =>
    generated({ distribution: { name: "starter", serverVersion: "1.4.1" }, providers }, {
      base: { origin: "test", content },
    })
      .config.warnings.filter(({ code }) => code === "ConfigUnfit").map(({ message }) => message);
  match(
    at({ inference: [{ provider: "openai" }] }).join(),
    /vector_io\[0\]\.config\.persistence: required .* does not start$/,
  );
  deepStrictEqual(at({ vectorIo: [{ provider: "faiss", id: "f" }] }), []);
});

Deno.test("entries that are switched off are not judged", () => {
  const off =
    `${HEAD}providers: {inference: [{provider_id: '\${env.AZURE:+azure}', provider_type: "remote::azure", config: {}}]}\n`;
  deepStrictEqual(said(off), []);
  match(said(off, env({ name: "AZURE", value: "1" })).join(), /EndpointIncomplete/);
});

Deno.test("resources that a variable leaves out, or whose provider a variable names, are no finding", () => {
  const models = (model: string) => `registered_resources: {models: [${model}]}\n`;
  const on = (config: string, spec: JsonObject = {}) =>
    said(config, { distribution: { name: "starter", serverVersion: "0.6.1" }, ...spec });
  deepStrictEqual(on(`${VLLM}${models("{model_id: '${env.NONE:+m}', provider_id: gone}")}`), []);
  deepStrictEqual(on(`${VLLM}${models("{model_id: m, provider_id: '${env.NONE:+gone}'}")}`), []);
  const named = VLLM.replace("provider_id: a", "provider_id: '${env.ID:=a}'");
  deepStrictEqual(on(`${named}${models("{model_id: m, provider_id: a}")}`), []);
  const secretKeyRef = { name: "s", key: "k" };
  const ofSecret = env({ name: "ID", valueFrom: { secretKeyRef } });
  deepStrictEqual(on(`${named}${models("{model_id: m, provider_id: b}")}`, ofSecret), []);
  const switched = VLLM.replace("provider_id: a", "provider_id: '${env.ID:+a}'");
  deepStrictEqual(on(`${switched}${models("{model_id: '${env.ID}', provider_id: '${env.ID:+a}'}")}`, ofSecret), []);
});

Deno.test("a placeholder that no server expands prevents the start where the field takes no such text", () => {
  match(
    said(inference("{base_url: 'http://v:1/v1', max_tokens: '${env.N:-5}'}")).join(),
    /^ConfigUnfit: .*max_tokens: invalid or nested placeholder.*does not start$/,
  );
});

Deno.test("a config with very many mistakes has few warnings", () => {
  const entries = Array.from(
    { length: 500 },
    (_, i) => `{provider_id: p${i}, provider_type: "remote::azure", config: {}}`,
  );
  const found = said(`${HEAD}providers: {inference: [${entries.join(", ")}]}\n`);
  ok(found.length < 20, String(found.length));
  match(found.at(-1) ?? "", /more findings$/);
});

Deno.test("types that a folder of the pod may define are not refused, and the folder cannot define others", () => {
  const folder = "external_providers_dir: /etc/providers.d\n";
  for (const field of ["overrideConfig", "baseConfig"]) {
    const mounted = {
      volumes: [{ name: "p", configMap: { name: "providers" } }],
      volumeMounts: [{ name: "p", mountPath: "/etc/providers.d" }],
    };
    const spec = { [field]: { configMapName: "mine" }, workload: { overrides: mounted } };
    const found = said(`${inference("{}", "remote::mine")}${folder}`, spec);
    deepStrictEqual(found.map((line) => line.split(":")[0]), ["ProviderNotChecked"], field);
    match(found.join(), /external_providers_dir: inference provider remote::mine is not of OGX 1\.4\.1 itself/);
    deepStrictEqual(said(`${VLLM}${folder}`, spec), []);
    deepStrictEqual(
      said(`${VLLM}apis: [inference, own]\nexternal_apis_dir: /etc/apis.d\n`, spec).map((line) => line.split(":")[0]),
      ["ProviderNotChecked"],
    );
  }
  match(said(`${inference("{}", "remote:mine")}${folder}`).join(), /^ConfigUnfit: .*no inference provider remote:mine/);
  match(said(`${inference("{}", "remote::mine")}external_providers_dir: ''\n`).join(), /^ConfigUnfit: .*remote::mine/);
});

Deno.test("the command line of 0.2 makes the folder of external providers, where it may", () => {
  const of = (folder: string, serverVersion: string) =>
    said(`${HEAD}image_name: my\nproviders: {}\nexternal_providers_dir: '${folder}'\n`, {
      distribution: { name: "starter", serverVersion },
    }).some((line) => line.startsWith("FileNotMounted: in config.yaml, external_providers_dir: "));
  for (
    const [folder, isMade] of [
      ["${env.UNSET:=~/.llama/providers.d}", true],
      ["/tmp/a/b", true],
      ["~/.llama/providers.d", false],
      ["/opt/a/b", false],
    ] as const
  ) {
    strictEqual(of(folder, "0.2.24"), !isMade, folder);
    strictEqual(of(folder, "0.3.5"), true, folder);
  }
});

Deno.test("two providers that register the same, or lock the same folder, are found in both kinds of own configs", () => {
  const scoring = 'scoring: [{provider_id: a, provider_type: "inline::basic", config: {}}, ' +
    '{provider_id: b, provider_type: "inline::basic", config: {}}]';
  const qdrant = (path: string) =>
    `vector_io: [${
      ["a", "b"].map((id) =>
        `{provider_id: ${id}, provider_type: "inline::qdrant", config: {path: "${path}", persistence: {backend: kv_default, namespace: ${id}}}}`
      ).join(", ")
    }]`;
  for (const said of bothSay(`${HEAD}providers: {${scoring}}\n`, "0.7.3")) {
    match(said, /providers\.scoring\[1\]: another provider of the scoring API has the same type/);
  }
  for (const said of bothSay(`${HEAD}providers: {${qdrant("${env.UNSET:=/q}")}}\n`, "1.4.1")) {
    match(said, /providers\.vector_io\[1\]\.config\.path: provider "." has the same path/);
  }
  for (const said of bothSay(`${HEAD}providers: {${qdrant("/q/${env.HOSTNAME}")}}\n`, "1.4.1")) {
    doesNotMatch(said, /same folder/);
  }
});

Deno.test("what no server expands is judged as the text that it stays", () => {
  for (const said of bothSay(`${VLLM}server: {workers: "\${env.WORKERS:-4}"}\n`, "1.4.1")) {
    match(said, /server\.workers: .*expected a whole number/);
  }
  const off = VLLM.replace("provider_id: a", 'provider_id: "${env.a:+a}"').replace(
    "base_url: 'http://vllm:8000/v1'",
    "",
  );
  for (const said of bothSay(off, "1.4.1")) match(said, /base_url: required by provider type "remote::vllm"/);
  const stores = "{metadata: {backend: '${env.B:-kv_default}', namespace: r}}";
  for (const said of bothSay(`${VLLM}storage: {stores: ${stores}}\n`, "1.4.1")) {
    match(said, /storage\.stores\.metadata\.backend: not a key-value storage backend/);
  }
});

Deno.test("a model of a service without a key is found in both kinds of own configs, up to 0.5", () => {
  const of = (version: string, key: string) =>
    bothSay(
      `${HEAD}providers: {inference: [{provider_id: o, provider_type: "remote::openai", config: {api_key: ${key}}}]}\n` +
        "registered_resources: {models: [{model_id: m, provider_id: o, provider_model_id: gpt-4o}]}\n",
      version,
    );
  for (const said of of("0.5.4", "'${env.UNSET:=}'")) {
    match(said, /models\[0\]\.provider_id: provider "o" has no API key, .*; write the key in its config, or choose/);
  }
  for (const said of [...of("0.5.4", "sk-1"), ...of("0.7.3", "null")]) doesNotMatch(said, /has no API key/);
});

Deno.test("a default shield that is not registered is found in both kinds of own configs", () => {
  const of = (name: string, version = "0.7.3") =>
    bothSay(
      `${HEAD}providers: {safety: [{provider_id: g, provider_type: "inline::llama-guard", config: {}}], ` +
        'inference: [{provider_id: a, provider_type: "remote::vllm", config: {base_url: "http://v:1/v1"}}]}\n' +
        `registered_resources: {shields: [{shield_id: s, provider_id: g}]}\nsafety: {default_shield_id: ${name}}\n`,
      version,
    );
  for (const said of of("other")) match(said, /safety\.default_shield_id: not a shield that is registered; write "s"/);
  for (const said of [...of("s"), ...of("null")]) doesNotMatch(said, /default_shield_id/);
});

Deno.test("a default shield without the API of shields ends a server, and a base config is merged without it", () => {
  const config = `${VLLM}apis: [inference]\nsafety: {default_shield_id: s}\n`;
  const [ofOverride = "", ofBase] = bothSay(config, "0.7.3");
  match(ofOverride, /safety\.default_shield_id: needs the API safety/);
  strictEqual(ofBase, "");
});

Deno.test("a default shield whose provider is off is none that is registered", () => {
  const config = HEAD + 'providers: {safety: [{provider_id: g, provider_type: "inline::llama-guard", config: {}}]}\n' +
    "registered_resources: {shields: [{shield_id: s, provider_id: g}, " +
    "{shield_id: d, provider_id: '${env.SAFETY_MODEL:+g}', provider_shield_id: '${env.SAFETY_MODEL:=}'}]}\n" +
    "safety: {default_shield_id: d}\n";
  for (const said of bothSay(config, "0.7.3")) match(said, /safety\.default_shield_id: not a shield .*; write "s"/);
});

Deno.test("an endpoint that a variable leaves empty, and tenants without a store, are found in both kinds of own configs", () => {
  const endpoint = (url: string) =>
    bothSay(
      `${HEAD}providers: {inference: [{provider_id: v, provider_type: "remote::vllm", config: {base_url: "${url}"}}]}\n`,
      "1.4.1",
    );
  const env = "${env.UNSET:=";
  for (const said of endpoint(`${env}}`)) match(said, /config\.base_url: required by provider type "remote::vllm"/);
  for (const said of endpoint(`${env}http://v:1/v1}`)) doesNotMatch(said, /required by/);
  const vectors =
    'vector_io: [{provider_id: f, provider_type: "inline::faiss", config: {persistence: {backend: kv_default, namespace: f}}}]';
  const stores = "{stores: {metadata: {backend: kv_default, namespace: r}}}";
  for (
    const said of bothSay(
      `${HEAD}providers: {${vectors}}\nserver: {tenancy: {mode: multi}}\nstorage: ${stores}\n`,
      "1.4.1",
    )
  ) {
    match(said, /storage\.stores\.vector_stores: required beside server\.tenancy\.mode multi/);
  }
});

const isOfLlamaStack = (version: string): boolean => version.startsWith("0.");

/** Of both kinds of own configs; errors of a base config as well. */
const bothSay = (config: string, serverVersion: string): ReadonlyArray<string> =>
  ["overrideConfig", "baseConfig"].map((field) => {
    const configMaps = new Map([["default/mine", { data: { "config.yaml": config }, binaryData: {} }]]);
    const spec = { distribution: { name: "starter", serverVersion }, [field]: { configMapName: "mine" } };
    const result = derive(decoded(spec), { ...SURROUNDINGS, configMaps });
    return Result.isSuccess(result)
      ? warningsOf(result.success).map(({ code, message }) => `${code}: ${message}`).join("\n")
      : result.failure.failures.map(({ message }) => `Error: ${message}`).join("\n");
  });

for (
  const [what, serverVersion, resources, words] of [
    [
      "an embedding model without its dimension",
      "1.4.1",
      "models: [{model_id: e, provider_id: a, model_type: embedding, metadata: {}}]",
      /models\[0\]\.metadata\.embedding_dimension: missing/,
    ],
    [
      "a model twice with another name at its provider",
      "1.4.1",
      "models: [{model_id: m, provider_id: a, provider_model_id: x}, {model_id: m, provider_id: a, provider_model_id: y}]",
      /models\[1\]: the same id as registered_resources\.models\[0\], but another provider_model_id/,
    ],
    [
      "a model twice with other metadata",
      "0.6.1",
      "models: [{model_id: m, provider_id: a, metadata: {b: 1}}, {model_id: m, provider_id: a, metadata: {b: 2}}]",
      /models\[1\]: the same id as .*, but another metadata/,
    ],
    [
      "a dataset twice for another purpose",
      "0.6.1",
      "datasets: [{dataset_id: d, provider_id: l, purpose: eval/question-answer, source: {type: uri, uri: 'file:///a'}}, " +
      "{dataset_id: d, provider_id: l, purpose: eval/messages-answer, source: {type: uri, uri: 'file:///a'}}]",
      /datasets\[1\]: the same id as .*, but another purpose/,
    ],
    [
      "a scoring function on a server that registers none",
      "0.4.7",
      "scoring_fns: [{scoring_fn_id: f, provider_id: j, description: d, return_type: {type: string}}]",
      /scoring_fns\[0\]: this server registers no scoring function; remove it, or use Llama Stack 0\.5 or newer/,
    ],
    [
      "a scoring function of a provider that takes none",
      "0.7.3",
      "scoring_fns: [{scoring_fn_id: f, provider_id: b, description: d, return_type: {type: string}}]",
      /scoring_fns\[0\]\.provider_id: inline::basic takes no functions beside its own; use inline::llm-as-judge/,
    ],
    [
      "a scoring function with the id of another one",
      "0.7.3",
      "scoring_fns: [{scoring_fn_id: 'llm-as-judge::base', provider_id: j, description: d, return_type: {type: string}}]",
      /scoring_fns\[0\]\.scoring_fn_id: the function of a provider has this id/,
    ],
    [
      "a scoring function without a description",
      "0.5.4",
      "scoring_fns: [{scoring_fn_id: f, provider_id: j, return_type: {type: string}}]",
      /scoring_fns\[0\]\.description: missing/,
    ],
  ] as const
) {
  Deno.test(`what the server refuses to register is a warning, and an error in a base config: ${what}`, () => {
    const providers =
      `image_name: my\n${
        VLLM.trimEnd().slice(0, -1)
      }, scoring: [{provider_id: j, provider_type: "inline::llm-as-judge"}, ` +
      '{provider_id: b, provider_type: "inline::basic"}], datasetio: [{provider_id: l, provider_type: "inline::localfs", ' +
      "config: {kvstore: {backend: kv_default, namespace: l}}}]}\n";
    const [ofOverride = "", ofBase = ""] = bothSay(
      `${isOfLlamaStack(serverVersion) ? providers : VLLM}registered_resources: {${resources}}\n`,
      serverVersion,
    );
    match(ofOverride, words);
    match(ofOverride, /^ConfigUnfit: [^\n]*; the server does not start$/);
    match(ofBase, words);
    match(ofBase, /^Error: /);
  });
}

Deno.test("resources with one id are no conflict where the server reads the same, or two ids", () => {
  const models = (list: string) => `${VLLM}registered_resources: {models: [${list}]}\n`;
  for (
    const [serverVersion, list] of [
      ["1.4.1", "{model_id: m, provider_id: a}, {model_id: m, provider_id: a, model_type: llm, metadata: {}}"],
      ["1.4.1", "{model_id: m, provider_id: a}, {model_id: m, provider_id: a, provider_model_id: '${env.M:=m}'}"],
      // Known by the name at the provider.
      [
        "0.6.1",
        "{model_id: m, provider_id: a, provider_model_id: x}, {model_id: m, provider_id: a, provider_model_id: y}",
      ],
    ] as const
  ) deepStrictEqual(said(models(list), { distribution: { name: "starter", serverVersion } }), []);
});

const FAISS =
  "vector_io: [{provider_id: faiss, provider_type: 'inline::faiss', config: {persistence: {backend: kv_default, namespace: f}}}]";

for (
  const [place, model, serverVersion, words] of [
    ["default_embedding_model", "other", "1.4.1", /has only nomic-ai\/nomic-embed-text-v1\.5 of its own/],
    ["default_reranker_model", "Qwen/Qwen3-Reranker-0.6B", "1.1.3", /has no model of type rerank of its own/],
    ["default_reranker_model", "other", "1.4.1", /has only Qwen\/Qwen3-Reranker-0\.6B of its own/],
  ] as const
) {
  Deno.test(`${place} ${model} that the provider does not have on ${serverVersion} stops the server`, () => {
    const config = `${
      inference("{}", "inline::sentence-transformers").replace("providers: {", `providers: {${FAISS}, `)
    }vector_stores: {${place}: {provider_id: a, model_id: ${model}}}\n`;
    const [ofOverride = "", ofBase = ""] = bothSay(config, serverVersion);
    match(ofOverride, words);
    match(ofOverride, /^ConfigUnfit: /m);
    match(ofBase, words);
    match(ofBase, /^Error: /);
  });
}

Deno.test("the reranker of sentence-transformers is found on servers that have it", () => {
  const config = `${
    inference("{}", "inline::sentence-transformers")
  }vector_stores: {default_reranker_model: {provider_id: a, model_id: Qwen/Qwen3-Reranker-0.6B}}\n`;
  deepStrictEqual(said(config), []);
});

Deno.test("of a key that is written twice the server reads the last, and a warning names it with its lines", () => {
  const config = `${HEAD}providers:\n  inference:\n  - provider_id: a\n    provider_type: remote::vllm\n    config:\n` +
    "      base_url: http://vllm:8000/v1\n      max_tokens: many\n      max_tokens: 10\n";
  for (const found of bothSay(config, "1.4.1")) {
    match(
      found,
      /^SettingOverruled: [^\n]*providers\.inference\[0\]\.config\.max_tokens: written twice \(lines 9, 10\)[^\n]*$/,
    );
  }
});

Deno.test("of providers with one id the server uses the last, and so does a config that is made from the base", () => {
  const entry = (host: string) =>
    `{provider_id: a, provider_type: "remote::vllm", config: {base_url: 'http://${host}:8000/v1'}}`;
  const other = '{provider_id: b, provider_type: "remote::openai"}';
  const config = `${HEAD}providers: {inference: [${entry("one")}, ${other}, ${entry("two")}]}\n`;
  for (const found of bothSay(config, "1.4.1")) {
    match(
      found,
      /^ProviderReplaced: .*providers\.inference\[2\]\.provider_id: the same as that of providers\.inference\[0\]/m,
    );
  }
  const configMaps = new Map([["default/mine", { data: { "config.yaml": config }, binaryData: {} }]]);
  const derived = Result.getOrThrow(
    derive(decoded({ distribution: { name: "starter" }, baseConfig: { configMapName: "mine" } }), {
      ...SURROUNDINGS,
      configMaps,
    }),
  );
  ok(derived._tag === "Generated");
  deepStrictEqual(
    listAt(derived.config.tree, "providers", "inference").map((made) => [
      stringAt(made, "provider_id"),
      stringAt(made, "config", "base_url"),
    ]),
    [["a", "http://two:8000/v1"], ["b", undefined]],
  );
});

const STORED = `${VLLM}storage:
  backends: {kv_default: {type: kv_sqlite, db_path: /.llama/k.db}, sql_default: {type: sql_sqlite, db_path: /.llama/s.db}}
  stores:
    metadata: {backend: kv_default, namespace: r}
    inference: {backend: sql_default, table_name: i}
    conversations: {backend: sql_default, table_name: c}
`;

for (
  const [what, config, words] of [
    [
      "models under another name",
      `${STORED}registered_resources: {model: [{model_id: m}]}\n`,
      /registered_resources\.model: .*did you mean models\?/,
    ],
    [
      "a store under another name",
      `${STORED}    prompt: {backend: kv_default, namespace: p}\n`,
      /stores\.prompt: .*did you mean prompts\?/,
    ],
    [
      "a store that nobody has",
      `${STORED}    wholly_else: {backend: kv_default}\n`,
      /stores\.wholly_else: .*it reads .*metadata/,
    ],
    [
      "a field of a store",
      STORED.replace("table_name: i", "table_name: i, num_writer: 2"),
      /stores\.inference\.num_writer: .*did you mean num_writers\?/,
    ],
    [
      "a field of a backend",
      STORED.replace("s.db", "s.db, pool: 3"),
      /backends\.sql_default\.pool: unknown field for backend type/,
    ],
    [
      "a field of a model",
      `${STORED}registered_resources: {models: [{model_id: m, provider_id: a, provider_modelid: x}]}\n`,
      /models\[0\]\.provider_modelid: .*did you mean provider_model_id\?/,
    ],
    [
      "a default of vector stores",
      `${STORED.replace("providers: {", `providers: {${FAISS}, `)}vector_stores: {default_provider: f}\n`,
      /vector_stores\.default_provider: .*did you mean default_provider_id/,
    ],
    [
      "a setting beside config",
      STORED.replace("provider_id: a", "provider_id: a, max_tokens: 3"),
      /inference\[0\]\.max_tokens: .*write it below config/,
    ],
  ] as const
) {
  Deno.test(`a key that the server ignores is a warning: ${what}`, () => {
    for (const found of bothSay(config, "1.4.1")) match(found, new RegExp(`^UnknownSetting: .*${words.source}`, "m"));
  });
}

Deno.test("keys that another server reads, that switch nothing, or that YAML files share are no warning", () => {
  const config =
    `image_name: my\n${STORED}    connectors: {backend: sql_default, table_name: c}\nregistered_resources: {x-shared: [a], model: []}\n`;
  deepStrictEqual(said(config, { distribution: { name: "starter", serverVersion: "0.4.7" } }), []);
});

Deno.test("a default vector store provider that is not there is a warning, because the server starts", () => {
  const config = (id: string) =>
    `${STORED.replace("providers: {", `providers: {${FAISS}, `)}vector_stores: {default_provider_id: ${id}}\n`;
  for (const found of bothSay(config("fais"), "1.4.1")) {
    match(
      found,
      /^DefaultMissing: .*vector_stores\.default_provider_id: no vector_io provider of the config has this id/m,
    );
  }
  for (const found of bothSay(config("faiss"), "1.4.1")) ok(!found.includes("default_provider_id"), found);
});

Deno.test("credentials in clear text are a warning that does not quote them: of a backend, and as the default of a variable", () => {
  const key = "sk-proj-abcdefghijklmnopqrstuvwxyz";
  const postgres = STORED.replace(
    "type: sql_sqlite, db_path: /.llama/s.db",
    "type: sql_postgres, host: d, user: u, password: hunter2",
  );
  const defaulted = inference(`{base_url: 'http://vllm:8000/v1', api_token: '\${env.VLLM_API_TOKEN:=${key}}'}`);
  for (const found of bothSay(postgres, "1.4.1")) {
    match(
      found,
      /^CredentialInSettings: .*storage\.backends\.sql_default\.password: the value is stored in clear text/m,
    );
    ok(!found.includes("hunter2"));
  }
  for (const found of bothSay(defaulted, "1.4.1")) {
    match(found, /^CredentialInSettings: .*api_token: the default of VLLM_API_TOKEN is a credential/m);
    ok(!found.includes(key));
  }
  deepStrictEqual(said(inference("{base_url: 'http://vllm:8000/v1', api_token: '${env.VLLM_API_TOKEN:=fake}'}")), []);
});

Deno.test("a variable in the form of a shell is answered with the form of the server", () => {
  const url = inference("{base_url: '${VLLM_URL}'}");
  const [ofOverride = "", ofBase = ""] = bothSay(url, "1.4.1");
  match(
    ofOverride,
    /^ConfigUnfit: .*base_url: only a shell knows .*; write \$\{env\.VLLM_URL\}; the server does not start$/,
  );
  match(ofBase, /^Error: .*write \$\{env\.VLLM_URL\}/);
  match(
    said(inference("{base_url: 'http://vllm:8000/v1', api_token: '${VLLM_TOKEN}'}")).join(),
    /^VariableUnfit: .*api_token: .*write \$\{env\.VLLM_TOKEN\}$/,
  );
  for (const found of bothSay(inference("{base_url: 'http://${VLLM_HOST}:8000/v1'}"), "1.4.1")) {
    match(found, /base_url: only a shell knows .*write \$\{env\.VLLM_HOST\}/);
  }
});

Deno.test("an authentication that needs a variable is answered with its name", () => {
  const auth = "server: {auth: {provider_config: {type: '${env.AUTH_ISSUER:+oauth2_token}'}}}\n";
  match(
    said(`${VLLM}${auth}`).join(),
    /type is empty unless AUTH_ISSUER is set, so the server accepts every request; set AUTH_ISSUER in spec\.workload/,
  );
});

Deno.test("a provider type with variables is judged by the type that the server reads", () => {
  const of = (type: string, more = "") => said(inference("{base_url: 'http://vllm:8000/v1'}", type) + more, env());
  const where = "ConfigUnfit: in config.yaml, providers.inference[0].provider_type: ";
  const end = "OGX 1.4.1 has no inference provider of this type; the server does not start";
  deepStrictEqual(of("${env.TYPE:=remote::vllm}"), []);
  deepStrictEqual(of("${env.TYPE:=remote::none}"), [`${where}becomes "remote::none", and ${end}`]);
  deepStrictEqual(of("${env.lower:=remote::vllm}").filter((line) => line.startsWith("ConfigUnfit")), [where + end]);
  deepStrictEqual(of("${env.TYPE:=remote::none}", "external_providers_dir: /etc\n"), []);
});

Deno.test("a provider's own copy of vector_stores is judged unless the config has that section", () => {
  const config = (more: string) =>
    `${HEAD}apis: [tool_runtime]\n${more}providers: {tool_runtime: [{provider_id: a, provider_type: "inline::file-search", ` +
    "config: {vector_stores_config: {file_search_params: {header_template: x}}}}]}\n";
  const about = (text: string) => said(text).filter((line) => line.includes("vector_stores_config"));
  match(
    about(config(""))[0] ?? "",
    /^ConfigUnfit: .*header_template: .*expected a text with \{num_chunks\}.*; the server does not start$/,
  );
  match(about(config("vector_stores: {}\n"))[0] ?? "", /^SettingOverruled: .*the section vector_stores instead/);
});

Deno.test("a folder in the place of a database, and a file in an address of MongoDB that nothing mounts, are warnings", () => {
  const of = (backend: string) =>
    said(`${HEAD}providers: {inference: []}\nstorage: {backends: {sql_default: ${backend}, x: ${backend}}}\n`).join(
      "\n",
    );
  const uri = (file: string) => `{type: kv_mongodb, host: "mongodb://m/?tls=true&tlsCAFile=${file}"}`;
  match(of(uri("/nowhere/ca.crt")), /FileNotMounted: .*no volume of the pod contains "\/nowhere\/ca.crt"/);
  doesNotMatch(of(uri("/.llama/ca.crt")), /FileNotMounted/);
  match(of("{type: sql_sqlite, db_path: /tmp}"), /FileNotMounted: .*"\/tmp" is a folder in the pod/);
  doesNotMatch(of("{type: sql_sqlite, db_path: /tmp/x.db}"), /FileNotMounted/);
});

Deno.test("one key of AWS alone is no credential, and the warning names the other", () => {
  const config = `${HEAD}providers: {files: [{provider_id: a, provider_type: "remote::s3", ` +
    "config: {bucket_name: b, region: us-east-1, aws_access_key_id: x, " +
    "metadata_store: {backend: sql_default, table_name: f}}}]}\n";
  match(
    said(config).join("\n"),
    /files provider "a" has aws_access_key_id alone, which is not used, .*; set aws_secret_access_key$/m,
  );
});

Deno.test("an API that comes of a variable is judged by the name that the server reads, if that is known", () => {
  const config = (api: string) => `${HEAD}apis: [inference, "${api}"]\nproviders: {inference: []}\n`;
  const about = (api: string, spec?: JsonObject) => said(config(api), spec).filter((line) => line.includes("API"));
  deepStrictEqual(about("${env.B:=tool_runtime}"), []);
  deepStrictEqual(about("${env.B}", { workload: { overrides: { envFrom: [{ secretRef: { name: "s" } }] } } }), []);
  match(about("${env.B:=tools}")[0] ?? "", /apis\[1\]: becomes "tools", and OGX 1\.4\.1 has no API of this name/);
  match(
    about("${env.B:=x}", env({ name: "B", value: "batches" }))[0] ?? "",
    /names the API batches, which no provider/,
  );
});
