/** `deploy/olm`: the bundle (registry+v1) from which the Operator Lifecycle Manager installs, made from the same objects. */
import { CRD_NAME, customResourceDefinition, resourceSchema } from "../api/crd.ts";
import { GROUP, KIND } from "../api/v1alpha2.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../config/distributions.ts";
import { relatedImageVariable } from "../config/distribution.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../json.ts";
import { OPERATOR_VERSION } from "../version.ts";
import { writeYaml } from "../yaml.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../own_objects.ts";
import { WEBHOOK } from "./admission.ts";
import { type Choices, DEFAULT, IMAGE } from "./choices.ts";
import { labelled, NAME, NAMESPACE, PORTS } from "./names.ts";
import { permissionsFor } from "./permissions.ts";
import { deployment, metricsService } from "./program.ts";
import { PUBLISHER } from "./publisher.ts";
import { people, rulesOf } from "./roles.ts";

/** Texts by path below `deploy/olm`; `examples` are the samples, one resource each. */
export const bundleFiles = (header: string, examples: ReadonlyArray<JsonObject>): Readonly<Record<string, string>> => {
  const manifest = (name: string, object: JsonObject) =>
    [`manifests/${name}.yaml`, header + writeYaml(object)] as const;
  return Object.fromEntries([
    manifest(`${NAME}.clusterserviceversion`, clusterServiceVersion(examples)),
    manifest(`${GROUP}_llamastackdistributions`, definition()),
    manifest(`${NAME}-metrics_v1_service`, withoutNamespace(metricsService())),
    ...people().map((one) => manifest(`${stringAt(one, "metadata", "name")}_rbac_v1_clusterrole`, one)),
    ["metadata/annotations.yaml", header + writeYaml({ annotations: ANNOTATIONS })],
    ["tests/scorecard/config.yaml", header + writeYaml(scorecard())],
    ["bundle.Dockerfile", dockerfile(header)],
  ]);
};

/** OLM gives the operator every namespace: a conversion webhook serves the whole cluster. */
const CHOICES: Choices = {
  ...DEFAULT,
  certificates: "olm",
  relatedImages: [...EMBEDDED_DISTRIBUTIONS].map(([name, { image }]) => ({
    variable: relatedImageVariable(name),
    image,
  })),
};

/** Every version that is served has an example. */
const EXAMPLE_V1ALPHA1: JsonObject = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: KIND,
  metadata: { name: "older" },
  spec: {
    replicas: 1,
    server: {
      distribution: { name: "starter" },
      containerSpec: { env: [{ name: "VLLM_URL", value: "http://vllm.models.svc:8000/v1" }] },
      storage: { size: "20Gi" },
    },
  },
};

const MIN_KUBERNETES = "1.32.0";

const clusterServiceVersion = (examples: ReadonlyArray<JsonObject>): JsonObject => ({
  apiVersion: "operators.coreos.com/v1alpha1",
  kind: "ClusterServiceVersion",
  metadata: {
    name: `${NAME}.v${OPERATOR_VERSION}`,
    labels: Object.fromEntries(["amd64", "arm64"].map((one) => [`operatorframework.io/arch.${one}`, "supported"])),
    annotations: {
      "alm-examples": JSON.stringify([...examples.map(withoutNamespace), EXAMPLE_V1ALPHA1], null, 2),
      capabilities: "Deep Insights",
      categories: "AI/Machine Learning",
      containerImage: IMAGE,
      createdAt: PUBLISHER.createdAt,
      description: "Runs Llama Stack and OGX servers from a short custom resource, and keeps them right",
      support: PUBLISHER.provider,
      "operatorframework.io/suggested-namespace": NAMESPACE,
      ...FEATURES,
    },
  },
  spec: {
    displayName: PUBLISHER.displayName,
    description: DESCRIPTION,
    version: OPERATOR_VERSION,
    minKubeVersion: MIN_KUBERNETES,
    maturity: "alpha",
    provider: { name: PUBLISHER.provider },
    maintainers: [PUBLISHER.maintainer],
    keywords: ["llama-stack", "ogx", "llm", "inference", "ai"],
    links: [{ name: "Home page", url: PUBLISHER.homepage }],
    icon: [{ base64data: ICON, mediatype: "image/svg+xml" }],
    // Every version since the first may be replaced by this one.
    ...(OPERATOR_VERSION === "0.1.0" ? {} : { skipRange: `<${OPERATOR_VERSION}` }),
    installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
      type,
      supported: type === "AllNamespaces",
    })),
    customresourcedefinitions: { owned: owned() },
    install: {
      strategy: "deployment",
      spec: {
        deployments: [{ name: NAME, label: labelled("operator"), spec: deployment(CHOICES).spec ?? null }],
        clusterPermissions: [{ serviceAccountName: NAME, rules: rulesAt("watched", "cluster") }],
        permissions: [{ serviceAccountName: NAME, rules: rulesAt("own") }],
      },
    },
    webhookdefinitions: [
      webhook("ConversionWebhook", "convert", CONVERT_PATH, { conversionCRDs: [CRD_NAME] }),
      webhook("ValidatingAdmissionWebhook", "validate", VALIDATE_PATH, inBundle(WEBHOOK)),
    ],
    relatedImages: [
      { name: NAME, image: IMAGE },
      ...[...EMBEDDED_DISTRIBUTIONS].map(([name, { image }]) => ({ name, image })),
    ],
  },
});

const rulesAt = (
  ...places: ReadonlyArray<string>
): ReadonlyArray<Json> => [...rulesOf(permissionsFor(CHOICES).filter(({ where }) => places.includes(where)))];

const webhook = (type: string, name: string, path: string, more: JsonObject): JsonObject => ({
  type,
  generateName: `${name}.${GROUP}`,
  deploymentName: NAME,
  containerPort: 443,
  targetPort: PORTS.webhook,
  webhookPath: path,
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  ...more,
});

/** OLM knows no scope in a rule. */
const inBundle = (config: JsonObject): JsonObject => ({
  ...config,
  rules: listAt(config, "rules").filter(isObject).map(({ scope: _scope, ...rule }) => rule),
});

const definition = (): JsonObject => {
  const crd = customResourceDefinition();
  // OLM writes the conversion itself.
  const { conversion: _conversion, ...spec } = objectAt(crd, "spec");
  return { ...crd, spec: { ...spec, preserveUnknownFields: false } };
};

/** One row for each version that is served, the newest first. */
const owned = (): ReadonlyArray<Json> =>
  listAt(customResourceDefinition(), "spec", "versions").map((one) => stringAt(one, "name") ?? "").reverse()
    .map((version) => ({
      name: CRD_NAME,
      version,
      kind: KIND,
      displayName: "Llama Stack Distribution",
      description: "A Llama Stack or OGX server: its image, providers, models, storage, network and pods.",
      resources: MADE.map(([apiVersion, kind]) => ({ version: apiVersion, kind, name: "" })),
      ...(version === "v1alpha2"
        ? { specDescriptors: descriptors("spec"), statusDescriptors: descriptors("status") }
        : {}),
    }));

const MADE: ReadonlyArray<readonly [string, string]> = [
  ["apps/v1", "Deployment"],
  ["v1", "Service"],
  ["v1", "ConfigMap"],
  ["v1", "PersistentVolumeClaim"],
  ["networking.k8s.io/v1", "Ingress"],
];

/** The form of consoles, from the first sentences of the schema. */
const descriptors = (part: "spec" | "status"): ReadonlyArray<Json> =>
  Object.entries(resourceSchema().properties?.[part]?.properties ?? {}).map(([path, { description = "" }]) => ({
    path,
    displayName: path.replace(/([A-Z]+)/g, " $1").replace(/^./, (letter) => letter.toUpperCase()),
    description,
    ...(path === "conditions" ? { "x-descriptors": ["urn:alm:descriptor:io.kubernetes.conditions"] } : {}),
  }));

const withoutNamespace = (object: JsonObject): JsonObject => {
  const { namespace: _namespace, ...meta } = objectAt(object, "metadata");
  return { ...object, metadata: meta };
};

const PREFIX = "operators.operatorframework.io";

const ANNOTATIONS: Readonly<Record<string, string>> = {
  [`${PREFIX}.bundle.mediatype.v1`]: "registry+v1",
  [`${PREFIX}.bundle.manifests.v1`]: "manifests/",
  [`${PREFIX}.bundle.metadata.v1`]: "metadata/",
  [`${PREFIX}.bundle.package.v1`]: NAME,
  [`${PREFIX}.bundle.channels.v1`]: "stable",
  [`${PREFIX}.bundle.channel.default.v1`]: "stable",
  [`${PREFIX}.test.mediatype.v1`]: "scorecard+v1",
  [`${PREFIX}.test.config.v1`]: "tests/scorecard/",
};

const FEATURES: JsonObject = Object.fromEntries(
  Object.entries({
    disconnected: true,
    "fips-compliant": false,
    "proxy-aware": false,
    "tls-profiles": false,
    "token-auth-aws": false,
    "token-auth-azure": false,
    "token-auth-gcp": false,
    cnf: false,
    cni: false,
    csi: false,
  }).map(([name, has]) => [`features.operators.openshift.io/${name}`, String(has)]),
);

const SCORECARD_IMAGE = "quay.io/operator-framework/scorecard-test:v1.42.0";

const scorecard = (): JsonObject => ({
  apiVersion: "scorecard.operatorframework.io/v1alpha3",
  kind: "Configuration",
  metadata: { name: "config" },
  stages: [{
    parallel: true,
    tests: ([
      ["basic-check-spec", "basic"],
      ["olm-bundle-validation", "olm"],
      ["olm-crds-have-validation", "olm"],
      ["olm-crds-have-resources", "olm"],
      ["olm-spec-descriptors", "olm"],
      ["olm-status-descriptors", "olm"],
    ] as const).map(([test, suite]) => ({
      entrypoint: ["scorecard-test", test],
      image: SCORECARD_IMAGE,
      labels: { suite, test: `${test}-test` },
    })),
  }],
});

const dockerfile = (header: string): string =>
  [
    header.trimEnd(),
    "FROM scratch",
    ...Object.entries(ANNOTATIONS).map(([key, value]) => `LABEL ${key}=${value}`),
    "COPY manifests /manifests/",
    "COPY metadata /metadata/",
    "COPY tests/scorecard /tests/scorecard/",
    "",
  ].join("\n");

const DESCRIPTION =
  `A short \`LlamaStackDistribution\` becomes a running, correctly configured Llama Stack or OGX server: its
\`config.yaml\`, Deployment, Service, storage, TLS and network rules. An edit that cannot work never hurts what runs.

* Named distributions, or any image of your own
* Providers, models, tools and shields as fields, checked before the server starts
* Secrets stay references; a rotated key restarts the pods once
* SQLite, PostgreSQL and Redis; TLS; autoscaling; Ingress and Route
* \`explain\` says in plain words why a server is not ready`;

/** Two layers of a stack under a plain hexagon; drawn for this project. */
const ICON = btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path fill="#3949ab" d="M32 3 57 17.500v29L32 61 7 46.500v-29z"/>' +
    '<path fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" d="m17 27 15-8 15 8-15 8zM17 37l15 8 15-8"/></svg>',
);
