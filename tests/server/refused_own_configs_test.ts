/** What the operator refuses of a base config of an author's own is what the code of a real server ends with. */
import { ok, strictEqual } from "node:assert/strict";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { compared } from "../../tools/oracle/compared.ts";
import { startOracle } from "../../tools/oracle/oracle.ts";

const VERSION = "ogx 1.5.0";

const config = (folder: string, models: string) =>
  `version: 2
distro_name: mine
apis: [inference]
providers:
  inference:
  - {provider_id: vllm, provider_type: remote::vllm, config: {base_url: "http://vllm:8000/v1"}}
  - {provider_id: st, provider_type: inline::sentence-transformers}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: ${folder}/kv.db}
    sql_default: {type: sql_sqlite, db_path: ${folder}/sql.db}
registered_resources: {models: [${models}]}
`;

Deno.test("what lint says of resources of a base config is what the server does with them", async () => {
  await using oracle = await startOracle(VERSION);
  for (
    const [models, outcome] of [
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
          ["default/mine", { data: { "config.yaml": config(folder, models) }, binaryData: {} }],
        ]),
      }, true);
      strictEqual(found.server?.outcome, outcome, `${models}: ${found.server?.error}`);
      ok((found.lint === "refused") === (outcome === "fails"), `${models}: ${found.lint} ${found.reasons}`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
});
