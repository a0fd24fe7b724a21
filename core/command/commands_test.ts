import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { manifest, SURROUNDINGS } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";
import { writeYaml } from "../data/yaml.ts";
import { NOWHERE } from "../resources/of_resource.ts";
import { convertCommand } from "./convert.ts";
import { imagesCommand } from "./images.ts";
import { lintCommand } from "./lint.ts";
import { PLAIN } from "./outcome.ts";
import { renderCommand, type RenderOptions } from "./render.ts";

const file = (...documents: ReadonlyArray<JsonObject | string>) => ({
  name: "f.yaml",
  text: documents.map((document) => typeof document === "string" ? document : writeYaml(document)).join("---\n"),
});
const GOOD = manifest({ storage: { kv: {} } }, "good");
const BAD = manifest({ providers: { inference: [{ provider: "nope" }] } }, "bad");
const PLAIN_IMAGE = manifest({}, "plain");
const OWN = manifest({ overrideConfig: { configMapName: "c" } }, "own");
const SECRET = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "canary" } };

const render = (documents: ReadonlyArray<JsonObject | string>, options: Partial<RenderOptions> = {}) =>
  renderCommand([file(...documents)], SURROUNDINGS, { only: undefined, format: "yaml", style: PLAIN, ...options });
const lint = (documents: ReadonlyArray<JsonObject | string>, format: "text" | "json" = "text") =>
  lintCommand([file(...documents)], SURROUNDINGS, { format, style: PLAIN });

Deno.test("renderCommand() prints every object in the order in which it is written", () => {
  const { stdout, stderr, code } = render([GOOD]);
  const kinds = [...stdout.matchAll(/^kind: (.*)$/gm)].map(([, kind]) => kind);
  deepStrictEqual(kinds, ["ServiceAccount", "ConfigMap", "Deployment", "Service"]);
  deepStrictEqual([stderr, code], ["", 0]);
});

Deno.test("renderCommand() prints the bare config or the bare environment on request", () => {
  ok(render([GOOD], { only: "config" }).stdout.startsWith("version: 2\n"));
  ok(render([GOOD], { only: "env" }).stdout.startsWith("- name: FILES_STORAGE_DIR\n"));
  const json = JSON.parse(render([GOOD], { only: "env", format: "json" }).stdout) as ReadonlyArray<JsonObject>;
  deepStrictEqual(json[0], { name: "FILES_STORAGE_DIR", value: "/.llama/distributions/starter/files" });
  strictEqual((JSON.parse(render([GOOD], { only: "config", format: "json" }).stdout) as JsonObject).version, 2);
});

for (
  const [name, document, words] of [["an image's own default", PLAIN_IMAGE, "runs the config built into the image"], [
    "an own config",
    OWN,
    "is used unchanged",
  ]] as const
) {
  Deno.test(`renderCommand() prints only one line for ${name}`, () => {
    const { stdout, stderr, code } = render([document], { only: "config" });
    deepStrictEqual([stdout, stderr.trimEnd().split("\n").length, code], ["", 1, 0]);
    ok(stderr.includes(words), stderr);
  });
}

Deno.test("renderCommand() prints the good ones of several documents and fails for the bad ones", () => {
  const { stdout, stderr, code } = render([GOOD, BAD, GOOD], { only: "config" });
  strictEqual(stdout.split("---\n").length, 2);
  ok(
    stderr.startsWith(
      "f.yaml: default/bad: error: spec.providers.inference[0].provider: unsupported inference provider type",
    ),
  );
  strictEqual(code, 1);
});

Deno.test("renderCommand() leaves other kinds alone and prints nothing of them", () => {
  const { stdout, stderr, code } = render([SECRET, GOOD]);
  ok(!`${stdout}${stderr}`.includes("canary"));
  ok(stderr.includes("f.yaml: Secret ignored"));
  strictEqual(code, 0);
});

Deno.test("renderCommand() reads the items of a List", () => {
  strictEqual(render([{ apiVersion: "v1", kind: "List", items: [GOOD] }]).code, 0);
});

for (
  const [name, text] of [["no resource", "apiVersion: v1\nkind: Pod\n"], ["nothing", ""], ["no YAML", "a: [\n"], [
    "a text",
    "hello\n",
  ]] as const
) {
  Deno.test(`renderCommand() and lintCommand() fail for a file with ${name}`, () => {
    strictEqual(render([text]).code, 1);
    ok(render([text]).stderr.length > 0);
    strictEqual(lint([text]).code, 1);
  });
}

Deno.test("lintCommand() reports errors and warnings with a total", () => {
  deepStrictEqual(lint([GOOD]).stdout, "0 errors, 0 warnings in 1 resource\n");
  const both = manifest({
    providers: { inference: [{ id: "a", provider: "nope" }, { id: "o", provider: "ollama", settings: { z: 1 } }] },
  });
  const { stdout, code } = lint([both]);
  ok(
    /^f\.yaml: default\/my\n {2}13:9 {2}error {4}spec\.providers\.inference\[0\]\.provider: .*\n {2}17:11 {2}warning {2}spec\.providers\.inference\[1\]\.settings\.z: .*\n1 error, 1 warning in 1 resource\n$/
      .test(stdout),
    stdout,
  );
  strictEqual(code, 1);
});

const foundIn = (document: JsonObject) =>
  [...lint([document]).stdout.matchAll(/(?:error|warning) +([\w.[\]]+): /g)].map(([, path]) => path);

Deno.test("lintCommand() judges the rest of a resource with a field that does not exist, but not what may follow from it", () => {
  const old = {
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: { name: "my" },
    spec: { server: { distribution: { name: "starter" }, podOverrides: { annotations: { a: "b" } }, tlsConfig: {} } },
  };
  deepStrictEqual(foundIn(old)[0], "spec.server.podOverrides.annotations");
  match(lint([old]).stdout, /podAnnotations, and what a cloud reads of a ServiceAccount/);
  const inference = [
    { provider: "nope", id: "a", adress: "http://a" },
    { provider: "vlm", id: "b", endpoint: "http://a" },
  ];
  deepStrictEqual(foundIn(manifest({ providers: { inference } })), [
    "spec.providers.inference[0].adress",
    "spec.providers.inference[1].provider",
  ]);
  deepStrictEqual(foundIn(manifest({ distribution: { name: "starter", nam: "x" }, providers: { inference } })), [
    "spec.distribution.nam",
    "spec.providers.inference[0].adress",
  ]);
});

Deno.test("lintCommand() judges a resource of an unknown version by the version whose fields it has", () => {
  const spec = { image: "example.com/server:1", config: {} };
  const found = foundIn({ ...manifest({}), apiVersion: "llamastack.example.com/v1", spec });
  deepStrictEqual(found.slice(0, 3), ["apiVersion", "spec.image", "spec.config"]);
});

Deno.test("lintCommand() prints one JSON object with stable keys for CI", () => {
  const report = JSON.parse(lint([BAD], "json").stdout) as { findings: ReadonlyArray<object> };
  deepStrictEqual(Object.keys(report), ["resources", "errors", "warnings", "findings"]);
  deepStrictEqual(Object.keys(report.findings[0] ?? {}), [
    "resource",
    "level",
    "code",
    "reason",
    "path",
    "message",
    "file",
    "line",
    "column",
  ]);
});

Deno.test("lintCommand() rejects the former shorthand, as the API server does, and prints the list form", () => {
  const { stdout, code } = lint([manifest({ resources: { models: ["gpt"] } } as never)]);
  ok(stdout.includes("a former notation, which the API server rejects; write"));
  strictEqual(code, 1);
});

const OLD = {
  apiVersion: "llamastack.io/v1alpha1",
  kind: "LlamaStackDistribution",
  metadata: { name: "old" },
  spec: { replicas: 2, server: { distribution: { name: "starter" }, containerSpec: { port: 8322 } } },
};

Deno.test("lintCommand() and renderCommand() convert v1alpha1 to v1alpha2 and report it in one line", () => {
  const line = "f.yaml: old: llamastack.io/v1alpha1 was converted to llamastack.io/v1alpha2; " +
    "`llama-stack-operator convert -f FILE` prints the file in that version\n";
  const { stdout, stderr, code } = lint([OLD]);
  deepStrictEqual([stderr, code], [line, 0]);
  ok(stdout.includes("warning  spec.replicas: use storage.sql of type postgres"), stdout);
  const spec = { distribution: { name: "starter" }, workload: { replicas: 2 }, networking: { port: 8322 } };
  const same = manifest(spec, "old");
  const { metadata: _, ...bare } = same;
  const rendered = render([OLD]);
  ok(rendered.stderr.startsWith(line) && rendered.code === 0, rendered.stderr);
  strictEqual(rendered.stdout, render([{ ...bare, metadata: { name: "old" } }]).stdout);
});

Deno.test("lintCommand() names a wrong field of v1alpha1 as its author wrote it", () => {
  const typo = { ...OLD, spec: { server: { distribution: { name: "starter" }, containerSpec: { prot: 1 } } } };
  const { stdout, code } = lint([typo]);
  ok(stdout.includes("spec.server.containerSpec.prot: Unknown field; did you mean port"), stdout);
  strictEqual(code, 1);
  ok(lint([{ ...OLD, spec: { server: {} } }]).stdout.includes("spec.server.distribution: Required field is missing"));
});

Deno.test("imagesCommand() lists each image once, sorted", () => {
  const { stdout } = imagesCommand(SURROUNDINGS, "text");
  const images = stdout.trimEnd().split("\n");
  deepStrictEqual(images, [...new Set(images)].sort());
  ok(images.includes("docker.io/ogxai/distribution-starter:1.4.1"));
});

Deno.test("lintCommand() and renderCommand() name the fields of v1alpha1 by their paths there", () => {
  const wrong = { ...OLD, spec: { server: { distribution: { name: "strater" }, containerSpec: { port: 80 } } } };
  const { findings } = JSON.parse(lint([wrong], "json").stdout) as { findings: ReadonlyArray<{ path: string }> };
  deepStrictEqual(findings.map(({ path }) => path), [
    "spec.server.distribution.name",
    "spec.server.containerSpec.port",
  ]);
  ok(render([wrong]).stderr.includes("error: spec.server.distribution.name: unknown distribution"));
});

Deno.test("lintCommand() and renderCommand() reject what admission rejects of a new resource", () => {
  const scaling = { maxReplicas: 0 };
  for (
    const [path, spec] of [
      ["spec.networking.port", { networking: { port: 80 } }],
      ["spec.networking.port", { networking: { port: 80 }, disabled: ["eval"] }],
      ["spec.workload.podDisruptionBudget", { workload: { podDisruptionBudget: {} } }],
      ["spec.workload.autoscaling.maxReplicas", { workload: { autoscaling: scaling } }],
    ] as const
  ) {
    const { findings } = JSON.parse(lint([manifest(spec)], "json").stdout) as {
      findings: ReadonlyArray<{ path: string; level: string }>;
    };
    deepStrictEqual(findings.filter(({ level }) => level === "error").map((finding) => finding.path), [path]);
    strictEqual(render([manifest(spec)]).code, 1);
  }
});

Deno.test("lintCommand() warns of sqlite under several pods and of a server open to everybody where the image has its own config", () => {
  const { stdout, code } = lint([manifest({ workload: { replicas: 3 }, networking: { expose: {} } })]);
  ok(stdout.includes("warning  spec.workload.replicas: use storage.sql of type postgres"), stdout);
  ok(stdout.includes("warning  spec.networking.expose: "), stdout);
  strictEqual(code, 0);
});

Deno.test("lintCommand() says that the network policies of the settings keep the ingress controller out", () => {
  const exposed = manifest({ distribution: { name: "starter" }, networking: { expose: {} } });
  const codes = (networkPolicies: boolean) => {
    const platform = { ...NOWHERE.platform, networkPolicies };
    const { stdout } = lintCommand([file(exposed)], SURROUNDINGS, { format: "json", style: PLAIN, platform });
    return JSON.parse(stdout).findings.map(({ code }: { code: string }) => code)
      .filter((code: string) => code === "IngressNotAllowed");
  };
  deepStrictEqual([codes(false), codes(true)], [[], ["IngressNotAllowed"]]);
});

Deno.test("lintCommand() names the port of a rule that no pod of the server has, without knowing the cluster", () => {
  const ingress = ["http", "metrics"].map((port) => ({ ports: [{ port }] }));
  const spec = { distribution: { name: "ogx-starter" }, networking: { policy: { ingress } } };
  const paths = (more: JsonObject) =>
    JSON.parse(lint([manifest({ ...spec, ...more })], "json").stdout).findings
      .filter(({ code }: { code: string }) => code === "PortNameUnknown").map(({ path }: { path: string }) => path);
  const at = (index: number) => `spec.networking.policy.ingress[${index}].ports[0].port`;
  // Whether a server has metrics that says nothing of them depends on the cluster.
  deepStrictEqual([paths({}), paths({ monitoring: { enabled: false } })], [[at(0)], [at(0), at(1)]]);
});

Deno.test("lintCommand() warns of a gateway that nobody names or that cannot verify the server", () => {
  const networking = { expose: { gateway: {} }, tls: { enabled: true, secretName: "tls" } };
  const exposed = manifest({ distribution: { name: "starter" }, networking });
  const { platform } = NOWHERE;
  const { stdout } = lintCommand([file(exposed)], SURROUNDINGS, { format: "json", style: PLAIN, platform });
  const codes = JSON.parse(stdout).findings.map(({ code }: { code: string }) => code);
  ok(["GatewayNotNamed", "GatewayCannotVerify"].every((code) => codes.includes(code)), stdout);
});

Deno.test("lintCommand() warns where replicas keeps the autoscaler from its minimum", () => {
  const spec = (replicas: number) => ({ workload: { replicas, autoscaling: { minReplicas: 1, maxReplicas: 5 } } });
  ok(
    lint([manifest(spec(3))]).stdout.includes(
      "warning  spec.workload.autoscaling.minReplicas: spec.workload.replicas is 3, so the autoscaler keeps at least 3 pods",
    ),
  );
  ok(!lint([manifest(spec(1))]).stdout.includes("minReplicas"));
});

Deno.test("lint warns of a ConfigMap of another namespace in v1alpha1, and names fields by their own paths", () => {
  const of = (spec: JsonObject) => ({
    name: "f",
    text: JSON.stringify({
      apiVersion: "llamastack.io/v1alpha1",
      kind: "LlamaStackDistribution",
      metadata: { name: "my", namespace: "team" },
      spec,
    }),
  });
  const userConfig = { configMapName: "c", configMapNamespace: "other" };
  const warned = lintCommand([of({ server: { distribution: { name: "starter" }, userConfig } })], SURROUNDINGS, {
    format: "text",
    style: PLAIN,
  });
  ok(warned.stdout.includes("spec.server.userConfig.configMapNamespace: ConfigMaps of other namespaces are not read"));
  const nested = lintCommand([of({ distribution: { name: "starter" } })], SURROUNDINGS, {
    format: "text",
    style: PLAIN,
  });
  match(
    nested.stdout,
    /error {4}spec\.distribution: a field of llamastack\.io\/v1alpha2; write apiVersion: [^\n]*\n1 error/,
  );
});

Deno.test("lint shows the findings of each of two documents with one name apart", () => {
  const good = JSON.stringify(manifest({}));
  const text = `${good}\n---\n${JSON.stringify(manifest({ replicas: 2 }))}\n`;
  const { stdout } = lintCommand([{ name: "f", text }], SURROUNDINGS, { format: "text", style: PLAIN });
  strictEqual(stdout.split("spec.replicas").length, 2, stdout);
});

const findingsOf = (document: JsonObject) =>
  (JSON.parse(lint([document], "json").stdout) as {
    findings: ReadonlyArray<{ level: string; path: string; message: string; code: string }>;
  }).findings;
const errorsOf = (document: JsonObject) => findingsOf(document).filter(({ level }) => level === "error");
const oldServer = (more: JsonObject): JsonObject => ({
  ...OLD,
  spec: { server: { distribution: { name: "starter" }, ...more } },
});

Deno.test("lint, render and convert ignore nulls as the API server does, and keep those of free-form fields", () => {
  const text = (more: string) =>
    `apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: my\n  labels:\nspec:\n` +
    `  distribution:\n    name: starter\n${more}`;
  strictEqual(lint([text("  workload:\n    # replicas: 2\n")]).code, 0);
  strictEqual(lint([text("  networking:\n    expose:\n")]).code, 0);
  strictEqual(lint([oldServer({ workers: null, podOverrides: null })]).code, 0);
  const kept = text(
    "  providers:\n    inference:\n    - provider: vllm\n      endpoint: http://v\n" +
      "      settings:\n        tls_verify:\n",
  );
  ok(render([kept], { only: "config" }).stdout.includes("tls_verify: null"), render([kept], { only: "config" }).stdout);
  ok(lint([text("  disabled: [null]\n")]).stdout.includes("spec.disabled[0]"));
});

Deno.test("lint rejects metadata that the API server rejects", () => {
  const metadata = {
    name: "foo",
    namespace: "Foo_x",
    labels: { a: 1, "b c": "d" },
    annotations: { x: true },
    lables: {},
  };
  deepStrictEqual(errorsOf({ ...GOOD, metadata }).map(({ message }) => message), [
    "metadata.lables: Unknown field; did you mean labels?",
    'metadata.namespace: not the name of a namespace: "Foo_x"; use lower-case letters, digits and "-"',
    "metadata.labels.a: Expected a string; put the value in quotes",
    'metadata.labels["b c"]: not a label key: "b c"; use letters, digits, "-", "_" and "."',
    "metadata.annotations.x: Expected a string; put the value in quotes",
  ]);
});

Deno.test("lint accepts generateName, and rejects one that makes no usable name", () => {
  deepStrictEqual(errorsOf({ ...GOOD, metadata: { generateName: "my-" } }), []);
  ok(render([{ ...GOOD, metadata: { generateName: "my-" } }]).stdout.includes("name: my-xxxxx-service"));
  for (const generateName of ["My-", "a".repeat(51)]) {
    deepStrictEqual(errorsOf({ ...GOOD, metadata: { generateName } }).map(({ path }) => path), [
      "metadata.generateName",
    ]);
  }
});

Deno.test("lint rejects a port of v1alpha1 that no server can have", () => {
  for (const port of [70000, -5]) {
    deepStrictEqual(errorsOf(oldServer({ containerSpec: { port } })).map(({ path }) => path), [
      "spec.server.containerSpec.port",
    ]);
    strictEqual(render([oldServer({ containerSpec: { port } })]).code, 1);
  }
  deepStrictEqual(errorsOf(oldServer({ containerSpec: { port: 0 } })), []);
});

Deno.test("lint names fields of v1alpha1 by their paths there, also beside an error of its schema", () => {
  const wrong = oldServer({ workers: 0, podDisruptionBudget: {} });
  deepStrictEqual(errorsOf(wrong).map(({ path }) => path), ["spec.server.workers", "spec.server.podDisruptionBudget"]);
  ok(!lint([wrong]).stderr.includes("was converted"), lint([wrong]).stderr);
  // v1alpha1 has no such field: its path is that of v1alpha2.
  const { stdout } = lintCommand([file(oldServer({}))], { ...SURROUNDINGS, serverVersion: "9.9" }, {
    format: "text",
    style: PLAIN,
  });
  ok(stdout.includes("set spec.distribution.serverVersion (v1alpha2) to"), stdout);
});

Deno.test("lint rejects an image that cannot be pulled, and does not ask for its labels", () => {
  const document = manifest({
    distribution: { image: "localhost./x:1" },
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
  });
  const surroundings = { ...SURROUNDINGS, imageLabels: "Auto" } as const;
  const { stdout } = lintCommand([file(document)], surroundings, { format: "text", style: PLAIN });
  ok(stdout.includes("error    spec.distribution.image: not an image reference"), stdout);
  ok(stdout.includes("1 error, 0 warnings"), stdout);
});

Deno.test("lint warns of two resources with one name, which replace each other", () => {
  const found = findingsOf(GOOD);
  const { findings } = JSON.parse(lint([GOOD, manifest({}, "good"), manifest({}, "other")], "json").stdout) as {
    findings: ReadonlyArray<{ code: string; message: string }>;
  };
  deepStrictEqual(found.filter(({ code }) => code === "DuplicateResource"), []);
  deepStrictEqual(findings.filter(({ code }) => code === "DuplicateResource").map(({ message }) => message), [
    "the same name and namespace as f.yaml: default/good, which it replaces when applied; rename one of them",
  ]);
});

Deno.test("no text of a manifest begins a line of the output, which a CI system could take for a command", () => {
  const hostile = "x\n::add-mask::y\r\n::stop-commands::z\u2028::debug::";
  const document = {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    metadata: { name: hostile, namespace: hostile, labels: { [hostile]: hostile }, [hostile]: 1 },
    spec: {
      distribution: { name: hostile },
      [hostile]: hostile,
      providers: { inference: { id: hostile, provider: hostile, endpoint: hostile, settings: { [hostile]: hostile } } },
      resources: { models: [hostile] },
      workload: { overrides: { env: [{ name: hostile, value: hostile }], serviceAccountName: hostile } },
    },
  };
  const text = JSON.stringify({ kind: "List", apiVersion: "v1", items: [document, { kind: hostile }] });
  const files = [{ name: hostile, text }];
  const outputs = [
    lintCommand(files, SURROUNDINGS, { format: "text", style: PLAIN }),
    convertCommand(files, { to: "v1alpha1", format: "json", style: PLAIN }),
  ].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  ok(outputs.join("").includes("add-mask"));
  for (const line of outputs.join("").split(/\r|\n/)) ok(!line.trimStart().startsWith("::"), line);
});

const OWN_TEXT = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: my
spec:
  distribution: { name: starter }
  replicas: 2
  providers:
    inference:
      - provider: ollama
        settings: { z: 1 }
`;
const linted = (text: string, format: "text" | "json" | "sarif" | "github", strict = false) =>
  lintCommand([{ name: "a b,c.yaml", text }], SURROUNDINGS, { format, strict, style: PLAIN });
const WARNED_TEXT = OWN_TEXT.replace("  replicas: 2\n", "");

Deno.test("lint names line and column of each finding, in v1alpha1 and in the items of a List too", () => {
  match(linted(OWN_TEXT, "text").stdout, /^ {2}7:3 {2}error {4}spec\.replicas: /m);
  match(linted(WARNED_TEXT, "text").stdout, /^ {2}10:21 {2}warning {2}spec\.providers\.inference\[0\]\.settings\.z: /m);
  const old = `apiVersion: v1\nkind: List\nitems:\n- kind: A\n- apiVersion: llamastack.io/v1alpha1
  kind: LlamaStackDistribution
  metadata: {name: my}
  spec:
    server:
      distribution: {name: starter}
      workers: 0
`;
  match(linted(old, "text").stdout, /^ {2}11:7 {2}error {4}spec\.server\.workers: /m);
});

Deno.test("lint prints SARIF for code scanning and commands for annotations of a pull request", () => {
  const { runs: [run] } = JSON.parse(linted(OWN_TEXT, "sarif").stdout);
  deepStrictEqual(run.results[0].locations, [{
    physicalLocation: { artifactLocation: { uri: "a%20b,c.yaml" }, region: { startLine: 7, startColumn: 3 } },
  }]);
  deepStrictEqual(run.tool.driver.rules, [{ id: "SchemaMismatch" }]);
  strictEqual(
    linted(OWN_TEXT, "github").stdout,
    "::error file=a b%2Cc.yaml,line=7,col=3,title=SchemaMismatch::spec.replicas: unknown field; write it as spec.workload.replicas\n",
  );
  strictEqual(linted(OWN_TEXT, "sarif").code, 1);
});

Deno.test("lint --strict fails for warnings", () => {
  strictEqual(linted(WARNED_TEXT, "text").code, 0);
  strictEqual(linted(WARNED_TEXT, "text", true).code, 1);
});

Deno.test("lint recognizes Helm templates and empty files", () => {
  match(
    linted(`{{- if .Values.on }}\n${OWN_TEXT}{{- end }}\n`, "text").stdout,
    /error {4}a Helm template; check what `helm template`/,
  );
  match(linted(" \n", "text").stderr, /the file is empty/);
});
