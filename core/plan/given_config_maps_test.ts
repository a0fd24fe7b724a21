import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { manifest, SURROUNDINGS } from "../../tests/given.ts";
import { planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { lintCommand } from "../command/lint.ts";
import { PLAIN } from "../command/outcome.ts";
import { renderCommand } from "../command/render.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import { writeYaml } from "../data/yaml.ts";

const CONFIG = "version: 2\ndistro_name: my\napis: [inference]\nproviders: {inference: []}\n";
const OWN = manifest({ overrideConfig: { configMapName: "mine" } });
const configMap = (data: JsonObject, name = "mine", namespace?: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  data,
});
const files = (...documents: ReadonlyArray<JsonObject>) =>
  documents.map((document, index) => ({ name: `${index}.yaml`, text: writeYaml(document) }));
const lint = (...documents: ReadonlyArray<JsonObject>) =>
  lintCommand(files(...documents), SURROUNDINGS, { format: "text", style: PLAIN });
const render = (...documents: ReadonlyArray<JsonObject>) =>
  renderCommand(files(...documents), SURROUNDINGS, { only: undefined, format: "yaml", style: PLAIN });

Deno.test("a ConfigMap in another file that the resource names is not ignored, and one that nobody names is", () => {
  const ignored = (document: JsonObject) =>
    lint(OWN, document).stderr.split("\n").filter((line) => /ignored/.test(line));
  deepStrictEqual(ignored(configMap({ "config.yaml": CONFIG })), []);
  deepStrictEqual(ignored(configMap({ "config.yaml": CONFIG }, "other")), ["1.yaml: ConfigMap ignored"]);
  deepStrictEqual(ignored(configMap({ "config.yaml": CONFIG }, "mine", "elsewhere")), ["1.yaml: ConfigMap ignored"]);
});

Deno.test("of two ConfigMaps of one name, that in the file of the resource counts", () => {
  const texts = ["vllm", "vlm"].map((type) => {
    const config = CONFIG.replace(
      "[]}",
      `[{provider_id: a, provider_type: "remote::${type}", config: {base_url: "http://v:1/v1"}}]}`,
    );
    return [OWN, configMap({ "config.yaml": config })].map(writeYaml).join("---\n");
  });
  const input = texts.map((text, index) => ({ name: `${index}.yaml`, text }));
  const { stdout } = lintCommand(input, SURROUNDINGS, { format: "json", style: PLAIN });
  const found = JSON.parse(stdout).findings.filter(({ code }: { code: string }) => code === "ConfigUnfit");
  deepStrictEqual(found.map(({ file }: { file: string }) => file), ["1.yaml"]);
  match(found[0].message, /no inference provider remote::vlm; did you mean remote::vllm\?; the server does not start/);
});

Deno.test("render mounts the copy of the ConfigMap beside the resource, as run does", () => {
  const { stdout } = render(OWN, configMap({ "config.yaml": CONFIG, "more.json": "{}" }));
  const applied = planOf(
    snapshot({ overrideConfig: { configMapName: "mine" } }, {
      configMaps: new Map([["default/mine", { data: { "config.yaml": CONFIG, "more.json": "{}" }, binaryData: {} }]]),
    }),
  ).steps.flatMap((step) => step._tag === "Apply" && step.manifest.kind === "ConfigMap" ? [step.manifest] : []);
  strictEqual(applied.length, 1);
  const name = stringAt(applied[0], "metadata", "name") ?? "?";
  strictEqual(stdout.split(`name: ${name}\n`).length, 3, stdout);
  ok(!stdout.includes("name: mine\n"));
});

for (
  const [what, data, words] of [
    ["an invalid config", { "config.yaml": "a: [" }, /error {2}.*mine\/config\.yaml is not a valid Llama Stack config/],
    ["a missing key", { "other.yaml": CONFIG }, /error {2}.*Key "config\.yaml" not found/],
  ] as const
) {
  Deno.test(`lint and render reject ${what} in the ConfigMap beside the resource`, () => {
    const { stdout, code } = lint(OWN, configMap(data));
    match(stdout, words);
    deepStrictEqual([code, render(OWN, configMap(data)).code], [1, 1]);
  });
}

const BASED = manifest({ baseConfig: { configMapName: "mine" } });

Deno.test("lint and render read the base config beside the resource, and lint does not miss it elsewhere", () => {
  const base = configMap({ "config.yaml": CONFIG });
  strictEqual(lint(BASED, base).code, 0);
  match(render(BASED, base).stdout, /distro_name: my/);
  const alone = lint(BASED);
  match(alone.stdout, /warning {2}.*spec\.baseConfig: the base config is in ConfigMap "mine"/);
  deepStrictEqual([alone.code, render(BASED).code], [0, 1]);
  match(lint(BASED, configMap({ other: CONFIG })).stdout, /^1 error, 0 warnings/m);
});

Deno.test("the status warns of an own config as lint does, and of what only the cluster knows", () => {
  const config =
    `${CONFIG}more: \${env.NOWHERE}\nstorage: {backends: {sql_default: {type: sql_postgres, password: "\${env.PG}"}}}\n`;
  const env = [{ name: "PG", valueFrom: { secretKeyRef: { name: "pg", key: "password" } } }];
  const spec = { overrideConfig: { configMapName: "mine" }, workload: { overrides: { env } } };
  const { steps } = planOf(snapshot(spec, {
    configMaps: new Map([["default/mine", { data: { "config.yaml": config }, binaryData: {} }]]),
    secrets: secretsOf({ pg: { password: "12345678" } }),
  }));
  const status = steps.flatMap((step) => step._tag === "SetStatus" ? [JSON.stringify(step)] : []).join();
  ok(status.includes("${env.NOWHERE} has no value"), status);
  ok(
    status.includes("sql_default.password: expected a string; the server converts variables that look like a number"),
    status,
  );
  ok(!status.includes("12345678"));
  match(lint(manifest(spec), configMap({ "config.yaml": config })).stdout, /NOWHERE\} has no value/);
});

Deno.test("run.yaml and a command of the author's need no key", () => {
  strictEqual(lint(OWN, configMap({ "run.yaml": CONFIG })).code, 0);
  const started = manifest({
    overrideConfig: { configMapName: "mine" },
    workload: { overrides: { command: ["server", "/etc/llama-stack/other.yaml"] } },
  });
  strictEqual(lint(started, configMap({ "other.yaml": CONFIG })).code, 0);
  strictEqual(render(started, configMap({ "other.yaml": CONFIG })).code, 0);
});

Deno.test("certificates in a ConfigMap beside the resource are judged and rendered", () => {
  const bundled = manifest({ storage: { kv: {} }, networking: { tls: { caBundle: { configMapName: "mine" } } } });
  match(lint(bundled, configMap({ "ca-bundle.crt": "hello" })).stdout, /it contains no BEGIN CERTIFICATE/);
  match(lint(bundled, configMap({ "ca-bundle.crt": " " })).stdout, /warning {2}.*contains no certificate/);
  match(lint(bundled, configMap({ other: "hello" })).stdout, /error {2}.*ca-bundle\.crt/);
  match(render(bundled, configMap({ "ca-bundle.crt": "" })).stdout, /ca-bundle\.crt: ''|ca-bundle\.crt: ""/);
});
