/** What the operator warns of in a config of an author's own is what real servers do with it. */
import { match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import { decodeResource } from "../../core/api/decode.ts";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { derive, warningsOf } from "../../core/config/derive.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import type { ServerVersion } from "../../tools/install/python_server.ts";
import { type LlamaStack, ServerDidNotStart, startServer } from "../../tools/server/llama_stack.ts";

/** The codes of the warnings about this config, and the server that runs it, or the end of one. */
const tried = async (
  server: ServerVersion,
  config: string,
  variables: Readonly<Record<string, string>>,
  look: (running: LlamaStack | ServerDidNotStart, warnings: ReadonlyArray<string>) => unknown,
) => {
  const [product = "", version = ""] = server.split(" ");
  const resource = Result.getOrThrow(decodeResource({
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: { name: "my", namespace: "default" },
    spec: {
      distribution: { name: "starter", serverVersion: version },
      overrideConfig: { configMapName: "mine" },
      workload: { overrides: { env: Object.entries(variables).map(([name, value]) => ({ name, value })) } },
    },
  }, "strict"));
  const derived = Result.getOrThrow(derive(resource, {
    ...DEFAULT_SURROUNDINGS,
    // What runs already may be an image that nobody publishes any more.
    running: { image: undefined, serverVersion: version },
    configMaps: new Map([["default/mine", { data: { "config.yaml": config }, binaryData: {} }]]),
  }));
  const folder = await Deno.makeTempDir();
  const [port] = freePorts(1) as [number];
  const module = product === "ogx" ? "ogx" : "llama_stack";
  const started = await startServer({
    server,
    config,
    command: ["-m", "uvicorn", "--factory", `${module}.core.server.server:create_app`, "--port", String(port)],
    env: { ...variables, SQLITE_STORE_DIR: folder, AWS_EC2_METADATA_DISABLED: "true" },
    dataDir: folder,
    port,
  }).catch((cause) => cause instanceof ServerDidNotStart ? cause : Promise.reject(cause));
  try {
    await look(
      started,
      warningsOf(derived).map(({ code }) => code).filter((code) => code !== "CredentialInEnvironment"),
    );
  } finally {
    if (!(started instanceof ServerDidNotStart)) await started.stop();
    await Deno.remove(folder, { recursive: true });
  }
};

const NAMES = "version: 2\ndistro_name: my\nimage_name: my\n";
const STORED = "storage: {backends: {kv_default: {type: kv_sqlite, db_path: '${env.SQLITE_STORE_DIR}/kv.db'}, " +
  "sql_default: {type: sql_sqlite, db_path: '${env.SQLITE_STORE_DIR}/sql.db'}}, stores: {metadata: {backend: kv_default, namespace: r}, " +
  "inference: {backend: sql_default, table_name: i}, conversations: {backend: sql_default, table_name: c}, " +
  "prompts: {backend: PROMPTS, PLACE: p}, connectors: {backend: PROMPTS, PLACE: n}}}\n";

for (
  const [server, prompts, place] of [
    ["llama-stack 0.7.3", "kv_default", "namespace"],
    ["ogx 1.5.0", "sql_default", "table_name"],
  ] as const
) {
  const head = `${NAMES}${STORED.replaceAll("PROMPTS", prompts).replaceAll("PLACE", place)}`;
  const inference = (config: string) =>
    `${head}apis: [inference]\nproviders: {inference: [{provider_id: o, provider_type: "remote::openai", config: ${config}}]}\n`;
  const plain = inference("{api_key: fake-key}");

  Deno.test(`${server} ignores models at top level of a config, and authentication without a type`, () =>
    tried(
      server,
      `${plain}models: [{model_id: mine, provider_id: o, model_type: llm}]\nserver: {auth: {provider_type: oauth2_token}}\n`,
      {},
      async (running, warnings) => {
        ok(!(running instanceof ServerDidNotStart), running instanceof ServerDidNotStart ? running.log : "");
        for (const code of ["SectionIgnored", "AuthenticationOff"]) ok(warnings.includes(code), warnings.join());
        const { status, body } = await running.get("/v1/models");
        strictEqual(status, 200);
        ok(!JSON.stringify(body).includes("mine"));
      },
    ));

  Deno.test(`${server} does not start with a variable that nothing sets, or a password of digits`, async () => {
    await tried(server, inference("{api_key: '${env.NOT_SET_ANYWHERE}'}"), {}, (running, warnings) => {
      ok(running instanceof ServerDidNotStart);
      match(running.log, /NOT_SET_ANYWHERE/);
      ok(warnings.includes("VariableNotSet"), warnings.join());
    });
    const backend = "sql_default: {type: sql_postgres, host: localhost, db: a, user: a, password: '${env.PG}'}";
    const config = plain.replace(/sql_default: \{type: sql_sqlite[^}]*\}[^}]*\}/, backend);
    ok(config.includes("sql_postgres"));
    await tried(server, config, { PG: "12345678" }, (running, warnings) => {
      ok(running instanceof ServerDidNotStart);
      match(running.log, /password[^]*valid string/);
      ok(warnings.includes("ConfigUnfit"), warnings.join());
    });
  });

  Deno.test(`${server} does not start with a bucket to which it has no credentials`, () =>
    tried(
      server,
      `${head}apis: [files]\nproviders: {files: [{provider_id: s, provider_type: "remote::s3", config: {bucket_name: b, ` +
        "endpoint_url: 'http://127.0.0.1:9', metadata_store: {backend: sql_default, table_name: f}}}]}\n",
      {},
      (running, warnings) => {
        ok(running instanceof ServerDidNotStart);
        match(running.log, /credentials/i);
        ok(warnings.includes("CredentialsMissing"), warnings.join());
      },
    ));

  Deno.test(`${server} does not start with a default embedding model that nothing registers and nobody lists`, async () => {
    const config =
      `${head}apis: [inference]\nproviders: {inference: [{provider_id: a, provider_type: "remote::vllm", config: ` +
      "{base_url: 'http://127.0.0.1:9/v1'}}]}\nvector_stores: {default_embedding_model: {provider_id: a, model_id: m}}\n";
    await tried(server, config, {}, (running, warnings) => {
      ok(running instanceof ServerDidNotStart);
      match(running.log, /Embedding model 'a\/m' not found/);
      ok(warnings.includes("ConfigUnfit"), warnings.join());
    });
    const model = "{model_id: m, provider_id: a, model_type: embedding, metadata: {embedding_dimension: 8}}";
    await tried(server, `${config}registered_resources: {models: [${model}]}\n`, {}, (running, warnings) => {
      ok(!(running instanceof ServerDidNotStart), running instanceof ServerDidNotStart ? running.log : "");
      ok(!warnings.includes("ConfigUnfit"), warnings.join());
    });
  });
}
