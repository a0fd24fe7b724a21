/**
 * `import` on configs as people write them (tests/fixtures/import): the result for each, and that no value of them goes unnoticed.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { importCommand } from "../core/command/import.ts";
import { PLAIN } from "../core/command/outcome.ts";
import { isList, isObject, type Json, type JsonObject } from "../core/data/json.ts";
import { readManifests, readYaml11 } from "../core/data/yaml.ts";
import { importConfig, type Imported } from "../core/import/importing.ts";
import { SURROUNDINGS } from "./given.ts";
import { growsWithSize } from "./measured.ts";

const FOLDER = new URL("fixtures/import/", import.meta.url);
const textOf = (name: string) => Deno.readTextFileSync(new URL(`${name}.yaml`, FOLDER));
const treeOf = (name: string) => Result.getOrThrow(readYaml11(textOf(name))) as JsonObject;

const OPTIONS = {
  name: undefined,
  namespace: undefined,
  serverVersion: undefined,
  distribution: undefined,
  envFile: undefined,
  keepData: false,
  to: undefined,
  check: false,
  format: "yaml" as const,
  style: PLAIN,
};
const command = (text: string) => importCommand([{ name: "f", text }], SURROUNDINGS, OPTIONS);

const imported = (tree: JsonObject, asked: { serverVersion?: string } = {}): Imported =>
  Result.getOrThrow(
    importConfig(
      { tree, variables: new Map(), isComplete: false, metadata: { name: "my" }, spec: {} },
      { keepData: false, ...asked },
      SURROUNDINGS,
    ),
  );

const EXPECTED: Readonly<Record<string, { readonly server: string; readonly differences: ReadonlyArray<string> }>> = {
  "ollama-0.2": { server: "0.2.24", differences: [] },
  "postgres-0.3": { server: "0.3.5", differences: [] },
  "tools-0.3": { server: "0.3.5", differences: [] },
  "playground-0.7": { server: "0.7.1", differences: [] },
  "service-1.x": { server: "1.4.1", differences: [] },
  "module-0.7": { server: "0.7.1", differences: ["lost: safety provider house-guard"] },
};

for (const [name, { server, differences }] of Object.entries(EXPECTED)) {
  Deno.test(`import recognizes the server of ${name}, and its result means the same but for what is named`, () => {
    const { candidate, differences: found, resource } = imported(treeOf(name));
    strictEqual(candidate.server.version, server);
    deepStrictEqual(found.map(({ kind, what }) => `${kind}: ${what}`), differences);
    const { stdout, stderr } = command(textOf(name));
    const [printed] = Result.getOrThrow(readManifests(stdout));
    deepStrictEqual(
      (printed as JsonObject).spec,
      JSON.parse(JSON.stringify(resource.spec).replaceAll("my-secrets", "llama-stack-secrets")),
    );
    ok(!`${stdout}${stderr}`.includes("canary"));
  });
}

Deno.test("every config of the folder is expected to become something", () => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".yaml"));
  deepStrictEqual(names.sort(), Object.keys(EXPECTED).map((name) => `${name}.yaml`).sort());
});

/** Scalars whose change changes nothing of the report, and why. */
const UNNOTICED: ReadonlyArray<{ readonly path: RegExp; readonly why: string }> = [
  { path: /^(version|image_name|distro_name)$/, why: "names that no server reads" },
  { path: /(password|api_token|api_key)$/, why: "the value of a secret" },
  { path: /^(metadata_store|telemetry|providers\.batches)\./, why: "inside of what is reported as not read" },
  { path: /\.tsl_cert$/, why: "the value of a field that is reported as not read" },
  { path: /^providers\.safety\.0\.(module|config\..*)$/, why: "inside of a provider that is reported as lost" },
  { path: /^registered_resources\.models\.2\./, why: "a model that is reported to have no provider" },
  { path: /^registered_resources\.models\.0\.(model_type|provider_id)$/, why: "a model that is reported as off" },
  {
    path: /^providers\.inference\.3\.(provider_type|config\..*)$/,
    why: "inside of a provider that is reported as off",
  },
];

for (const name of Object.keys(EXPECTED)) {
  Deno.test(`import notices every changed value of ${name}, but for a named few`, () => {
    const tree = treeOf(name);
    const { candidate: { server: { version } } } = imported(tree);
    const before = outcome(tree, version);
    const unnoticed = scalarsOf(tree).filter(({ path, value }) =>
      outcome(changed(tree, path, other(value)) as JsonObject, version) === before
    ).map(({ path }) => path.join("."));
    deepStrictEqual(unnoticed.filter((path) => !UNNOTICED.some((row) => row.path.test(path))), []);
  });
}

/** All that a user sees. */
const outcome = (tree: JsonObject, serverVersion: string): string => {
  const result = importConfig(
    { tree, variables: new Map(), isComplete: false, metadata: { name: "my" }, spec: {} },
    { keepData: false, serverVersion, distribution: "starter" },
    SURROUNDINGS,
  );
  if (Result.isFailure(result)) return result.failure.join();
  const { candidate, secrets, ...seen } = result.success;
  return JSON.stringify([seen, [...secrets], candidate.name]);
};

const scalarsOf = (
  value: Json,
  path: ReadonlyArray<string> = [],
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly value: Json }> =>
  isList(value) || isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => scalarsOf(inner, [...path, key]))
    : [{ path, value }];

const changed = (value: Json, [key, ...rest]: ReadonlyArray<string>, to: Json): Json => {
  if (key === undefined) return to;
  if (isList(value)) return value.map((item, index) => String(index) === key ? changed(item, rest, to) : item);
  return isObject(value) ? { ...value, [key]: changed(value[key] ?? null, rest, to) } : value;
};

const other = (value: Json): Json => {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return "other";
  const text = String(value);
  return text.includes("${env.") ? text.replace("${env.", "${env.OTHER_") : `${text}x`;
};

Deno.test("import answers for hostile files, within the bounds of lint", () => {
  const anchors = "bcdefghij".split("").map((letter, index) =>
    `${letter}: &${letter} [${Array(9).fill(`*${"abcdefghi"[index]}`).join(",")}]`
  );
  for (
    const [text, code] of [
      [`a: &a [x,x,x,x]\n${anchors.join("\n")}\nproviders: {inference: *j}`, 1],
      [`providers: ${"[".repeat(5000)}`, 1],
      [`version: 2\nproviders: {}\nx: ${"a".repeat(10 * 1024 * 1024)}`, 0],
      [
        "version: 2\nproviders:\n  __proto__: [{provider_id: __proto__, provider_type: constructor, config: {__proto__: {x: 1}}}]\n",
        0,
      ],
      [
        "version: 2\nproviders: {inference: [null, 5, [], {provider_id: null}, {provider_id: {a: 1}, provider_type: [1]}]}\nregistered_resources: {models: [null, {model_id: {}, provider_id: []}], shields: 5}\nstorage: [1]\nserver: 5\nvector_stores: x\n",
        0,
      ],
      [
        "apis: [5, null, {a: b}]\nproviders: 7\nserver: {auth: {provider_config: [1], access_policy: 5}}\nstorage: {backends: {a: 5}, stores: {metadata: 3, x: {backend: {}}}}\nvector_stores: {default_embedding_model: 5}\n",
        // Its authentication cannot be read, and is never left out.
        1,
      ],
      [
        "\ufeffversion: 2\r\nproviders:\r\n  inference:\r\n  - provider_id: a\r\n    provider_type: remote::vllm\r\n",
        0,
      ],
      ["kind: ConfigMap\nmetadata: 5\ndata: {run.yaml: 'providers: {'}\n", 1],
      ["services: {a: 5, b: {environment: 7, volumes: [null]}}\n", 1],
      ["kind: Deployment\nspec: {template: {spec: {containers: [5, {env: 3, volumeMounts: {}}], volumes: 5}}}\n", 1],
    ] as const
  ) {
    const { stderr, code: found } = command(text);
    strictEqual(found, code, `${text.slice(0, 80)}: ${stderr.slice(0, 300)}`);
    ok(stderr.length > 0 && stderr.length < 100_000);
  }
});

Deno.test("the time that import takes grows with the size of the config, and not faster", () => {
  const providers = (count: number) =>
    `version: 2\nproviders:\n  inference:\n${
      Array.from({ length: count }, (_, index) =>
        `  - provider_id: "\${env.X${index}:+p${index}}"\n    provider_type: remote::vllm\n    config: {base_url: "http://h${index}/v1", api_token: key-${index}}\n`)
        .join("")
    }registered_resources:\n  models:\n${
      Array.from({ length: count }, (_, index) => `  - {model_id: m${index}, provider_id: p${index}}\n`).join("")
    }`;
  const [small, large] = [providers(150), providers(600)];
  growsWithSize(() => command(small), () => command(large));
});
