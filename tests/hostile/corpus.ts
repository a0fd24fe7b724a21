/**
 * What a hostile tenant may write into his own namespace: each row is legal for the API server, or nearly so, and meant to
 * exhaust whoever reads it. Objects are made one by one, since all of a row together may have hundreds of MiB.
 */
import { type JsonObject, put } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { CONVERSION_SHAPES } from "./conversion_shapes.ts";

export interface HostileRow {
  readonly name: string;
  /** In the order in which they are written; `namespace` is the tenant's own. */
  readonly objects: ReadonlyArray<(namespace: string) => JsonObject>;
  /** Whether the API server may refuse the resource itself, which is as good as a status. */
  readonly mayBeRefused?: boolean;
  /** Names of the resources that end in a status; `bad` unless given. */
  readonly resources?: ReadonlyArray<string>;
}

const KIB = 1024;

/** More than a page of 20, in which the test reads them; `deno task soak` asks for 150. */
export const LARGE_RESOURCES = Number(Deno.env.get("SOAK_LARGE_RESOURCES") ?? 24);

const repeat = (text: string, count: number): string => text.repeat(count);
const times = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, index) => make(index));

const secret = (name: string, data: Readonly<Record<string, string>>) => (namespace: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData: data,
});
const configMap = (name: string, data: Readonly<Record<string, string>>, labels: JsonObject = {}) =>
(
  namespace: string,
): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace, labels },
  data,
});
const resource = (
  spec: JsonObject,
  { name = "bad", annotations = {} }: { readonly name?: string; readonly annotations?: JsonObject } = {},
) =>
(namespace: string): JsonObject => ({
  ...manifest(spec, name),
  metadata: { name, namespace, annotations },
});

/** Stands for maps within maps in the text of an object (`textOf`): writing them as values would end the test itself. */
const nested = (levels: number, leaf = "1"): string => `@nested ${levels} ${leaf}@`;

/** The object as JSON. */
export const textOf = (object: JsonObject): string =>
  JSON.stringify(object).replaceAll(
    /"@nested (\d+) (\w+)@"/g,
    (_, levels, leaf) => `${repeat('{"a":', Number(levels))}${leaf}${repeat("}", Number(levels))}`,
  );
const provider = (more: JsonObject): JsonObject => ({
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", ...more }] },
});
const withKey = (value: string) => [
  secret("s", { k: value }),
  resource(provider({ apiKey: { secretKeyRef: { name: "s", key: "k" } } })),
];
const withDsn = (value: string) => [
  secret("s", { k: value }),
  resource({ storage: { sql: { type: "postgres", connectionString: { secretKeyRef: { name: "s", key: "k" } } } } }),
];
const withRedis = (endpoint: string) => [resource({ storage: { kv: { type: "redis", endpoint } } })];
const withConfig = (text: string) => [
  configMap("c", { "config.yaml": text }),
  resource({ overrideConfig: { configMapName: "c" } }),
];
const withBundle = (data: Readonly<Record<string, string>>, keys: ReadonlyArray<string> = Object.keys(data)) => [
  configMap("ca", data),
  resource({ networking: { tls: { caBundle: { configMapName: "ca", configMapKeys: [...keys] } } } }),
];
const withEndpoint = (endpoint: string) => [resource(provider({ endpoint }))];
const withEnv = (env: ReadonlyArray<JsonObject>) => [
  resource({ ...provider({}), workload: { overrides: { env: [...env] } } }),
];

const LARGE = 900 * KIB;
const LABELS: JsonObject = {
  "app.kubernetes.io/managed-by": "llama-stack-operator",
  "app.kubernetes.io/instance": "nobody",
  "app.kubernetes.io/component": "generated-config",
};
const CONFIG_24_ALIASES = [
  "version: 2",
  "a0: &a0 [x, x, x, x, x, x, x, x]",
  ...times(24, (index) => `a${index + 1}: &a${index + 1} [${repeat(`*a${index}, `, 8).slice(0, -2)}]`),
].join("\n");
const CERTIFICATE_LINE = repeat("A", 64);

export const CORPUS: ReadonlyArray<HostileRow> = [
  // Values of Secrets.
  { name: "a key of 150 KB that is nearly a number", objects: withKey(`${repeat("1", 150_000)}x`) },
  { name: "a key of 150 KB that is nearly a number with underscores", objects: withKey(`${repeat("1_", 75_000)}x`) },
  { name: "a key of 100 KB that is nearly a number in base 60", objects: withKey(`${repeat("1:", 50_000)}x`) },
  { name: "a key of 100 KB of digits and an exponent", objects: withKey(`${repeat("9", 100_000)}e${repeat("9", 50)}`) },
  { name: "a key of 900 KB of blanks", objects: withKey(repeat(" ", LARGE)) },
  { name: "a key of 120 KB of ${env. without an end", objects: withKey(repeat("${env.A:=", 13_000)) },
  {
    name: "a key with every control character",
    objects: withKey(times(31, (code) => String.fromCharCode(code + 1)).join("")),
  },
  { name: "a connection string of 80 KB of @", objects: withDsn(`postgres://${repeat("@", 80_000)}#`) },
  {
    name: "a connection string of 100 KB of percent signs",
    objects: withDsn(`postgres://${repeat("%", 100_000)}@h/d`),
  },
  { name: "a connection string of 100 KB of quotes", objects: withDsn(`host=h password='${repeat("\\'", 50_000)}`) },
  { name: "a connection string of 20,000 options", objects: withDsn(`postgres://u:p@h/d?${repeat("a=b&", 20_000)}`) },
  { name: "a connection string of 100 KB of brackets", objects: withDsn(`postgres://u:p@${repeat("[", 100_000)}/d`) },
  {
    name: "250 Secrets of 700 KiB named by one resource",
    objects: [
      ...times(250, (index) => secret(`s${index}`, { k: repeat("x", 700 * KIB) })),
      resource({
        ...provider({}),
        workload: {
          overrides: {
            env: times(250, (index) => ({
              name: `V${index}`,
              valueFrom: { secretKeyRef: { name: `s${index}`, key: "k" } },
            })),
          },
        },
      }),
    ],
  },
  {
    name: "a Secret of 8,000 keys, all of them in the environment",
    objects: [
      secret("s", Object.fromEntries(times(8000, (index) => [`K${index}`, repeat("x", 60)]))),
      resource({ ...provider({}), workload: { overrides: { envFrom: [{ secretRef: { name: "s" } }] } } }),
    ],
  },
  // Content of ConfigMaps.
  {
    name: "a CA bundle of 30,000 lines that begin a certificate",
    objects: withBundle({ ca: repeat("-----BEGIN CERTIFICATE-----\n", 30_000) }),
  },
  {
    name: "a CA bundle of 900 KB of one certificate",
    objects: withBundle({
      ca: `-----BEGIN CERTIFICATE-----\n${repeat(`${CERTIFICATE_LINE}\n`, 13_000)}-----END CERTIFICATE-----\n`,
    }),
  },
  {
    name: "a CA bundle of 8,000 certificates that are none",
    objects: withBundle({
      ca: repeat(`-----BEGIN CERTIFICATE-----\n${CERTIFICATE_LINE}\n-----END CERTIFICATE-----\n`, 8000),
    }),
  },
  { name: "a CA bundle of 900 KB of dashes", objects: withBundle({ ca: repeat("-", LARGE) }) },
  {
    name: "keys of a CA bundle that JavaScript knows",
    objects: withBundle({ a: "x" }, ["constructor", "__proto__", "toString"]),
  },
  { name: "a config whose 24 levels of aliases stand for 8^24 values", objects: withConfig(CONFIG_24_ALIASES) },
  { name: "a config of 450,000 brackets", objects: withConfig(repeat("[", 450_000)) },
  { name: "a config of 225,000 empty maps", objects: withConfig(`[${repeat("{},", 170_000)}]`) },
  { name: "a config of 900 KB", objects: withConfig(`a: ${repeat("x", LARGE)}`) },
  { name: "a config of 200,000 empty items", objects: withConfig(repeat("-\n", 200_000)) },
  { name: "a config nested by 20,000 dashes", objects: withConfig(repeat("- ", 20_000)) },
  {
    name: "a config of 40,000 anchors",
    objects: withConfig(times(40_000, (index) => `a${index}: &b${index} 1`).join("\n")),
  },
  { name: "a config of 500 KB of one quoted text without an end", objects: withConfig(`a: "${repeat("\\", 500_000)}`) },
  { name: "a config of 60,000 merge keys", objects: withConfig(`x: &x {a: 1}\n${repeat("- <<: *x\n", 60)}`) },
  { name: "a config of 100,000 documents", objects: withConfig(repeat("---\n", 100_000)) },
  { name: "a config of 100,000 tags", objects: withConfig(`[${repeat("!!str a,", 50_000)}]`) },
  { name: "a config of 500 KB of digits", objects: withConfig(`a: ${repeat("9", 500_000)}`) },
  { name: "a config with 50,000 complex keys", objects: withConfig(repeat("? [a]\n: b\n", 50_000)) },
  {
    name: "400 ConfigMaps of 900 KB with the operator's labels",
    objects: times(400, (index) => configMap(`nobody-config-${index}`, { "config.yaml": repeat("x", LARGE) }, LABELS)),
    resources: [],
  },
  {
    name: "48 resources that name 40 ConfigMaps of 900 KB each",
    objects: [
      ...times(40, (index) => configMap(`c${index}`, { k: repeat("x", LARGE) })),
      ...times(48, (index) =>
        resource({
          ...provider({}),
          workload: {
            overrides: {
              env: times(40, (variable) => ({
                name: `V${variable}`,
                valueFrom: { configMapKeyRef: { name: `c${variable}`, key: "k" } },
              })),
            },
          },
        }, { name: `bad-${index}` })),
    ],
    resources: times(48, (index) => `bad-${index}`),
  },
  // The resource itself.
  { name: "settings nested 2,000 deep", objects: [resource(provider({ settings: nested(2000) }))], mayBeRefused: true },
  { name: "settings nested 9,000 deep", objects: [resource(provider({ settings: nested(9000) }))], mayBeRefused: true },
  {
    name: "settings of 100,000 values",
    objects: [resource(provider({ settings: { a: times(100_000, () => 1) } }))],
    mayBeRefused: true,
  },
  {
    name: "settings with names that JavaScript knows",
    objects: [
      resource(
        provider({
          settings: JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":3}') as JsonObject,
        }),
      ),
    ],
  },
  {
    name: "settings of 4,000 levels beside a number of 17 digits",
    objects: [resource(provider({ settings: nested(4000, "12345678901234567") }))],
    mayBeRefused: true,
  },
  {
    name: "a text of 1.2 MB",
    objects: [resource(provider({ settings: { a: repeat("x", 1_200_000) } }))],
    mayBeRefused: true,
  },
  {
    name: "an endpoint of 250 KB of dots",
    objects: withEndpoint(`http://${repeat("a.", 125_000)}`),
    mayBeRefused: true,
  },
  { name: "an endpoint of 250 KB of @", objects: withEndpoint(`http://${repeat("@", 250_000)}`), mayBeRefused: true },
  { name: "an endpoint of 100 KB of ${env.", objects: withEndpoint(repeat("${env.A", 14_000)), mayBeRefused: true },
  { name: "a Redis address of 250 KB of colons", objects: withRedis(repeat(":", 250_000)), mayBeRefused: true },
  { name: "a Redis address of 250 KB of @", objects: withRedis(`redis://${repeat("@", 250_000)}`), mayBeRefused: true },
  {
    name: "an image of 250 KB",
    objects: [resource({ distribution: { image: repeat("a/", 125_000) } })],
    mayBeRefused: true,
  },
  {
    name: "a size of 100 KB of digits",
    objects: [resource({ workload: { storage: { size: repeat("1", 100_000) } } })],
    mayBeRefused: true,
  },
  {
    name: "10,000 environment variables",
    objects: withEnv(times(10_000, (index) => ({ name: `V${index}`, value: "x" }))),
    mayBeRefused: true,
  },
  {
    name: "one environment variable of 1.2 MB",
    objects: withEnv([{ name: "V", value: repeat("x", 1_200_000) }]),
    mayBeRefused: true,
  },
  {
    name: "500 Secrets named that do not exist",
    objects: withEnv(
      times(500, (index) => ({ name: `V${index}`, valueFrom: { secretKeyRef: { name: `n${index}`, key: "k" } } })),
    ),
    mayBeRefused: true,
  },
  {
    name: "100 providers of unknown types",
    objects: [
      resource({
        providers: {
          inference: times(60, (index) => ({ id: `p${index}`, provider: `unknown-${repeat("x", 200)}-${index}` })),
        },
      }),
    ],
    mayBeRefused: true,
  },
  {
    name: "500 models of one name",
    objects: [resource({ ...provider({}), resources: { models: times(500, () => ({ name: "m" })) } })],
    mayBeRefused: true,
  },
  {
    name: "tolerations of 5,000 entries",
    objects: [
      resource({
        workload: { overrides: { tolerations: times(5000, (index) => ({ key: `k${index}`, operator: "Exists" })) } },
      }),
    ],
    mayBeRefused: true,
  },
  {
    name: "an affinity of 10,000 terms",
    objects: [
      resource({
        workload: {
          overrides: {
            affinity: {
              nodeAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: times(
                  2000,
                  () => ({
                    weight: 1,
                    preference: { matchExpressions: times(4, () => ({ key: "a", operator: "In", values: ["b"] })) },
                  }),
                ),
              },
            },
          },
        },
      }),
    ],
    mayBeRefused: true,
  },
  {
    name: "200 KB of pod annotations",
    objects: [
      resource({
        workload: {
          overrides: {
            podAnnotations: Object.fromEntries(times(2000, (index) => [`a.example/${index}`, repeat("x", 80)])),
          },
        },
      }),
    ],
    mayBeRefused: true,
  },
  {
    name: "leftovers of a conversion of 128 KB",
    objects: [
      resource({}, {
        annotations: { "llamastack.io/conversion-leftovers": JSON.stringify({ v1alpha1: times(30_000, () => [1]) }) },
      }),
    ],
  },
  {
    name: "leftovers of a conversion nested 60,000 deep",
    objects: [
      resource({}, {
        annotations: { "llamastack.io/conversion-leftovers": `${repeat("[", 60_000)}${repeat("]", 60_000)}` },
      }),
    ],
  },
  {
    name: "leftovers of a conversion of 20,000 names",
    objects: [
      resource({}, {
        annotations: {
          "llamastack.io/conversion-leftovers": JSON.stringify(
            Object.fromEntries(times(10_000, (index) => [`spec.a${index}`, index])),
          ),
        },
      }),
    ],
  },
  // What converts for long. Fields that no version has are left out by the API server, and with them some of these.
  ...CONVERSION_SHAPES.map(({ name, object }): HostileRow => ({
    name,
    objects: [(namespace) => put(object(1), ["metadata", "namespace"], namespace)],
    mayBeRefused: true,
  })),
  {
    name: "annotations of the operator with values that are none",
    objects: [
      resource({}, {
        annotations: {
          "llamastack.io/rollout": repeat("f", 100_000),
          "llamastack.io/accept-server-family-change": repeat("9", 100_000),
        },
      }),
    ],
  },
  {
    name: `${LARGE_RESOURCES} suspended resources of 1.2 MB`,
    objects: times(
      LARGE_RESOURCES,
      (index) =>
        resource({ ...provider({ settings: { a: repeat("x", 1_150_000) } }), suspend: true }, { name: `big-${index}` }),
    ),
    resources: times(LARGE_RESOURCES, (index) => `big-${index}`),
    mayBeRefused: true,
  },
  {
    name: "300 ReplicaSets of 200 KB with the labels of a resource",
    objects: [
      resource(provider({})),
      ...times(300, (index) => (namespace: string): JsonObject => ({
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: {
          name: `false-${index}`,
          namespace,
          labels: { app: "llama-stack", "app.kubernetes.io/instance": "bad" },
          annotations: { a: repeat("x", 200 * KIB) },
        },
        spec: {
          replicas: 0,
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      })),
    ],
  },
  {
    name: "an object of somebody else under each name that the operator needs",
    objects: [
      ...["bad", "bad-sa"].map((name) => (namespace: string): JsonObject => ({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name, namespace },
      })),
      (namespace) => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "bad-service", namespace },
        spec: { ports: [{ port: 1 }] },
      }),
      resource(provider({})),
    ],
  },
];
