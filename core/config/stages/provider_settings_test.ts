import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { failures, generated, rejected, secret, warnings } from "../../../tests/given.ts";
import { formatPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";

const AT = "spec.providers.inference[0]";
const spec = (provider: object) =>
  ({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", ...provider }] },
  }) as never;

for (const value of ["lots", 5.5, [], {}, null]) {
  Deno.test(`settingFindings() rejects ${JSON.stringify(value)} where the provider expects a whole number`, () =>
    deepStrictEqual(failures(spec({ settings: { max_tokens: value } })), [
      `SettingInvalid at ${AT}.settings.max_tokens`,
    ]));
}

for (const value of ["4096", " 4096 ", 4096, true, "${env.HOSTNAME}"]) {
  Deno.test(`settingFindings() accepts ${JSON.stringify(value)} as a whole number, as the server does`, () =>
    deepStrictEqual(warnings(spec({ settings: { max_tokens: value } })), []));
}

Deno.test("settingFindings() names the expected type and quotes no value", () => {
  strictEqual(
    rejected(spec({ settings: { refresh_models: "hunter2" } })).failures[0]?.message,
    `${AT}.settings.refresh_models: wrong type for provider type "remote::vllm"; expected true or false`,
  );
});

for (
  const [settings, field, instead] of [
    [{ api_token: secret("s", "k") }, "api_token", "use apiKey"],
    [{ tls_verify: secret("s", "k") }, "tls_verify", "use secretRefs.tls_verify"],
    [{ api_token: { valueFrom: secret("s", "k") } }, "api_token", "use apiKey"],
    [
      { network: { tls: { key: secret("s", "k") } } },
      "network.tls.key",
      "write ${env.NAME} with its name here",
    ],
    [{ network: secret("s", "k") }, "network", "use secretRefs.network"],
  ] as const
) {
  Deno.test(`settingFindings() rejects a reference to a Secret in settings.${field}`, () => {
    deepStrictEqual(failures(spec({ settings })), [`SettingInvalid at ${AT}.settings.${field}`]);
    ok(rejected(spec({ settings })).failures[0]?.message.endsWith(instead));
  });
}

Deno.test("settingFindings() warns of a credential in clear text and does not print it", () => {
  const clear = spec({ settings: { api_token: "hunter2" } });
  deepStrictEqual(warnings(clear), [`CredentialInSettings at ${AT}.settings.api_token`]);
  ok(generated(clear).config.warnings.every(({ message }) => !message.includes("hunter2")));
  deepStrictEqual(warnings(spec({ settings: { api_token: "${env.VLLM_TOKEN:=}" } })), []);
});

Deno.test("settingFindings() warns of a setting that a section of the config replaces", () => {
  const provider = {
    provider: "inline::file-search",
    settings: { vector_stores_config: { file_search_params: { header_template: "x" } } },
  };
  deepStrictEqual(warnings({ providers: { toolRuntime: [provider] } } as never), [
    "SettingOverruled at spec.providers.toolRuntime[0].settings.vector_stores_config",
  ]);
});

Deno.test("doubledFields() rejects two fields for the same key of the provider", () => {
  deepStrictEqual(failures(spec({ secretRefs: { base_url: secret("s", "k") } })), [
    `RuleBroken at ${AT}.secretRefs.base_url`,
  ]);
  const keyed = spec({ apiKey: secret("s", "k"), secretRefs: { api_token: secret("s", "k") } });
  strictEqual(
    rejected(keyed).failures[0]?.message,
    `${AT}.secretRefs.api_token: sets the same field of the provider as apiKey: "api_token"; remove one of the two`,
  );
});

Deno.test("strayFindings() names the field that the author wrote", () => {
  deepStrictEqual(warnings(spec({ settings: { maxtokens: 1 }, secretRefs: { api_key: secret("s", "k") } })), [
    `UnknownSetting at ${AT}.settings.maxtokens`,
    `UnknownSetting at ${AT}.secretRefs.api_key`,
  ]);
});

Deno.test("settingFindings() checks the maps inside settings, such as network", () => {
  const network = (value: object) => spec({ settings: { network: value } });
  deepStrictEqual(
    failures(network({ timeout: "soon", tls: { min_version: "TLSv1.0" } })),
    [
      `SettingInvalid at ${AT}.settings.network.timeout`,
      `SettingInvalid at ${AT}.settings.network.tls.min_version`,
    ],
  );
  deepStrictEqual(failures(network({ timeout: { connect: "soon" } })), [
    `SettingInvalid at ${AT}.settings.network.timeout.connect`,
  ]);
  deepStrictEqual(warnings(network({ tmeout: 5, tls: { verfy: false } })), [
    `UnknownSetting at ${AT}.settings.network.tmeout`,
    `UnknownSetting at ${AT}.settings.network.tls.verfy`,
  ]);
  deepStrictEqual(warnings(network({ timeout: 5, headers: { "x-team": "a" }, tls: { verify: false } })), []);
});

Deno.test("settingFindings() warns of a file that no volume of the pod contains", () => {
  const verify = (file: string, more: object = {}) => ({
    ...(spec({ settings: { network: { tls: { verify: file } } } }) as object),
    ...more,
  } as never);
  const mounted = {
    workload: {
      overrides: {
        volumes: [{ name: "ca", configMap: { name: "ca" } }],
        volumeMounts: [{ name: "ca", mountPath: "/certs/" }],
      },
    },
  };
  const found = [`FileNotMounted at ${AT}.settings.network.tls.verify`];
  deepStrictEqual(warnings(verify("/certs/ca.crt")), found);
  deepStrictEqual(warnings(verify("/certificates/ca.crt", mounted)), found);
  // The volume is a folder.
  deepStrictEqual(warnings(verify("/certs", mounted)), found);
  for (const file of ["/certs/ca.crt", "/.llama/ca.crt", "/etc/ssl/certs/ca-certificates.crt"]) {
    deepStrictEqual(warnings(verify(file, mounted)), [], file);
    deepStrictEqual(warnings(verify(`\${env.CA:=${file}}`, mounted)), [], file);
  }
  deepStrictEqual(warnings(verify("${env.CA:=/x}", mounted)), found);
});

Deno.test("a file that the client of Milvus reads when the server starts is a warning if no volume has it", () => {
  const found = (serverVersion: string) =>
    warnings({
      distribution: { name: "starter", serverVersion },
      providers: {
        vectorIo: [{
          provider: "remote::milvus",
          endpoint: "https://m:19530",
          settings: { server_pem_path: "/certs/m" },
        }],
      },
    } as never).filter((warning) => warning.startsWith("FileNotMounted"));
  deepStrictEqual(found("1.0"), ["FileNotMounted at spec.providers.vectorIo[0].settings.server_pem_path"]);
  deepStrictEqual(found("1.5"), []);
});

Deno.test("settingFindings() asks for no file of a setting in whose place network.tls counts", () => {
  const settings = { tls_verify: "/nowhere/ca.crt", network: { tls: { verify: true } } };
  deepStrictEqual(warnings(spec({ settings })), [`SettingOverruled at ${AT}.settings.tls_verify`]);
  const variable = { ...settings, tls_verify: "${env.CA:=/nowhere/ca.crt}" };
  deepStrictEqual(warnings(spec({ settings: variable })), [`SettingOverruled at ${AT}.settings.tls_verify`]);
  deepStrictEqual(warnings(spec({ settings: { ...settings, network: { timeout: 5 } } })), [
    `FileNotMounted at ${AT}.settings.tls_verify`,
  ]);
});

Deno.test("settingFindings() requires what a store inside settings needs", () => {
  const faiss = (persistence: object) =>
    ({ providers: { vectorIo: [{ id: "f", provider: "inline::faiss", settings: { persistence } }] } }) as never;
  deepStrictEqual(failures(faiss({ backend: "kv_default" })), [
    "SettingInvalid at spec.providers.vectorIo[0].settings.persistence",
  ]);
  ok(!warnings(faiss({ backend: "kv_default", namespace: "f" })).some((warning) => warning.includes("settings")));
});

Deno.test("settingFindings() warns of credentials inside maps and URLs", () => {
  const network = {
    proxy: { url: "http://u:hunter2@proxy:3128" },
    headers: { Authorization: "Bearer hunter2", team: "a" },
  };
  deepStrictEqual(warnings(spec({ settings: { network } })), [
    `CredentialInSettings at ${AT}.settings.network.proxy.url`,
    `CredentialInSettings at ${AT}.settings.network.headers.Authorization`,
  ]);
});

Deno.test("settingFindings() rejects what the type of a nested field, an item or a URL excludes", () => {
  const settings = (value: object) => failures(spec({ settings: value }));
  deepStrictEqual(settings({ allowed_models: [1, "a"] }), [`SettingInvalid at ${AT}.settings.allowed_models`]);
  deepStrictEqual(settings({ max_tokens: "${env.foo}" }), [`SettingInvalid at ${AT}.settings.max_tokens`]);
  deepStrictEqual(settings({ network: { tls: { verify: "no" } } }), [
    `SettingInvalid at ${AT}.settings.network.tls.verify`,
  ]);
  deepStrictEqual(settings({ tls_verify: "no" }), [`SettingInvalid at ${AT}.settings.tls_verify`]);
  const url = (base_url: string) =>
    failures({ providers: { inference: [{ provider: "vllm", settings: { base_url } }] } } as never);
  for (const value of ["vllm:8000", "ftp://x", "http://"]) {
    deepStrictEqual(url(value), [`SettingInvalid at ${AT}.settings.base_url`], value);
  }
});

Deno.test("settingFindings() accepts placeholders where the server expands them first", () => {
  const pgvector = (settings: object) =>
    ({
      distribution: { name: "ogx-starter" },
      providers: {
        vectorIo: [{ id: "p", provider: "pgvector", endpoint: "db:5432", apiKey: secret("s", "k"), settings }],
      },
    }) as never;
  deepStrictEqual(warnings(pgvector({ vector_index: { type: "${env.VT:=HNSW}" } })), []);
  const passthrough = {
    provider: "passthrough",
    endpoint: "http://p",
    settings: { forward_headers: { a: "${env.H:=X-A}" } },
  };
  deepStrictEqual(warnings({ providers: { inference: [passthrough] } } as never), []);
});

Deno.test("settingFindings() rejects values of maps of another type, addresses in settings, and nested placeholders", () => {
  const settings = (value: object) => failures(spec({ settings: value }));
  for (const value of [42, null, ["a"]]) {
    deepStrictEqual(settings({ network: { headers: { "X-A": value } } }), [
      `SettingInvalid at ${AT}.settings.network.headers`,
    ]);
  }
  deepStrictEqual(settings({ max_tokens: "${env.A:=${env.B}}" }), [`SettingInvalid at ${AT}.settings.max_tokens`]);
  const elastic = { provider: "elasticsearch", settings: { elasticsearch_url: "es:9200" }, apiKey: secret("s", "k") };
  deepStrictEqual(
    failures({ distribution: { name: "ogx-starter" }, providers: { vectorIo: [{ id: "e", ...elastic }] } } as never),
    [
      "SettingInvalid at spec.providers.vectorIo[0].settings.elasticsearch_url",
    ],
  );
});

Deno.test("settings() warn of a file whose folder nobody creates", () => {
  const of = (db_path: string, overrides: JsonObject = {}) =>
    generated({
      distribution: { name: "ogx-starter" },
      providers: { vectorIo: [{ provider: "inline::milvus", settings: { db_path } }] },
      workload: { overrides },
    } as never).config.warnings.filter(({ code }) => code === "FileNotMounted").map(({ path }) => formatPath(path));
  const place = "spec.providers.vectorIo[0].settings.db_path";
  deepStrictEqual(of("/data/milvus.db"), [place]);
  deepStrictEqual(of("/.llama/milvus/milvus.db"), [place]);
  deepStrictEqual(of("~/milvus/milvus.db"), [place]);
  deepStrictEqual(of("./milvus/milvus.db"), [place]);
  for (const file of ["/.llama/milvus.db", "~/.llama/milvus.db", "./milvus.db"]) deepStrictEqual(of(file), [], file);
  deepStrictEqual(of("${env.SQLITE_STORE_DIR}/milvus.db"), []);
  const volumes = [{ name: "data", emptyDir: {} }];
  deepStrictEqual(of("/data/milvus.db", { volumes, volumeMounts: [{ name: "data", mountPath: "/data/" }] }), []);
});

Deno.test("checkSettings() wants the type of a map whose class it decides", () => {
  const of = (vector_index: JsonObject) => ({
    distribution: { name: "starter", serverVersion: "0.7" },
    providers: { vectorIo: [{ provider: "remote::pgvector", settings: { vector_index } }] },
  });
  const at = "SettingInvalid at spec.providers.vectorIo[0].settings.vector_index.type";
  deepStrictEqual(failures(of({})), [at]);
  deepStrictEqual(failures(of({ type: "Flat" })), [at]);
});
