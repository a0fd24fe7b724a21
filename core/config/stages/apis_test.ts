/** Which APIs the server of a base config with a list of APIs opens. */
import { deepStrictEqual } from "node:assert/strict";
import { generated } from "../../../tests/given.ts";
import { at, type JsonObject, listAt } from "../../data/json.ts";

/** Of inference, there is a provider, and a model of another one, which the server does not register. */
const CONTENT = `version: 2
distro_name: my
apis: [files]
providers:
  inference: [{ provider_id: a, provider_type: "remote::vllm", config: { base_url: "http://v:8000/v1" } }]
  files:
    - provider_id: f
      provider_type: "inline::localfs"
      config: { storage_dir: /.llama/f, metadata_store: { backend: sql_default, table_name: f } }
storage:
  backends:
    kv_default: { type: kv_sqlite, db_path: /.llama/kv.db }
    sql_default: { type: sql_sqlite, db_path: /.llama/sql.db }
registered_resources: { models: [{ model_id: m, provider_id: gone }] }
`;
const made = (spec: JsonObject, { content = CONTENT, serverVersion = "1.4.1" } = {}) =>
  generated({ distribution: { name: "starter", serverVersion }, ...spec }, { base: { origin: "test", content } })
    .config;

Deno.test("an API that a base config leaves out stays closed, and the models of it are not judged", () => {
  const { tree, warnings } = made({});
  deepStrictEqual(listAt(tree, "apis"), ["files"]);
  deepStrictEqual(warnings.filter(({ code }) => code === "ConfigUnfit"), []);
});

Deno.test("an API that a base config leaves out opens for a provider or a resource of the spec", () => {
  for (
    const spec of [
      { providers: { inference: [{ provider: "vllm", id: "b", endpoint: "http://w:8000/v1" }] } },
      { resources: { models: [{ name: "n", provider: "a" }] } },
    ]
  ) {
    const { tree, warnings } = made(spec);
    deepStrictEqual(listAt(tree, "apis").toSorted(), ["files", "inference"]);
    deepStrictEqual(warnings.filter(({ code }) => code === "ConfigUnfit").length, 1);
  }
});

Deno.test("a list without APIs closes all of them on OGX 1.5, and opens all of them before", () => {
  const content = CONTENT.replace(/^apis: .*$/m, "apis: []");
  deepStrictEqual(at(made({}, { content, serverVersion: "1.5.0" }).tree, "apis"), ["inspect"]);
  deepStrictEqual(at(made({}, { content }).tree, "apis"), undefined);
  const open = CONTENT.replace(/^apis: .*\n/m, "");
  deepStrictEqual(at(made({}, { content: open, serverVersion: "1.5.0" }).tree, "apis"), undefined);
});

Deno.test("an API of a base config that comes of a variable is the one that the server reads", () => {
  const of = (api: string, spec: JsonObject = {}) =>
    listAt(made(spec, { content: CONTENT.replace("[files]", `["${api}", inference]`) }).tree, "apis");
  deepStrictEqual(of("${env.B:=files}"), ["files", "inference"]);
  deepStrictEqual(of("${env.B:=files}", { disabled: ["files"] }), ["inference"]);
  const unknown = { workload: { overrides: { envFrom: [{ secretRef: { name: "s" } }] } } };
  deepStrictEqual(of("${env.B:=files}", unknown), ["${env.B:=files}", "inference"]);
});
