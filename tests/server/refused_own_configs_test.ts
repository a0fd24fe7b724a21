/** What the operator refuses of a base config of an author's own is what the code of a real server ends with. */
import { ok, strictEqual } from "node:assert/strict";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { compared } from "../../tools/oracle/compared.ts";
import { startOracle } from "../../tools/oracle/oracle.ts";

const VERSION = "ogx 1.5.0";

const config = (folder: string, models: string, vectors = "") =>
  `version: 2
distro_name: mine
apis: [inference, vector_io, files]
providers:
  vector_io: [${vectors}]
  files:
  - provider_id: f
    provider_type: inline::localfs
    config: {storage_dir: ${folder}, metadata_store: {backend: sql_default, table_name: f}}
  inference:
  - {provider_id: vllm, provider_type: remote::vllm, config: {base_url: "http://vllm:8000/v1"}}
  - {provider_id: st, provider_type: inline::sentence-transformers}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: ${folder}/kv.db}
    sql_default: {type: sql_sqlite, db_path: ${folder}/sql.db}
registered_resources: {models: [${models}]}
`;

const vectors = (type: string, settings: string) =>
  `{provider_id: v, provider_type: "remote::${type}", config: {${settings}}}`;
const STORE = "persistence: {backend: kv_default, namespace: v}";

Deno.test("what lint says of resources and providers of a base config is what the server does with them", async () => {
  await using oracle = await startOracle(VERSION);
  for (
    const [models, outcome, provider = ""] of [
      ["", "fails", vectors("milvus", `uri: "http://m:65536", token: t, ${STORE}`)],
      ["", "starts", vectors("milvus", `uri: "http://m:65535", token: t, ${STORE}`)],
      ["", "fails", vectors("qdrant", `url: "http://q:x", ${STORE}`)],
      ["", "fails", vectors("qdrant", `host: "http://q", ${STORE}`)],
      ["", "starts", vectors("qdrant", `host: q, ${STORE}`)],
      ["", "fails", vectors("elasticsearch", `elasticsearch_url: "http://:80", elasticsearch_api_key: k, ${STORE}`)],
      ["", "starts", vectors("weaviate", 'weaviate_cluster_url: "localhost:8080"')],
      ["", "fails", '{provider_id: "${env.UNKNOWN:+v}", provider_type: "remote::qdrant", config: []}'],
      ["{model_id: m, provider_id: vllm}", "starts"],
      ["{model_id: e, provider_id: st, model_type: embedding, metadata: {}}", "fails"],
      ["{model_id: e, provider_id: st, model_type: embedding, metadata: {embedding_dimension: 4}}", "starts"],
      ["{model_id: m, provider_id: vllm}, {model_id: m, provider_id: vllm}", "starts"],
      ["{model_id: m, provider_id: vllm, metadata: {a: 1}}, {model_id: m, provider_id: vllm}", "fails"],
      ["{model_id: m, provider_id: vllm}, {model_id: m, provider_id: vllm, provider_model_id: n}", "fails"],
    ] as const
  ) {
    const folder = await Deno.makeTempDir();
    try {
      const found = await compared(oracle, {
        manifest: {
          apiVersion: API_VERSION,
          kind: KIND,
          metadata: { name: "my", namespace: "default" },
          spec: {
            distribution: { image: "registry.example.com/own:1", serverVersion: VERSION.split(" ")[1] ?? "" },
            baseConfig: { configMapName: "mine" },
          },
        },
        secrets: {},
        configMaps: new Map([
          ["default/mine", { data: { "config.yaml": config(folder, models, provider) }, binaryData: {} }],
        ]),
      }, true);
      strictEqual(found.server?.outcome, outcome, `${models}${provider}: ${found.server?.error}`);
      ok((found.lint === "refused") === (outcome === "fails"), `${models}${provider}: ${found.lint} ${found.reasons}`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
});
