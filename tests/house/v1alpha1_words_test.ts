/** What authors of v1alpha1 read has its paths: a field that only v1alpha2 has is named with its full path, which is marked then. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok } from "node:assert/strict";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { resourceSchema, resourceSchemaV1alpha1 } from "../../core/api/crd.ts";
import type { StructuralSchema } from "../../core/api/structural_check.ts";
import { lintCommand } from "../../core/command/lint.ts";
import { PLAIN } from "../../core/command/outcome.ts";
import { SURROUNDINGS } from "../given.ts";

const CORE = fileURLToPath(new URL("../../core/", import.meta.url));

/** Not the types of Kubernetes inside. */
const EMBEDDED =
  /^(workload\.(overrides|resources|topologySpreadConstraints)|server\.(containerSpec|podOverrides))\..*\./;

const namesIn = (schema: StructuralSchema, path = ""): ReadonlyArray<string> =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return EMBEDDED.test(at) ? [] : [name, ...namesIn(inner, at)];
  });

/** A resource that was written in v1alpha1 has none of the other blocks. */
const BLOCKS = ["distribution", "networking", "workload", "overrideConfig"];

const specOf = ({ properties = {} }: StructuralSchema): StructuralSchema => properties.spec ?? {};
const before = new Set(namesIn(specOf(resourceSchemaV1alpha1())));
const ONLY_NOW = BLOCKS.flatMap((block) => namesIn(specOf(resourceSchema()).properties?.[block] ?? {}, block))
  .filter((name) => !before.has(name) && /[A-Z]/.test(name));

/** Without `spec.` in front, no other path is recognized. */
const BARE = new RegExp(
  `(?<![A-Za-z0-9_.\\[\\]])(?:(?:workload|networking|overrideConfig)\\.[a-zA-Z]+|(?:${
    ONLY_NOW.join("|")
  }))(?![A-Za-z0-9_])`,
);

/** Descriptions for authors of v1alpha2 and for administrators; rules about fields that v1alpha1 lacks. */
const ELSEWHERE = [
  "api/auth.ts",
  "api/auth_rules.ts",
  "api/rules.ts",
  "api/v1alpha2.ts",
  "api/gateway_rules.ts",
  "api/hints.ts",
  "operator/settings.ts",
];

const filesIn = (folder: string): ReadonlyArray<string> =>
  [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}${name}`;
    if (isDirectory) return filesIn(`${path}/`);
    return name.endsWith(".ts") && !name.endsWith("_test.ts") ? [path] : [];
  });

const sentencesIn = (text: string): ReadonlyArray<string> =>
  text.replaceAll(/\/\*\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "")
    .match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)?.filter((literal) => literal.includes(" ")) ?? [];

Deno.test("no sentence of core names a field that only v1alpha2 has without its full path", () => {
  ok(ONLY_NOW.includes("existingClaim") && !ONLY_NOW.includes("mountPath"), ONLY_NOW.join());
  const found = filesIn(CORE).filter((path) => !ELSEWHERE.includes(path.slice(CORE.length))).flatMap((path) =>
    sentencesIn(Deno.readTextFileSync(path)).filter((sentence) => BARE.test(sentence.replaceAll(/\$\{[^{}]*\}/g, "")))
      .map((sentence) => `${path.slice(CORE.length)}: ${sentence}`)
  );
  deepStrictEqual(found, []);
});

const old = (...lines: ReadonlyArray<string>): string =>
  [
    "apiVersion: llamastack.io/v1alpha1",
    "kind: LlamaStackDistribution",
    "metadata: {name: a}",
    "spec:",
    "  server:",
    "    distribution: {name: starter}",
    ...lines,
    "",
  ].join("\n");

const OWN_CONFIG = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: mine}
data:
  config.yaml: |
    version: 2
    providers: {inference: [{provider_id: a, provider_type: "remote::vllm", config: {base_url: '\${env.URL_OF_VLLM}'}}]}
    server: {port: 9001, tls_certfile: /x, auth: {provider_type: x}}
    models: [{model_id: m}]
`;

const MISTAKES: ReadonlyArray<readonly [text: string, atLeast: number]> = [
  [
    old(
      "    podOverrides:",
      "      volumeMounts: [{name: v, mountPath: /.llama}, {name: w, mountPath: /etc/llama-stack}]",
      "      volumes: [{name: v, emptyDir: {}}, {name: w, hostPath: {path: /x}}]",
      "    userConfig: {configMapName: mine}",
      "    tlsConfig: {caBundle: {configMapName: ca, configMapNamespace: other}}",
    ),
    3,
  ],
  [old("    podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}"), 1],
  [
    `${
      old(
        "    workers: 2",
        "    containerSpec:",
        "      port: 9000",
        '      command: ["llama", "stack", "run", "/app/run.yaml"]',
        '      resources: {requests: {memory: "1", cpu: "0"}}',
        "      env:",
        "      - {name: VLLM_API_TOKEN, value: fake}",
        '      - {name: LLAMA_STACK_PORT, value: "1"}',
        "      - {name: OGX_CONFIG, value: /x}",
        "    userConfig: {configMapName: mine}",
        "    storage: {size: 20}",
        "    autoscaling: {minReplicas: 1, maxReplicas: 2}",
        "  replicas: 3",
        "  network: {exposeRoute: true}",
      )
    }${OWN_CONFIG}`,
    10,
  ],
  [`${old("    userConfig: {configMapName: mine}", "    storage: {}", "  replicas: 3")}${OWN_CONFIG}`, 4],
  [
    old("    distribution: {image: own}", "    userConfig: {configMapName: mine}").replace(
      "    distribution: {name: starter}\n",
      "",
    ),
    1,
  ],
];

Deno.test("lint of v1alpha1 resources with many mistakes names no field of v1alpha2 but with its version", () => {
  for (const [text, atLeast] of MISTAKES) {
    const { stdout } = lintCommand([{ name: "f.yaml", text }], SURROUNDINGS, { format: "json", style: PLAIN });
    const findings = listAt(JSON.parse(stdout) as JsonObject, "findings").map((found) =>
      stringAt(found, "message") ?? ""
    );
    ok(findings.length >= atLeast, stdout);
    for (const finding of findings) {
      const others = finding.replaceAll(/spec\.[A-Za-z.[\]0-9]+ \(v1alpha2\)/g, "");
      ok(!/\bspec\.(?!server\b|network\b|replicas\b)/.test(others) && !BARE.test(others), finding);
    }
  }
});
