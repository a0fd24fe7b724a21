import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { SURROUNDINGS } from "../../tests/given.ts";
import { at, type JsonObject, listAt, objectAt } from "../data/json.ts";
import { readManifests, writeYaml } from "../data/yaml.ts";
import * as Result from "effect/Result";
import { objectText } from "../import/object_text.ts";
import { importCommand, type ImportCommandOptions } from "./import.ts";
import { PLAIN } from "./outcome.ts";

const OPTIONS: ImportCommandOptions = {
  name: undefined,
  namespace: undefined,
  serverVersion: undefined,
  distribution: undefined,
  envFile: undefined,
  keepData: false,
  to: undefined,
  check: false,
  format: "yaml",
  style: PLAIN,
};
const imported = (text: string | ReadonlyArray<string>, options: Partial<ImportCommandOptions> = {}) =>
  importCommand(
    [text].flat().map((one, index) => ({ name: `f${index}.yaml`, text: one })),
    SURROUNDINGS,
    { ...OPTIONS, ...options },
  );
const resourceOf = (stdout: string): JsonObject => Result.getOrThrow(readManifests(stdout))[0] as JsonObject;
const specOf = (text: string | ReadonlyArray<string>, options: Partial<ImportCommandOptions> = {}): JsonObject =>
  objectAt(resourceOf(imported(text, options).stdout), "spec");

const STORES = {
  backends: {
    kv_default: { type: "kv_sqlite", db_path: "/data/kv.db" },
    sql_default: { type: "sql_sqlite", db_path: "/data/sql.db" },
  },
  stores: {
    metadata: { backend: "kv_default", namespace: "registry" },
    inference: { backend: "sql_default", table_name: "inference_store" },
    conversations: { backend: "sql_default", table_name: "conversations" },
  },
};
const VLLM: JsonObject = {
  provider_id: "vllm",
  provider_type: "remote::vllm",
  config: { base_url: "${env.VLLM_URL}", api_token: "${env.VLLM_TOKEN}" },
};
const FAISS: JsonObject = {
  provider_id: "faiss",
  provider_type: "inline::faiss",
  config: { persistence: { backend: "kv_default", namespace: "n" } },
};
const configOf = (inference: ReadonlyArray<JsonObject>, more: JsonObject = {}): string =>
  writeYaml({
    version: 2,
    distro_name: "starter",
    apis: ["inference"],
    providers: { inference },
    storage: STORES,
    ...more,
  });
const SMALL = configOf([VLLM], {
  registered_resources: { models: [{ model_id: "granite", provider_id: "vllm", model_type: "llm" }] },
});

Deno.test("importCommand() prints the short resource, and the proof with what is to be done", () => {
  const { stdout, stderr, code } = imported(SMALL, { name: "chat", namespace: "team", serverVersion: "0.7.1" });
  strictEqual(
    stdout,
    `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: chat
  namespace: team
spec:
  distribution:
    name: starter
    serverVersion: "0.7.1"
  providers:
    inference:
      - provider: vllm
        endpoint: \${env.VLLM_URL}
        apiKey:
          secretKeyRef:
            name: chat-secrets
            key: VLLM_TOKEN
  resources:
    models:
      - name: granite
        provider: vllm
  disabled: [batches, datasetIo, eval, fileProcessors, files, inference/*, responses, safety, scoring, toolRuntime, vectorIo]
  workload:
    overrides:
      env:
        - name: VLLM_URL
          value: https://TO-FILL-IN
`,
  );
  const lines = stderr.split("\n");
  deepStrictEqual(lines.slice(0, 6), [
    "f0.yaml: Llama Stack 0.7.1, distribution starter",
    "equals your config",
    "create before you apply:",
    "  kubectl create secret generic chat-secrets -n team --from-literal=VLLM_TOKEN=YOUR_VLLM_TOKEN",
    "fill in (spec.workload.overrides.env):",
    "  VLLM_URL",
  ]);
  strictEqual(code, 0);
});

Deno.test("importCommand() guesses the server, and names those that fit as well", () => {
  match(imported(SMALL).stderr, /^f0\.yaml: OGX 1\.4\.1, distribution starter; fits .*0\.7, 0\.8.* as well/);
  const old = configOf([{ provider_id: "o", provider_type: "remote::ollama", config: { url: "http://o:11434" } }]);
  match(imported(old).stderr, /^f0\.yaml: Llama Stack 0\.3\.5/);
});

Deno.test("importCommand() never prints a secret, wherever it stands in clear text", () => {
  const canary = "canary-0123456789";
  const text = configOf([
    { ...VLLM, config: { base_url: "http://v/v1", api_token: canary } },
    {
      provider_id: "two",
      provider_type: "remote::vllm",
      config: { base_url: "http://v/v1", api_token: `\${env.K:=${canary}}` },
    },
    {
      provider_id: "net",
      provider_type: "remote::vllm",
      config: { base_url: `http://u:${canary}@v/v1`, network: { headers: { Authorization: `Bearer ${canary}` } } },
    },
    { provider_id: "odd", provider_type: "remote::unknown", config: { deep: [{ client_secret: canary }] } },
    ...[
      `http://v/v1?key=${canary}`,
      `http://v/v1?a=b&sig=${canary}`,
      `http://v/v1?access_token=${canary}`,
      `http://${canary}@v/v1`,
      `\${env.E_URL:=https://u:${canary}@host/v1}`,
      `https://u:\${env.E_WORD:=${canary}}@host/v1`,
      `\${env.E_ON:+https://${canary}@host/v1}`,
    ].map((base_url, index) => ({
      provider_id: `url${index}`,
      provider_type: "remote::vllm",
      config: { base_url, api_token: `\${env.F_ON:+${canary}}` },
    })),
  ], {
    storage: {
      ...STORES,
      backends: {
        kv_default: { type: "kv_postgres", host: "db", db: "d", user: "u", password: canary },
        sql_default: { type: "sql_postgres", host: "db", db: "d", user: "u", password: canary },
      },
    },
    server: {
      auth: {
        provider_config: {
          type: "oauth2_token",
          introspection: { url: "http://i", client_id: "c", client_secret: canary },
        },
      },
    },
    registered_resources: {
      models: [{ model_id: "m", provider_id: "vllm", metadata: { api_key: canary, note: `bearer ${canary}` } }],
    },
  });
  const envFile = { name: "env", text: `OTHER_TOKEN=${canary}\nexport VLLM_URL="http://u:${canary}@h/v1"\n` };
  const custom = configOf([VLLM], {
    server: { auth: { provider_config: { type: "custom", endpoint: `https://auth/validate?secret=${canary}` } } },
  });
  ok(!Object.values(imported(custom)).join().includes(canary));
  for (const version of [undefined, "0.3.5", "0.7.1", "1.4.1"]) {
    for (const options of [{}, { keepData: true }, { to: "ogx-starter" }, { format: "json" as const }]) {
      const { stdout, stderr } = imported(text, { ...options, serverVersion: version, envFile });
      ok(!`${stdout}${stderr}`.includes(canary), `${version} ${JSON.stringify(options)}\n${stdout}${stderr}`);
    }
  }
});

Deno.test("importCommand() never prints the password of Redis, which stands in the host, and keeps its user", () => {
  const canary = "canary-0123456789";
  const withKv = (kv: JsonObject) =>
    configOf([VLLM], { storage: { ...STORES, backends: { ...STORES.backends, kv_default: kv } } });
  const ref = (key: string) => ({ secretKeyRef: { name: "llama-stack-secrets", key } });
  const own = ref("BACKENDS_KV_DEFAULT_PASSWORD");
  const envFile = { name: "env", text: `REDIS_HOST=user:${canary}@redis\nREDIS_WORD=${canary}\n` };
  for (
    const [host, expected] of [
      [`user:${canary}@redis`, { endpoint: "redis://user@redis:6380", password: own }],
      [`:${canary}@redis`, { endpoint: "redis:6380", password: own }],
      [`user:${canary}@@/:${canary}@redis`, { endpoint: "redis://user@redis:6380", password: own }],
      ["user:${env.REDIS_WORD}@redis", { endpoint: "redis://user@redis:6380", password: ref("REDIS_WORD") }],
      ["user@redis", { endpoint: "redis://user@redis:6380" }],
      [`user:${canary}@[::1]`, undefined],
      [`user:${canary}@\${env.PLACE}`, undefined],
      [`\${env.REDIS_HOST:=user:${canary}@redis}`, undefined],
      [`user:\${env.REDIS_WORD:=${canary}}@redis`, {
        endpoint: "redis://user@redis:6380",
        password: ref("REDIS_WORD"),
      }],
      ["${env.REDIS_HOST}", undefined],
    ] as const
  ) {
    for (const options of [{}, { envFile }, { keepData: true, format: "json" as const }]) {
      const { stdout, stderr } = imported(withKv({ type: "kv_redis", host, port: 6380 }), {
        ...options,
        serverVersion: "1.4.1",
      });
      ok(!`${stdout}${stderr}`.includes(canary), `${host}\n${stdout}${stderr}`);
      match(stderr, /^equals your config$/m, host);
      const kv = at(resourceOf(stdout), "spec", "storage", "kv");
      deepStrictEqual(kv, expected === undefined ? undefined : { type: "redis", ...expected }, host);
      strictEqual(at(resourceOf(stdout), "spec", "storage", "backends") === undefined, expected !== undefined, host);
    }
    const old = configOf([VLLM], { metadata_store: { type: "redis", host, port: 6380 }, storage: {} });
    const { stdout, stderr } = imported(old, { envFile, serverVersion: "0.2.22" });
    ok(!`${stdout}${stderr}`.includes(canary), `${host}\n${stdout}${stderr}`);
  }
});

Deno.test("importCommand() never prints a variable of a workload that lint takes for a secret, nor headers", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  for (
    const [name, value] of [
      ["VLLM_API_TOKEN_1", "canary"],
      ["OPENAI_API_KEY2", "canary"],
      ["DB_PASSWORD_2", "canary"],
      ["OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer canary"],
      ["OTEL_EXPORTER_OTLP_HEADERS", "x-honeycomb-team=canary"],
      ["SETTINGS", '{"service": {"api_key": "canary"}}'],
    ]
  ) {
    const container = {
      image: "llamastack/distribution-starter:0.7.1",
      env: [{ name, value }],
      volumeMounts: [{ name: "v", mountPath: "/etc/x" }],
    };
    const pod = { containers: [container], volumes: [{ name: "v", configMap: { name: "c" } }] };
    const deployment = { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } };
    const found = imported([map, deployment].map(writeYaml).join("---\n"));
    ok(!Object.values(found).join().includes("canary"), found.stdout);
    match(found.stdout, new RegExp(`key: ${name}\n`));
    const envFile = { name: "env", text: `${name}='${value}'\n` };
    ok(!Object.values(imported(configOf([VLLM]), { envFile })).join().includes("canary"));
  }
});

Deno.test("importCommand() knows secrets by their shape, and withholds headers whose name says nothing", () => {
  const tail = "canary0123456789abcdefghij";
  const tokens = [
    `sk-proj-${tail}`,
    `ghp_${tail}`,
    `gho_${tail}`,
    `github_pat_${tail}`,
    `glpat-${tail}`,
    `xoxb-${tail}`,
    `hf_${tail}`,
    `eyJhbGciOiJIUzI1NiJ9.${tail}.${tail}`,
    "AKIACANARY0123456789",
  ];
  const isClean = (text: string) => !/canary/i.test(text);
  for (const token of tokens) {
    const text = configOf(
      [{ ...VLLM, config: { base_url: "http://v/v1", network: { headers: { "X-Mine": token } } } }],
      {
        registered_resources: {
          models: [{ model_id: "${env.PLAIN}", provider_id: "vllm", metadata: { note: `use ${token}` } }],
        },
      },
    );
    const { stdout, stderr } = imported(text, { envFile: { name: "env", text: `PLAIN=${token}\nPGPASS=canary\n` } });
    ok(isClean(`${stdout}${stderr}`), `${token}\n${stdout}${stderr}`);
  }
  const headers = {
    Accept: "text/plain",
    "X-Tenant-Auth": "canary",
    "X-From-File": "${env.MINE}",
    "X-Default": "${env.OTHER:=canary}",
    "X-Number": 4711,
  };
  const text = configOf([{ ...VLLM, config: { base_url: "http://v/v1", network: { headers } } }]);
  const { stdout, stderr } = imported(text, {
    serverVersion: "1.4.1",
    envFile: { name: "env", text: "MINE=canary\nVLLM_TOKEN=t\n" },
  });
  ok(isClean(`${stdout}${stderr}`) && !stdout.includes("4711"), `${stdout}${stderr}`);
  match(stdout, /Accept: text\/plain\n/);
  match(stderr, /^equals your config$/m);
  const forwarding = {
    provider_id: "p",
    provider_type: "inline::passthrough",
    config: { forward_headers: { a: "Bearer canary" } },
  };
  const safety = configOf([VLLM], {
    apis: ["inference", "safety"],
    providers: { inference: [VLLM], safety: [forwarding] },
  });
  ok(isClean(Object.values(imported(safety)).join()));
  // Words of names and models that look alike.
  const names = ["sk-learn", "disk-0123456789abcdefghij", "task_hf_model", "user:name", "compass", "bypass"];
  const models = names.map((model_id) => ({ model_id, provider_id: "vllm" }));
  const plain = imported(configOf([VLLM], { registered_resources: { models } }));
  for (const name of names) ok(plain.stdout.includes(name), name);
});

Deno.test("importCommand() takes a variable for a secret whose name does not say so, where it is read as one", () => {
  const canary = "canary-0123456789";
  const envFile = { name: "env", text: `MINE=${canary}\nPG_WORD=${canary}\n` };
  const base = "postgres-demo";
  const text = configOf([{ ...VLLM, config: { base_url: "http://v/v1", api_token: "${env.MINE:=}" } }], {
    storage: {
      ...STORES,
      backends: {
        kv_default: { type: "kv_postgres", host: "db", db: "d", user: "u", password: "${env.PG_WORD:=}" },
        sql_default: { type: "sql_postgres", host: "db", db: "d", user: "u", password: "${env.PG_WORD:=}" },
      },
    },
  });
  const { stdout, stderr } = imported(text, { envFile, distribution: base, serverVersion: "1.4.1" });
  ok(!`${stdout}${stderr}`.includes(canary), stdout);
  match(stderr, /--from-literal=MINE=YOUR_MINE/);
});

Deno.test("importCommand() keeps keys that stand for none, and refers to all others", () => {
  const keyed = (api_token: string) =>
    listAt(
      specOf(configOf([{ ...VLLM, config: { base_url: "http://v/v1", api_token } }])),
      "providers",
      "inference",
    )[0];
  deepStrictEqual(at(keyed("${env.K:=fake}"), "settings"), { api_token: "${env.K:=fake}" });
  for (
    const [value, key] of [["${env.K}", "K"], ["${env.K:=}", "K"], ["${env.K:=sk-4711}", "K"], [
      "sk-4711",
      "VLLM_API_TOKEN",
    ]] as const
  ) {
    strictEqual(at(keyed(value), "apiKey", "secretKeyRef", "key"), key, value);
  }
});

Deno.test("importCommand() writes the values of --env-file, and switches on what they switch on", () => {
  const text = configOf([
    VLLM,
    {
      provider_id: "${env.AZURE_KEY:+azure}",
      provider_type: "remote::azure",
      config: { api_key: "${env.AZURE_KEY:=}", base_url: "${env.AZURE_URL:=http://a/v1}" },
    },
  ]);
  match(imported(text).stderr, /left out:\n {2}inference\/azure \(AZURE_KEY\)/);
  const envFile = { name: "env", text: "VLLM_URL=http://v:1/v1\nVLLM_TOKEN=t\nAZURE_KEY='k'\n# comment\n" };
  const [vllm, azure] = listAt(specOf(text, { envFile, serverVersion: "1.4.1" }), "providers", "inference");
  strictEqual(at(vllm, "endpoint"), "http://v:1/v1");
  deepStrictEqual([at(azure, "id"), at(azure, "endpoint")], ["azure", "http://a/v1"]);
});

Deno.test("importCommand() reads --env-file as Compose does", () => {
  const names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
  const models = names.map((name) => ({ model_id: `\${env.${name}:=unset-${name}}`, provider_id: "vllm" }));
  const text = [
    'A="a b" # of a\r',
    "B='b # b'",
    "C=c#c # of c",
    "export D=d",
    "  E = e  ",
    'F="f\\"f"',
    'G="g',
    "# H=h",
    "H= # empty",
    "I='i\\'i'",
  ].join("\n");
  const { stdout } = imported(configOf([VLLM], { registered_resources: { models } }), {
    envFile: { name: "env", text },
    serverVersion: "1.4.1",
  });
  deepStrictEqual(
    listAt(resourceOf(stdout), "spec", "resources", "models").map((model) => at(model, "name")),
    ["a b", "b # b", "c#c", "d", "e", 'f"f', '"g', "unset-H", "i'i"],
  );
});

Deno.test("importCommand() says what is lost, keeps all of it in a comment, and fails with --check", () => {
  const own = { provider_id: "own", provider_type: "remote::own", module: "own==1", config: {} };
  const text = configOf([VLLM, own], { apis: ["inference"] });
  const { stdout, stderr, code } = imported(text, { check: true, name: "n" });
  strictEqual(code, 1);
  match(
    stderr,
    /equals your config, except:\n {2}lost: inference provider own: unsupported inference provider type "remote::own" for /,
  );
  match(stderr, /kubectl create configmap n-config --from-file=config\.yaml=FILE/);
  const kept = stdout.slice(stdout.indexOf("# apiVersion")).replaceAll(/^# /gm, "");
  deepStrictEqual(objectAt(resourceOf(kept), "spec", "baseConfig"), { configMapName: "n-config" });
  deepStrictEqual(
    listAt(resourceOf(kept), "spec", "workload", "overrides", "env").map((env) => at(env, "name")),
    ["VLLM_TOKEN", "VLLM_URL"],
  );
  strictEqual(imported(SMALL, { check: true }).code, 0);
});

Deno.test("importCommand() keeps as many providers as a list of the resource holds, and says why it leaves out the others", () => {
  const many = Array.from({ length: 34 }, (_, index) => ({
    provider_id: `v${index}`,
    provider_type: "remote::vllm",
    config: { base_url: `http://v${index}/v1` },
  }));
  const { stdout, stderr } = imported(configOf(many), { serverVersion: "1.4.1" });
  strictEqual(listAt(resourceOf(stdout), "spec", "providers", "inference").length, 32);
  deepStrictEqual(stderr.split("\n").filter((line) => line.includes("lost")), [
    "  lost: inference provider v32: spec.providers.inference holds at most 32",
    "  lost: inference provider v33: spec.providers.inference holds at most 32",
  ]);
});

Deno.test("importCommand() gives each lost field of vector_stores its own reason", () => {
  const text = configOf([VLLM], {
    apis: ["inference", "vector_io"],
    vector_stores: {
      annotation_prompt_params: { enable_annotations: false },
      file_ingestion_params: { default_chunk_size_tokens: 9000, default_chunk_overlap_tokens: 400 },
      chunk_retrieval_params: { default_search_mode: "odd", chunk_multiplier: 9 },
    },
    providers: {
      inference: [VLLM],
      vector_io: [FAISS],
    },
  });
  const { stderr } = imported(text, { serverVersion: "1.4.1" });
  const why = (field: string) => {
    const line = stderr.split("\n").find((one) => one.includes(`lost: ${field} of vector_stores: `)) ?? "";
    return line.slice(line.indexOf("vector_stores: ") + "vector_stores: ".length);
  };
  const none = "no field of the resource has it";
  deepStrictEqual(
    ["annotation_prompt_params.enable_annotations", "chunk_retrieval_params.chunk_multiplier"].map(why),
    [none, none],
  );
  match(why("file_ingestion_params.default_chunk_size_tokens"), /^Expected a whole number .* got 9000$/);
  match(why("file_ingestion_params.default_chunk_overlap_tokens"), /^Expected a whole number .* got 9000$/);
  match(why("chunk_retrieval_params.default_search_mode"), /^Expected one of .* got "odd"$/);
});

Deno.test("importCommand() says that a password in a URL is percent-encoded", () => {
  const sql = { type: "sql_postgres", host: "db", db: "d", user: "u", password: "${env.PG}" };
  const text = configOf([VLLM], {
    storage: { ...STORES, backends: { ...STORES.backends, sql_default: sql } },
  });
  match(imported(text).stderr, /postgres:\/\/u:YOUR_PASSWORD@db:5432\/d.*\n {2}special characters of a password .*%40/);
  ok(!imported(SMALL).stderr.includes("percent-encoded"));
});

Deno.test("importCommand() keeps the stores of providers where they are with --keep-data", () => {
  const persistence = { backend: "kv_default", namespace: "mine" };
  const text = configOf([VLLM], {
    apis: ["inference", "vector_io"],
    providers: {
      inference: [VLLM],
      vector_io: [{ provider_id: "faiss", provider_type: "inline::faiss", config: { persistence } }],
    },
  });
  match(imported(text).stderr, /persistence of vector_io provider faiss: mine in kv\.db/);
  strictEqual(at(specOf(text), "providers", "vectorIo"), undefined);
  deepStrictEqual(
    listAt(specOf(text, { keepData: true }), "providers", "vectorIo"),
    [
      { provider: "inline::faiss", settings: { persistence } },
    ].map((item) => ({ ...item, provider: "faiss" })),
  );
});

Deno.test("importCommand() says why something is lost, and both values of what changes, but for secrets", () => {
  const canary = "canary-0123456789";
  const text = configOf([VLLM], {
    apis: ["inference", "vector_io"],
    vector_stores: {
      annotation_prompt_params: { enable_annotations: false },
      default_embedding_model: { provider_id: "gone", model_id: "m" },
    },
    providers: {
      inference: [VLLM],
      vector_io: [FAISS],
    },
    storage: {
      ...STORES,
      backends: {
        kv_default: { type: "kv_redis", host: "cache", port: 6379, password: canary },
        sql_default: { type: "sql_mysql", host: "db", password: canary },
      },
    },
  });
  const { stdout, stderr } = imported(text, { serverVersion: "1.4.1" });
  ok(!`${stdout}${stderr}`.includes(canary));
  match(
    stderr,
    /lost: annotation_prompt_params\.enable_annotations of vector_stores: no field of the resource has it\n/,
  );
  match(stderr, /changed: storage of kind sql: "mysql db.*" → "sqlite"\n/);
  match(stderr, /storage\.backends\.kv_default\.password: .*; the password of Redis is part of the host/);
  const auth = { provider_config: { type: "${env.ISSUER:+oauth2_token}", issuer: "${env.ISSUER:=}" } };
  match(imported(configOf([VLLM], { server: { auth } })).stderr, /lost: server\.auth: on if ISSUER is set/);
});

Deno.test("importCommand() reads models of the first provider of OGX, and names what is not registered without a provider", () => {
  const models = [
    { model_id: "alias", provider_id: "all", provider_model_id: "auto", model_type: "llm" },
    { model_id: "nobody", model_type: "llm" },
  ];
  const { stdout, stderr, code } = imported(configOf([VLLM], { registered_resources: { models } }), {
    serverVersion: "1.4.1",
    check: true,
  });
  strictEqual(code, 0, stderr);
  deepStrictEqual(listAt(objectAt(resourceOf(stdout), "spec"), "resources", "models"), [
    { name: "alias", provider: "all", providerModelId: "auto" },
  ]);
  match(stderr, /not read by OGX 1\.4\.1:\n {2}model nobody: not registered without provider_id\n/);
});

Deno.test("importCommand() says that data is left behind also where only the folder differs", () => {
  const text = Deno.readTextFileSync(new URL("../../tests/fixtures/import/playground-0.7.yaml", import.meta.url));
  match(imported(text).stderr, /data of the server lies elsewhere.*\n {2}files in \/var\/lib\/playground\n/);
  // The volume of the config is not known.
  const kept = imported(text, { keepData: true });
  match(kept.stderr, /\n {2}files in \/var\/lib\/playground: the volume of spec\.workload\.storage is new;/);
});

Deno.test("importCommand() mounts a volume where --keep-data leaves the files", () => {
  const workloadOf = (folders: ReadonlyArray<string>, files: string) => {
    const [kv = "", sql = ""] = folders;
    const text = configOf([VLLM], {
      apis: ["inference", "files"],
      providers: {
        inference: [VLLM],
        files: [{
          provider_id: "localfs",
          provider_type: "inline::localfs",
          config: { storage_dir: files, metadata_store: { backend: "sql_default", table_name: "files" } },
        }],
      },
      storage: {
        ...STORES,
        backends: {
          kv_default: { type: "kv_sqlite", db_path: `${kv}/kv.db` },
          sql_default: { type: "sql_sqlite", db_path: `${sql}/sql.db` },
        },
      },
    });
    const { stdout, stderr } = imported(text, { keepData: true, serverVersion: "1.4.1" });
    const { storage = null, overrides = null } = objectAt(resourceOf(stdout), "spec", "workload");
    const folder = listAt(overrides, "env").find((env) => at(env, "name") === "SQLITE_STORE_DIR");
    return [at(storage, "mountPath"), at(folder ?? null, "value"), /^ {2}(files in \/.*)/m.exec(stderr)?.[1]];
  };
  const isNew =
    "the volume of spec.workload.storage is new; name the old one in spec.workload.storage.existingClaim, or copy them";
  deepStrictEqual(workloadOf(["/data", "/data"], "/data/files"), ["/data", "/data", `files in /data: ${isNew}`]);
  deepStrictEqual(workloadOf(["/data/db", "/data/db"], "/data/up/files"), [
    "/data",
    "/data/db",
    `files in /data/db: ${isNew}`,
  ]);
  deepStrictEqual(workloadOf(["/opt/db", "/opt/db"], "/opt/files").slice(0, 2), ["/opt/db", "/opt/db"]);
  deepStrictEqual(workloadOf(["/db", "/db"], "/up/files"), ["/db", "/db", `files in /db: ${isNew}`]);
  deepStrictEqual(workloadOf(["/db/a", "/db/b"], "/db/files"), ["/db", undefined, "files in /db/a"]);
});

Deno.test("importCommand() uses the volume of a workload again with --keep-data", () => {
  const map = { kind: "ConfigMap", metadata: { name: "c" }, data: { "config.yaml": SMALL } };
  const volumes = [{ name: "v", configMap: { name: "c" } }, { name: "d", persistentVolumeClaim: { claimName: "old" } }];
  const volumeMounts = [{ name: "v", mountPath: "/etc/x" }, { name: "d", mountPath: "/data" }];
  const pod = { containers: [{ name: "s", image: "ogx", volumeMounts }], volumes };
  const workload = { kind: "StatefulSet", metadata: { name: "d" }, spec: { template: { spec: pod } } };
  const text = [map, workload].map(writeYaml).join("---\n");
  match(imported(text).stderr, /the data of claim old is left behind; --keep-data uses it again/);
  const spec = specOf(text, { keepData: true });
  deepStrictEqual(at(spec, "workload", "storage"), { existingClaim: "old", mountPath: "/data" });
  deepStrictEqual(
    listAt(spec, "workload", "overrides", "env").find((env) => at(env, "name") === "SQLITE_STORE_DIR"),
    { name: "SQLITE_STORE_DIR", value: "/data" },
  );
});

Deno.test("importCommand() reads a workload with its ConfigMap: image, variables, Secrets", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const container = {
    name: "server",
    image: "docker.io/llamastack/distribution-starter:0.7.1",
    env: [
      { name: "VLLM_URL", value: "http://v/v1" },
      { name: "VLLM_TOKEN", valueFrom: { secretKeyRef: { name: "vllm", key: "token" } } },
      { name: "HF_TOKEN", value: "canary-of-the-hub" },
      { name: "LOG", value: "debug" },
    ],
    volumeMounts: [{ name: "v", mountPath: "/etc/x" }],
  };
  const pod = {
    containers: [{ name: "sidecar", image: "proxy" }, container],
    volumes: [{ name: "v", configMap: { name: "c" } }],
  };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", namespace: "n" },
    spec: { replicas: 2, template: { spec: pod } },
  };
  const { stdout, stderr } = imported([map, deployment].map(writeYaml).join("---\n"));
  ok(!`${stdout}${stderr}`.includes("canary"));
  const resource = resourceOf(stdout);
  deepStrictEqual(resource.metadata, { name: "d", namespace: "n" });
  const spec = objectAt(resource, "spec");
  deepStrictEqual(spec.distribution, { name: "starter", serverVersion: "0.7.1" });
  deepStrictEqual(listAt(spec, "providers", "inference"), [
    { provider: "vllm", endpoint: "http://v/v1", apiKey: { secretKeyRef: { name: "vllm", key: "token" } } },
  ]);
  deepStrictEqual(at(spec, "workload"), {
    replicas: 2,
    overrides: {
      env: [
        { name: "HF_TOKEN", valueFrom: { secretKeyRef: { name: "d-secrets", key: "HF_TOKEN" } } },
        { name: "LOG", value: "debug" },
      ],
    },
  });
  match(stderr, /--from-literal=HF_TOKEN=YOUR_HF_TOKEN\n/);
});

Deno.test("importCommand() reads a v1alpha1 resource with its ConfigMap, and drops its own mount of the config", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "config.yaml": SMALL } };
  const old = {
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: { name: "old" },
    spec: {
      replicas: 1,
      server: {
        distribution: { name: "starter" },
        containerSpec: {
          port: 8321,
          env: [{ name: "VLLM_URL", value: "http://v/v1" }, { name: "RUN_CONFIG_PATH", value: "/etc/c/config.yaml" }],
          command: ["llama", "stack", "run", "/etc/c/config.yaml"],
        },
        podOverrides: {
          volumes: [{ name: "c", configMap: { name: "c" } }],
          volumeMounts: [{ name: "c", mountPath: "/etc/c" }],
        },
      },
    },
  };
  const { stdout, stderr, code } = imported([writeYaml(old), writeYaml(map)]);
  const resource = resourceOf(stdout);
  strictEqual(resource.apiVersion, "llamastack.io/v1alpha2");
  const spec = objectAt(resource, "spec");
  strictEqual(at(listAt(spec, "providers", "inference")[0], "endpoint"), "http://v/v1");
  deepStrictEqual([at(spec, "workload", "overrides"), spec.overrideConfig], [undefined, undefined]);
  match(stderr, /command and args of the container are left out/);
  strictEqual(code, 0);
});

Deno.test("importCommand() replaces a distribution that the operator does not have, and never fails silently", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  for (
    const resource of [
      {
        apiVersion: "llamastack.io/v1alpha1",
        spec: { server: { distribution: { name: "rh-dev" }, userConfig: { configMapName: "c" } } },
      },
      {
        apiVersion: "llamastack.io/v1alpha2",
        spec: { distribution: { name: "rh-dev" }, overrideConfig: { configMapName: "c" } },
      },
    ]
  ) {
    const files = [writeYaml({ kind: "LlamaStackDistribution", metadata: { name: "l" }, ...resource }), writeYaml(map)];
    const { stdout, stderr, code } = imported(files);
    strictEqual(code, 0, stderr);
    deepStrictEqual(at(resourceOf(stdout), "spec", "distribution"), { name: "starter" });
    match(stderr, /distribution rh-dev of the resource is replaced by starter: .*; --distribution chooses another\n/);
    ok(!imported(files, { distribution: "ogx-starter" }).stderr.includes("rh-dev"));
  }
  for (
    const [options, words] of [
      [
        { distribution: "nope" },
        /^error: the operator has no distribution nope; --distribution chooses one of .*starter/,
      ],
      [
        { distribution: "meta-reference-gpu", serverVersion: "1.4.1" },
        /^error: the operator has no release of meta-reference-gpu on server 1\.4\.1; --server-version/,
      ],
    ] as const
  ) {
    const { stdout, stderr, code } = imported(SMALL, options);
    deepStrictEqual([stdout, code], ["", 1]);
    match(stderr, words);
  }
});

Deno.test("importCommand() reads a compose file with the config beside it", () => {
  const compose = writeYaml({
    services: {
      stack: {
        image: "llamastack/distribution-starter:0.7.1",
        environment: [
          "VLLM_URL=${VLLM_URL:-http://v/v1}",
          "VLLM_TOKEN=canary-of-compose",
          "OPENAI_API_KEY=canary-of-compose",
          "MY_URL=https://u:canary-of-compose@x",
          "DB_DSN=postgres://u:canary-of-compose@db/d",
          "PASSPHRASE=canary-of-compose",
          "LOG=debug",
          "REGION",
        ],
        volumes: ["./run.yaml:/app/run.yaml", "data:/data"],
        ports: ["8321:8321"],
        deploy: { replicas: 2, resources: { limits: { memory: "4g" } } },
      },
    },
  });
  const alone = imported(compose);
  deepStrictEqual([alone.code, alone.stdout], [1, ""]);
  match(alone.stderr, /the config of service stack is in \.\/run\.yaml; add it with -f \.\/run\.yaml/);
  const { stdout, stderr } = imported([compose, SMALL]);
  ok(!`${stdout}${stderr}`.includes("canary"));
  strictEqual(at(resourceOf(stdout), "metadata", "name"), "stack");
  match(stdout, /endpoint: http:\/\/v\/v1/);
  const reference = (key: string) => ({ valueFrom: { secretKeyRef: { name: "stack-secrets", key } } });
  deepStrictEqual(listAt(resourceOf(stdout), "spec", "workload", "overrides", "env"), [
    ...["OPENAI_API_KEY", "MY_URL", "DB_DSN", "PASSPHRASE"].map((name) => ({ name, ...reference(name) })),
    { name: "LOG", value: "debug" },
    { name: "REGION", value: "TO_FILL_IN" },
  ]);
  match(stderr, /--from-literal=OPENAI_API_KEY=YOUR_OPENAI_API_KEY .*--from-literal=PASSPHRASE=YOUR_PASSPHRASE/);
  match(stderr, /fill in.*\n {2}REGION\n/);
  match(stderr, /not carried over: ports, deploy\.replicas, deploy\.resources\.limits, volumes\n/);
});

Deno.test("importCommand() takes the port of the command of a compose file", () => {
  const portOf = (service: JsonObject) => {
    const compose = writeYaml({ services: { stack: { image: "llamastack/distribution-starter:0.7.1", ...service } } });
    const text = configOf([VLLM], { server: { port: 9100 } });
    return at(resourceOf(imported([compose, text]).stdout), "spec", "networking", "port");
  };
  deepStrictEqual([
    portOf({ command: "--config /cfg/config.yaml --port 9000" }),
    portOf({ command: ["--port", "9000"] }),
    portOf({ entrypoint: "llama stack run /cfg/config.yaml --port=9000", command: "" }),
    portOf({ environment: { OGX_PORT: 9000 } }),
    portOf({}),
  ], [9000, 9000, 9000, 9000, 9100]);
});

Deno.test("importCommand() says that it leaves out the second config of a file", () => {
  const { stdout, stderr } = imported(`${SMALL}---\n${configOf([{ ...VLLM, provider_id: "other" }])}`);
  strictEqual(stdout, imported(SMALL).stdout);
  match(stderr, /^f0\.yaml: f0\.yaml, document 2 is left out: only one config is imported at a time\n/);
});

Deno.test("importCommand() says what a file is that it cannot import", () => {
  for (
    const [text, words] of [
      ["providers:\n  inference:\n  {{- range .Values.models }}\n  - {{ .id }}\n", /a Helm template/],
      ["a: 1\n", /no config in f0\.yaml/],
      ["a: [", /Cannot read YAML/],
      ["", /no config in f0\.yaml/],
    ] as const
  ) {
    const { stdout, stderr, code } = imported(text);
    deepStrictEqual([stdout, code], ["", 1]);
    match(stderr, words);
  }
});

Deno.test("importCommand() names every object to create, in the namespace of the resource", () => {
  const server = { tls_certfile: "/tls/tls.crt", tls_keyfile: "/tls/tls.key" };
  const own = { provider_id: "own", provider_type: "remote::own", module: "own==1", config: {} };
  const text = configOf([VLLM, own], { server });
  const { stderr } = imported(text, { name: "n", namespace: "team" });
  match(stderr, /\n {2}kubectl create configmap n-config -n team --from-file=config\.yaml=FILE\n/);
  match(stderr, /\n {2}kubectl create secret generic n-secrets -n team --from-literal=VLLM_TOKEN=YOUR_VLLM_TOKEN\n/);
  match(stderr, /\n {2}kubectl create secret tls n-tls -n team --cert=FILE --key=FILE\n/);
  match(imported(configOf([VLLM], { server })).stderr, /^equals your config$/m);
  ok(!imported(SMALL).stderr.includes("create secret tls"));
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": text } };
  const resource = {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    metadata: { name: "l" },
    spec: {
      distribution: { name: "starter" },
      networking: { tls: { enabled: true, secretName: "mine" } },
      overrideConfig: { configMapName: "c" },
    },
  };
  const kept = imported([writeYaml(resource), writeYaml(map)]);
  deepStrictEqual(at(resourceOf(kept.stdout), "spec", "networking", "tls"), { enabled: true, secretName: "mine" });
  ok(!kept.stderr.includes("create secret tls"));
});

Deno.test("importCommand() keeps what a variable refers to, of a ConfigMap as of a field", () => {
  const text = configOf([VLLM], {
    registered_resources: { models: [{ model_id: "${env.MODEL}", provider_id: "vllm", model_type: "llm" }] },
    server: { workers: "${env.WORKERS:=1}" },
  });
  const map = { kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": text } };
  const env = [
    { name: "MODEL", valueFrom: { configMapKeyRef: { name: "models", key: "chat" } } },
    { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
    { name: "VLLM_URL", valueFrom: { configMapKeyRef: { name: "models", key: "url", optional: true } } },
  ];
  const volumeMounts = [{ name: "v", mountPath: "/etc/x" }];
  const pod = {
    containers: [{ name: "s", image: "ogx", env, volumeMounts }],
    volumes: [{ name: "v", configMap: { name: "c" } }],
  };
  const deployment = { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } };
  const { stdout, stderr } = imported([map, deployment].map(writeYaml).join("---\n"));
  match(stderr, /^equals your config$/m);
  deepStrictEqual(listAt(resourceOf(stdout), "spec", "workload", "overrides", "env"), [env[1], env[0], env[2]]);
  ok(!stderr.includes("fill in"));
});

Deno.test("importCommand() names variables with paths of an image that it replaces", () => {
  const map = { kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const env = [
    { name: "PYTHONPATH", value: "/opt/app/src" },
    { name: "PLUGINS", value: "/plugins/mine" },
    { name: "LOG", value: "debug" },
  ];
  const volumeMounts = [{ name: "v", mountPath: "/etc/x" }, { name: "p", mountPath: "/plugins" }];
  const volumes = [{ name: "v", configMap: { name: "c" } }, { name: "p", configMap: { name: "p" } }];
  const pod = { containers: [{ name: "s", image: "registry.example.com/mine:1", env, volumeMounts }], volumes };
  const deployment = { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } };
  match(
    imported([map, deployment].map(writeYaml).join("---\n")).stderr,
    /mine:1 is replaced by that of \w+; these variables may name paths of the former image: PYTHONPATH\n/,
  );
});

Deno.test("importCommand() moves to another distribution with --to, and says what that changes", () => {
  const text = configOf([VLLM], {
    apis: ["inference", "safety"],
    providers: {
      inference: [VLLM],
      safety: [{ provider_id: "llama-guard", provider_type: "inline::llama-guard", config: {} }],
    },
    registered_resources: { shields: [{ shield_id: "guard", provider_id: "llama-guard" }] },
  });
  const { stdout, stderr } = imported(text, { to: "ogx-starter", serverVersion: "0.7.1" });
  deepStrictEqual(at(resourceOf(stdout), "spec", "distribution"), { name: "ogx-starter" });
  match(stderr, /on ogx-starter:\n(?: {2}.*\n)* {2}lost: API safety\n/);
});

Deno.test("importCommand() corrects what the server does not read, and says so", () => {
  const text = configOf([{ ...VLLM, config: { url: "${env.V:http://v/v1}", api_token: "t-0123456" } }]);
  const { stdout, stderr } = imported(text, { serverVersion: "0.7.1" });
  match(stdout, /endpoint: http:\/\/v\/v1\n/);
  match(
    stderr,
    /corrected:\n {2}placeholders are written with := or :\+ on this server: V\n {2}inference provider vllm: url is called base_url\n/,
  );
  match(
    imported(configOf([{ ...VLLM, config: { base_url: "http://v:8000" } }]), { serverVersion: "0.7.1" }).stderr,
    /the path \/v1 is added to base_url/,
  );
});

const KUBERNETES: JsonObject = { provider_config: { type: "kubernetes" } };

Deno.test("importCommand() reads a text in a rule of server.auth as a list of one", () => {
  const auth = {
    ...KUBERNETES,
    route_policy: [{ permit: { paths: "/v1/*" }, when: "user with admin in roles" }],
    access_policy: [{ permit: { actions: "read", resource: "model::*" }, unless: "user is owner" }],
  };
  const { stdout, stderr, code } = imported(configOf([VLLM], { server: { auth } }), { serverVersion: "1.4.1" });
  ok(!/lost|changed/.test(stderr), stderr);
  strictEqual(code, 0);
  deepStrictEqual(listAt(resourceOf(stdout), "spec", "auth", "routePolicy"), [
    { permit: { paths: ["/v1/*"] }, when: ["user with admin in roles"] },
  ]);
  deepStrictEqual(listAt(resourceOf(stdout), "spec", "auth", "accessPolicy"), [
    { permit: { actions: ["read"], resource: "model::*" }, unless: ["user is owner"] },
  ]);
});

Deno.test("importCommand() takes for equal what server.auth says at length", () => {
  const introspection = { url: "https://idp.example.com/i", client_id: "c", client_secret: "${env.S}" };
  for (
    const [auth, made] of [
      // Defaults, and the certificate of the cluster where every pod has it.
      [
        {
          provider_config: {
            type: "kubernetes",
            api_server_url: "https://kubernetes.default.svc",
            verify_tls: true,
            tls_cafile: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
          },
          access_policy: [],
          route_policy: [],
        },
        { kubernetes: {} },
      ],
      // Who is asked about each token checks it.
      [
        {
          provider_config: {
            type: "oauth2_token",
            issuer: "https://idp.example.com",
            audience: "llama",
            introspection: { ...introspection, send_secret_in_body: false },
          },
        },
        {
          introspection: {
            url: "https://idp.example.com/i",
            clientId: "c",
            clientSecret: { secretKeyRef: { name: "llama-stack-secrets", key: "S" } },
          },
        },
      ],
      // Keys in another order than the API has them.
      [
        {
          provider_config: { type: "custom", endpoint: "https://a/b" },
          access_policy: [{ permit: { principal: "ann", actions: ["read"] }, description: "d" }],
        },
        {
          webhook: { endpoint: "https://a/b" },
          accessPolicy: [{ permit: { principal: "ann", actions: ["read"] }, description: "d" }],
        },
      ],
    ] as const
  ) {
    const { stdout, stderr, code } = imported(configOf([VLLM], { server: { auth } as unknown as JsonObject }), {
      serverVersion: "1.4.1",
    });
    match(stderr, /\nequals your config\n/);
    strictEqual(code, 0);
    deepStrictEqual(at(resourceOf(stdout), "spec", "auth"), made);
  }
});

Deno.test("importCommand() tells a key of server.auth that makes a difference", () => {
  for (
    const [config, difference] of [
      [{ type: "kubernetes", api_server_url: "https://other:6443" }, "lost: api_server_url of server.auth"],
      [{ type: "kubernetes", tls_cafile: "/etc/ca.crt" }, "changed: tls_cafile of server.auth"],
      [
        { type: "oauth2_token", issuer: "https://i", jwks: { uri: "https://i/k" }, tls_cafile: "/etc/ca.crt" },
        "lost: tls_cafile of server.auth",
      ],
    ] as const
  ) {
    const { stderr } = imported(configOf([VLLM], { server: { auth: { provider_config: config } } }), {
      serverVersion: "1.4.1",
    });
    match(stderr, new RegExp(`\\n {2}${difference}`));
  }
});

Deno.test("importCommand() names the field that a part of the config does not have or may not have", () => {
  for (
    const [config, reason] of [
      [{ type: "oauth2_token", jwks: { uri: "https://i/k" } }, "server.auth: oidc.issuer: "],
      [{ type: "kubernetes", claims_mapping: {} }, "server.auth: kubernetes.claimsMapping: Expected 1 to 16 entries"],
    ] as const
  ) {
    const { stderr } = imported(configOf([VLLM], { server: { auth: { provider_config: config } } }), {
      serverVersion: "1.4.1",
    });
    match(stderr, new RegExp(`\\n {2}lost: ${reason}`));
  }
  const { stderr } = imported(configOf([{ ...VLLM, config: {} }]), { serverVersion: "1.4.1" });
  match(stderr, /lost: inference provider vllm: endpoint: required by provider type "remote::vllm"/);
});

Deno.test("importCommand() reads numbers of the section server that are in quotes", () => {
  const server = { port: "9000", workers: "3", hsts_max_age: "31536000" };
  const { stdout, stderr } = imported(configOf([VLLM], { server }), { serverVersion: "1.4.1" });
  match(stderr, /\nequals your config\n/);
  const { networking, workload } = objectAt(resourceOf(stdout), "spec");
  deepStrictEqual([networking, at(workload ?? {}, "workers")], [{ port: 9000 }, 3]);
});

Deno.test("importCommand() compares backends as their classes read them", () => {
  const database = { host: "pg", db: "d", user: "u", password: "${env.P}" };
  const kv = { type: "kv_postgres", ...database };
  for (
    const [sql, difference] of [
      [
        { ...database, port: "5432", pool_size: 10, max_overflow: 20, pool_recycle: -1, pool_pre_ping: true },
        undefined,
      ],
      [{ connection_string: "${env.URL}" }, undefined],
      [{ connection_string: "postgresql://u:a-password@pg:5432/d" }, undefined],
      [{ ...database, pool_size: 5 }, undefined],
      [{ ...database, port: 5433, pool: 5 }, undefined],
    ] as const
  ) {
    const backends = { kv_default: kv, sql_default: { type: "sql_postgres", ...sql } };
    const { stdout, stderr } = imported(configOf([VLLM], { storage: { ...STORES, backends } as JsonObject }), {
      serverVersion: "1.5.0",
    });
    strictEqual(/\n {2}((?:lost|changed): .*)/.exec(stderr)?.[1], difference);
    ok(!`${stdout}${stderr}`.includes("a-password"));
  }
});

Deno.test("importCommand() says where data lies in words that are true", () => {
  const text = writeYaml({
    version: 2,
    image_name: "x",
    apis: ["inference", "agents", "vector_io"],
    providers: {
      inference: [{ provider_id: "vllm", provider_type: "remote::vllm", config: { url: "http://v/v1" } }],
      vector_io: [{
        provider_id: "m",
        provider_type: "inline::milvus",
        config: { db_path: "/d/m.db", kvstore: { type: "sqlite", namespace: null, db_path: "/d/r.db" } },
      }],
    },
    inference_store: { sql_store_config: { type: "sqlite", db_path: "/d/i.db" }, num_writers: 2 },
  });
  const { stderr } = imported(text, { serverVersion: "0.2.24" });
  for (
    const line of [
      "store metadata_store: in the file that the server chooses",
      "store inference_store: in i.db",
      "kvstore of vector_io provider m: in r.db",
    ]
  ) ok(stderr.includes(`\n  ${line}\n`), stderr);
});

Deno.test("importCommand() advises --keep-data only where it is not given", () => {
  const text = configOf([VLLM], {
    apis: ["inference", "vector_io"],
    providers: { inference: [VLLM], vector_io: [FAISS] },
  });
  for (const keepData of [false, true]) {
    const { stderr } = imported(text, { serverVersion: "1.4.1", keepData });
    match(stderr, /\ndata of the server lies elsewhere/);
    strictEqual(stderr.includes("--keep-data"), !keepData);
  }
});

Deno.test("importCommand() tells an API that the server does not have from one that apis does not list", () => {
  const providers = {
    inference: [VLLM],
    agents: [{ provider_id: "a", provider_type: "inline::meta-reference", config: {} }],
    files: [{ provider_id: "f", provider_type: "inline::localfs", config: {} }],
  };
  const { stderr } = imported(configOf([VLLM], { apis: ["inference", "agents"], providers }), {
    serverVersion: "0.7.1",
  });
  match(stderr, /\n {2}providers\.agents: Llama Stack 0\.7\.1 has no API of this name\n/);
  match(stderr, /\n {2}providers\.files: apis does not list it\n/);
});

Deno.test("importCommand() closes the network of a server that trusts the headers of a gateway, and says so", () => {
  const auth = {
    provider_config: { type: "upstream_header", principal_header: "x-user", attribute_headers: { "x-token": "roles" } },
  };
  const { stdout, stderr, code } = imported(configOf([VLLM], { server: { auth } }), { serverVersion: "1.4.1" });
  strictEqual(code, 0, stderr);
  const { networking, auth: found } = objectAt(resourceOf(stdout), "spec");
  deepStrictEqual(networking, { allowedFrom: {} });
  deepStrictEqual(found, {
    upstreamHeader: { attributeHeaders: { "x-token": "roles" }, principalHeader: "x-user" },
  });
  match(stderr, /networking\.allowedFrom is added, because server\.auth trusts the headers of a gateway/);
});

Deno.test("importCommand() prints no resource without the authentication of the config", () => {
  for (
    const auth of [
      { provider_config: { type: "github_token" } },
      { provider_type: "kubernetes", config: {} },
      { provider_config: "kubernetes" },
      "kubernetes",
      { provider_config: { type: "${env.AUTH_TYPE:+kubernetes}" } },
      { ...KUBERNETES, route_policy: [{ permit: { paths: [""] } }] },
      { ...KUBERNETES, access_policy: [{ permit: { actions: ["destroy"] } }] },
    ]
  ) {
    const text = configOf([VLLM], { server: { auth } });
    for (const format of ["yaml", "json"] as const) {
      const { stdout, stderr, code } = imported(text, { serverVersion: "1.4.1", format, name: "n" });
      strictEqual(code, 1, stderr);
      const spec = objectAt(resourceOf(stdout), "spec");
      deepStrictEqual([spec.overrideConfig, spec.providers], [{ configMapName: "n-config" }, undefined]);
      match(stderr, /server\.auth cannot be expressed in full.*\n {2}kubectl create configmap n-config/);
    }
    const moved = imported(text, { serverVersion: "1.4.1", to: "ogx-starter" });
    deepStrictEqual([moved.stdout, moved.code], ["", 1]);
  }
});

Deno.test("importCommand() names the parts of a config that no server can read, and fails with --check", () => {
  const registered = (models: ReadonlyArray<unknown>) => ({ registered_resources: { models } }) as JsonObject;
  for (
    const [more, fault] of [
      [{ providers: { inference: { a: "b" } } }, "providers.inference: expected a list"],
      [{ providers: { inference: [VLLM, "text"] } }, "providers.inference[1]: expected a map"],
      [
        { providers: { inference: [{ provider_type: "remote::vllm" }] } },
        "providers.inference[0]: without provider_id",
      ],
      [{ apis: "inference" }, "apis: expected a list"],
      [{ storage: "x" }, "storage: expected a map"],
      [{ server: 5 }, "server: expected a map"],
      [{ server: { auth: "on" } }, "server.auth: expected a map"],
      [{ models: {} }, "models: expected a list"],
      [{ registered_resources: { models: {} } }, "registered_resources.models: expected a list"],
      [registered([{ provider_id: "vllm" }]), "registered_resources.models[0]: without model_id"],
      [registered(["granite"]), "registered_resources.models[0]: expected a map"],
      [
        registered([{ model_id: "granite", provider_id: "vllm", provider_modelid: "g" }]),
        "registered_resources.models[0].provider_modelid: OGX 1.4.1 ignores this key; did you mean provider_model_id?",
      ],
    ] as ReadonlyArray<readonly [JsonObject, string]>
  ) {
    const { stderr, code } = imported(configOf([VLLM], more), { check: true, serverVersion: "1.4.1" });
    ok(stderr.includes(`  ${fault}`), `${fault}\n${stderr}`);
    ok(!/^equals your config$/m.test(stderr), stderr);
    strictEqual(code, 1);
  }
});

Deno.test("importCommand() carries over of a workload what a resource has, and names the rest", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const tolerations = [{ key: "gpu", operator: "Exists" }];
  const kept = {
    volumes: [
      { name: "certs", secret: { secretName: "certs" } },
      { name: "prompts", configMap: { name: "prompts" } },
    ],
    volumeMounts: [{ name: "certs", mountPath: "/certs" }, { name: "prompts", mountPath: "/prompts" }],
  };
  const pod = {
    serviceAccountName: "runner",
    nodeSelector: { gpu: "yes" },
    tolerations,
    dnsPolicy: "ClusterFirst",
    securityContext: { runAsUser: 5 },
    containers: [{ name: "proxy", image: "proxy" }, {
      name: "server",
      image: "llamastack/distribution-starter:0.7.1",
      args: ["--port", "5001"],
      envFrom: [{ secretRef: { name: "more" } }],
      ports: [{ containerPort: 5000 }],
      readinessProbe: { httpGet: { path: "/", port: 5001 } },
      volumeMounts: [{ name: "v", mountPath: "/etc/x" }, ...kept.volumeMounts, { name: "cache", mountPath: "/cache" }],
    }],
    volumes: [{ name: "v", configMap: { name: "c" } }, ...kept.volumes, { name: "cache", emptyDir: {} }],
  };
  const deployment = { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } };
  const { stdout, stderr } = imported([map, deployment].map(writeYaml).join("---\n"));
  const spec = objectAt(resourceOf(stdout), "spec");
  deepStrictEqual(at(spec, "networking"), { port: 5001 });
  deepStrictEqual(at(spec, "workload", "overrides", "envFrom"), [{ secretRef: { name: "more" } }]);
  deepStrictEqual(
    ["serviceAccountName", "nodeSelector", "tolerations"].map((key) => at(spec, "workload", "overrides", key)),
    ["runner", { gpu: "yes" }, tolerations],
  );
  match(stderr, /^equals your config$/m);
  match(stderr, /not carried over: securityContext, container proxy, args, readinessProbe, volume cache\n/);
  const { volumes, volumeMounts } = objectAt(spec, "workload", "overrides");
  deepStrictEqual({ volumes, volumeMounts }, kept);
});

Deno.test("importCommand() carries over the labels and annotations of pods, but those that find the pods of others", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const labels = { run: "d", app: "d", "app.kubernetes.io/name": "d", "sidecar.istio.io/inject": "true" };
  const annotations = {
    "checksum/config": "0",
    "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z",
    "prometheus.io/scrape": "true",
  };
  const pod = {
    priorityClassName: "high",
    containers: [{
      image: "llamastack/distribution-starter:0.7.1",
      volumeMounts: [{ name: "v", mountPath: "/etc/x" }],
    }],
    volumes: [{ name: "v", configMap: { name: "c" } }],
  };
  const deployment = {
    kind: "Deployment",
    metadata: { name: "d" },
    spec: { selector: { matchLabels: { run: "d" } }, template: { metadata: { labels, annotations }, spec: pod } },
  };
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { selector: { run: "d" } } };
  const ui = {
    kind: "Deployment",
    metadata: { name: "ui" },
    spec: { template: { spec: { containers: [{ name: "ui", image: "ui" }] } } },
  };
  const { stdout, stderr } = imported([map, service, ui, deployment].map(writeYaml).join("---\n"));
  const { podLabels, podAnnotations, priorityClassName } = objectAt(
    resourceOf(stdout),
    "spec",
    "workload",
    "overrides",
  );
  deepStrictEqual([podLabels, podAnnotations, priorityClassName], [
    { "sidecar.istio.io/inject": "true" },
    { "prometheus.io/scrape": "true" },
    "high",
  ]);
  match(stderr, /: not read: Service s, Deployment ui\n/);
});

Deno.test("importCommand() drops no volume of a resource but that of its config", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const volumes = [{ name: "ca", configMap: { name: "ca" } }, { name: "c", configMap: { name: "c" } }];
  const volumeMounts = [{ name: "ca", mountPath: "/ca" }, { name: "c", mountPath: "/c" }];
  for (const own of [{ overrideConfig: { configMapName: "c" } }, {}]) {
    const resource = {
      apiVersion: "llamastack.io/v1alpha2",
      kind: "LlamaStackDistribution",
      metadata: { name: "d" },
      spec: { distribution: { name: "starter" }, ...own, workload: { overrides: { volumes, volumeMounts } } },
    };
    const { overrides } = objectAt(specOf([map, resource].map(writeYaml)), "workload");
    deepStrictEqual(
      ["volumes", "volumeMounts"].map((key) => at(overrides ?? {}, key)),
      [volumes.slice(0, 1), volumeMounts.slice(0, 1)],
    );
  }
});

Deno.test("importCommand() says which Secrets of a workload are required, and which are not read", () => {
  const workload = (volume: JsonObject, kind = "ConfigMap") => {
    const container = {
      image: "llamastack/distribution-starter:0.7.1",
      env: [
        { name: "VLLM_TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
        { name: "OTHER", valueFrom: { secretKeyRef: { name: "o", key: "k", optional: true } } },
      ],
      volumeMounts: [{ name: "v", mountPath: "/etc/x" }],
    };
    const pod = { containers: [container], volumes: [{ name: "v", ...volume }] };
    return [
      { apiVersion: "v1", kind, metadata: { name: "c" }, data: { "run.yaml": configOf([VLLM]) } },
      { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } },
    ].map(writeYaml).join("---\n");
  };
  const sources = [{ configMap: { name: "c" } }, { secret: { name: "more" } }];
  const { stderr } = imported(workload({ projected: { sources } }));
  match(stderr, /: key k of Secret s is optional there, and required by the resource\n/);
  ok(!stderr.includes("Secret o"), stderr);
  match(stderr, /: not carried over: volume v but for the config\n/);
  match(
    imported(workload({ secret: { secretName: "c" } }, "Secret")).stderr,
    /^error: f0\.yaml: the config is in Secret c, and Secrets are not read; write it to a file, and add that with -f\n$/,
  );
});

Deno.test("importCommand() keeps the labels and annotations of a resource, but what tools store there", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": SMALL } };
  const resource = {
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: {
      name: "d",
      labels: { "opendatahub.io/dashboard": "true" },
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": '{"value": "canary"}',
        "openshift.io/display-name": "D",
      },
    },
    spec: { server: { distribution: { name: "starter" }, userConfig: { configMapName: "c" } } },
  };
  const metadata = {
    name: "d",
    labels: { "opendatahub.io/dashboard": "true" },
    annotations: { "openshift.io/display-name": "D" },
  };
  // From files, and from a cluster.
  for (const text of [writeYaml(resource), objectText(resource)]) {
    const { stdout } = imported([text, writeYaml(map)]);
    deepStrictEqual(at(resourceOf(stdout), "metadata"), metadata);
    ok(!`${text === writeYaml(resource) ? "" : text}${stdout}`.includes("canary"));
  }
});

Deno.test("importCommand() does not call files wrong that lie in a volume of the former pod", () => {
  const { stderr } = imported(configOf([VLLM]), { serverVersion: "1.4.1" });
  ok(!stderr.includes("wrong in your config"), stderr);
});

Deno.test("importCommand() carries over the same of a workload where the resource keeps the whole config", () => {
  const workload = (auth: JsonObject, inference: ReadonlyArray<JsonObject>) => {
    const text = configOf(inference, { server: { auth } });
    const container = {
      name: "server",
      image: "llamastack/distribution-starter:0.7.1",
      env: [
        { name: "VLLM_TOKEN", value: "canary-of-the-model" },
        { name: "HF_TOKEN", value: "canary-of-the-hub" },
        { name: "DATABASE_URL", value: "postgres://db" },
      ],
      envFrom: [{ secretRef: { name: "more" } }],
      volumeMounts: [{ name: "v", mountPath: "/etc/x" }, { name: "certs", mountPath: "/certs" }],
    };
    const pod = {
      serviceAccountName: "runner",
      nodeSelector: { gpu: "yes" },
      imagePullSecrets: [{ name: "pull" }],
      containers: [container],
      volumes: [{ name: "v", configMap: { name: "c" } }, { name: "certs", secret: { secretName: "certs" } }],
    };
    return [
      { kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": text } },
      { kind: "Deployment", metadata: { name: "d" }, spec: { replicas: 2, template: { spec: pod } } },
    ].map(writeYaml).join("---\n");
  };
  const own = { provider_id: "own", provider_type: "remote::own", module: "own==1", config: {} };
  const spare = { provider_id: "spare", provider_type: "remote::openai", config: { api_key: "canary-of-nobody" } };
  const lossy = imported(workload({}, [VLLM, own]));
  const kept = lossy.stdout.slice(lossy.stdout.indexOf("# apiVersion")).replaceAll(/^# /gm, "");
  const authenticated = imported(workload({ provider_config: { type: "github_token" } }, [VLLM, spare]));
  for (const whole of [kept, authenticated.stdout]) {
    const { overrides, replicas } = objectAt(resourceOf(whole), "spec", "workload");
    const { env, ...others } = objectAt(overrides);
    strictEqual(replicas, 2);
    deepStrictEqual(others, {
      serviceAccountName: "runner",
      nodeSelector: { gpu: "yes" },
      imagePullSecrets: [{ name: "pull" }],
      envFrom: [{ secretRef: { name: "more" } }],
      volumes: [{ name: "certs", secret: { secretName: "certs" } }],
      volumeMounts: [{ name: "certs", mountPath: "/certs" }],
    });
    const names = (env as ReadonlyArray<JsonObject>).map(({ name }) => name);
    deepStrictEqual(names.slice(0, 3), ["HF_TOKEN", "DATABASE_URL", "VLLM_TOKEN"]);
  }
  // Only what the printed resource names.
  match(
    authenticated.stderr,
    /kubectl create secret generic d-secrets --from-literal=VLLM_TOKEN=YOUR_VLLM_TOKEN --from-literal=HF_TOKEN=YOUR_HF_TOKEN\n/,
  );
});

Deno.test("importCommand() takes the port of the command line, then that of the config, then that of the container", () => {
  const portOf = (container: JsonObject, server: JsonObject) => {
    const text = configOf([VLLM], { server });
    const map = { kind: "ConfigMap", metadata: { name: "c" }, data: { "run.yaml": text } };
    const volumeMounts = [{ name: "v", mountPath: "/etc/x" }];
    const pod = {
      containers: [{ name: "s", image: "ogx", volumeMounts, ...container }],
      volumes: [{ name: "v", configMap: { name: "c" } }],
    };
    const workload = { kind: "Deployment", metadata: { name: "d" }, spec: { template: { spec: pod } } };
    const { stdout, stderr } = imported([map, workload].map(writeYaml).join("---\n"));
    match(stderr, /^equals your config$/m);
    return at(resourceOf(stdout), "spec", "networking", "port");
  };
  const ports = [{ containerPort: 5000 }];
  deepStrictEqual([
    portOf({ args: ["--port", "5001"], ports }, { port: 8321 }),
    portOf({ env: [{ name: "OGX_PORT", value: "5002" }], ports }, { port: 9000 }),
    portOf({ ports }, { port: 9000 }),
    portOf({ ports }, { port: 8321 }),
    portOf({ ports }, {}),
    portOf({}, {}),
  ], [5001, 5002, 9000, undefined, 5000, undefined]);
});

Deno.test("importCommand() carries over a database of a single provider, and one that storage.kv and storage.sql do not know", () => {
  const storage = {
    backends: {
      ...STORES.backends,
      kv_default: { type: "kv_mongodb", host: "mongo", db: "llama", user: "u", password: "${env.MONGO_PASSWORD}" },
      sql_files: {
        type: "sql_postgres",
        host: "files-db",
        db: "files",
        user: "app",
        password: "${env.FILES_PASSWORD}",
      },
    },
    stores: STORES.stores,
  };
  const store = { backend: "sql_files", table_name: "files" };
  const text = configOf([VLLM], {
    apis: ["inference", "files"],
    providers: {
      inference: [VLLM],
      files: [{ provider_id: "localfs", provider_type: "inline::localfs", config: { metadata_store: store } }],
    },
    storage,
  });
  const { stdout, stderr } = imported(text, { serverVersion: "1.4.1" });
  match(stderr, /^equals your config$/m);
  const of = (key: string) => ({ secretKeyRef: { name: "llama-stack-secrets", key } });
  deepStrictEqual(at(resourceOf(stdout), "spec", "storage"), {
    backends: [
      {
        name: "kv_default",
        type: "kv_mongodb",
        settings: { host: "mongo", db: "llama", user: "u" },
        secretRefs: { password: of("MONGO_PASSWORD") },
      },
      {
        name: "sql_files",
        type: "sql_postgres",
        settings: { host: "files-db", db: "files", user: "app" },
        secretRefs: { password: of("FILES_PASSWORD") },
      },
    ],
  });
  deepStrictEqual(at(listAt(resourceOf(stdout), "spec", "providers", "files")[0] ?? null, "settings"), {
    metadata_store: store,
  });
});

Deno.test("importCommand() does not import integers that would become others", () => {
  const text = configOf([{ ...VLLM, config: { base_url: "http://v:8000/v1", max_tokens: 1 } }])
    .replace("max_tokens: 1", "max_tokens: 9007199254740993");
  const { stdout, stderr, code } = imported(text, { serverVersion: "1.4.1" });
  deepStrictEqual([stdout, code], ["", 1]);
  match(stderr, /^error: f0\.yaml: .*the integer at line [0-9]+ has more than 53 bits/);
});
