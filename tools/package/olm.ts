/**
 * `deploy/olm` and `deploy/olm-namespaced`: the bundles (registry+v1) from which the Operator Lifecycle Manager installs, made
 * from the same objects. Two, because OLM allows a conversion webhook in the install mode AllNamespaces alone.
 */
import { CRD_NAME, resourceSchema } from "../../core/api/crd.ts";
import { GROUP, KIND } from "../../core/api/v1alpha2.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { relatedImageVariable } from "../../core/config/servers/distribution.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { writeYaml } from "../../core/data/yaml.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../../core/operator/own_objects.ts";
import { definition, WEBHOOK } from "./admission.ts";
import { type Choices, DEFAULT, IMAGE, watchesAll } from "./choices.ts";
import { labelled, MIN_KUBERNETES, NAME, NAMESPACE, PORTS } from "./names.ts";
import { permissionsFor } from "./permissions.ts";
import { deployment, metricsService } from "./program.ts";
import { PUBLISHER } from "./publisher.ts";
import { DESCRIPTION, FEATURES, ICON } from "./olm_page.ts";
import { people, rulesOf } from "./roles.ts";

/** Texts by path below `deploy`; `examples` are the samples, one resource each. */
export const bundleFiles = (header: string, examples: ReadonlyArray<JsonObject>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(BUNDLES).flatMap(([folder, bundle]) =>
      filesOf(bundle, header, examples).map(([path, text]) => [`${folder}/${path}`, text])
    ),
  );

interface Bundle {
  /** Of the package; with the version, of the ClusterServiceVersion. */
  readonly name: string;
  readonly displayName: string;
  readonly choices: Choices;
  /** Supported ones among INSTALL_MODES. */
  readonly modes: ReadonlyArray<string>;
}

const INSTALL_MODES = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];

const RELATED_IMAGES = [...EMBEDDED_DISTRIBUTIONS].map(([name, { image }]) => ({
  variable: relatedImageVariable(name),
  image,
}));

/** By their folders. */
const BUNDLES: Readonly<Record<string, Bundle>> = {
  olm: {
    name: NAME,
    displayName: PUBLISHER.displayName,
    choices: { ...DEFAULT, certificates: "olm", relatedImages: RELATED_IMAGES },
    modes: ["AllNamespaces"],
  },
  "olm-namespaced": {
    name: `${NAME}-namespaced`,
    displayName: `${PUBLISHER.displayName} (namespaced)`,
    choices: { ...DEFAULT, webhooks: false, operatorGroup: true, relatedImages: RELATED_IMAGES },
    modes: ["OwnNamespace", "SingleNamespace", "MultiNamespace"],
  },
};

const filesOf = (
  bundle: Bundle,
  header: string,
  examples: ReadonlyArray<JsonObject>,
): ReadonlyArray<readonly [string, string]> => {
  const manifest = (name: string, object: JsonObject) =>
    [`manifests/${name}.yaml`, header + writeYaml(object)] as const;
  return [
    manifest(`${bundle.name}.clusterserviceversion`, clusterServiceVersion(bundle, examples)),
    manifest(`${GROUP}_llamastackdistributions`, bundledDefinition(bundle)),
    manifest(`${NAME}-metrics_v1_service`, withoutNamespace(metricsService())),
    // OLM makes such roles of its own for each API, and these could belong to one installation of several only.
    ...(watchesAll(bundle.choices) ? people() : [])
      .map((entry) => manifest(`${stringAt(entry, "metadata", "name")}_rbac_v1_clusterrole`, entry)),
    ["metadata/annotations.yaml", header + writeYaml({ annotations: annotationsOf(bundle) })],
    ["tests/scorecard/config.yaml", header + writeYaml(scorecard())],
    ["bundle.Dockerfile", dockerfile(bundle, header)],
  ];
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

const clusterServiceVersion = (bundle: Bundle, examples: ReadonlyArray<JsonObject>): JsonObject => ({
  apiVersion: "operators.coreos.com/v1alpha1",
  kind: "ClusterServiceVersion",
  metadata: {
    name: `${bundle.name}.v${OPERATOR_VERSION}`,
    labels: Object.fromEntries(["amd64", "arm64"].map((text) => [`operatorframework.io/arch.${text}`, "supported"])),
    annotations: {
      "alm-examples": JSON.stringify(
        [...examples.map(withoutNamespace), ...(bundle.choices.webhooks ? [EXAMPLE_V1ALPHA1] : [])],
        null,
        2,
      ),
      capabilities: "Deep Insights",
      categories: "AI/Machine Learning",
      containerImage: IMAGE,
      createdAt: PUBLISHER.createdAt,
      description: "Configures, deploys and upgrades Llama Stack and OGX servers from a short custom resource",
      support: PUBLISHER.provider,
      "operatorframework.io/suggested-namespace": NAMESPACE,
      ...FEATURES,
    },
  },
  spec: {
    displayName: bundle.displayName,
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
    installModes: INSTALL_MODES.map((type) => ({ type, supported: bundle.modes.includes(type) })),
    customresourcedefinitions: { owned: owned(bundle) },
    install: {
      strategy: "deployment",
      spec: {
        deployments: [{ name: NAME, label: labelled("operator"), spec: deployment(bundle.choices).spec ?? null }],
        ...permissionsOf(bundle),
      },
    },
    ...(bundle.choices.webhooks
      ? {
        webhookdefinitions: [
          webhook("ConversionWebhook", "convert", CONVERT_PATH, { conversionCRDs: [CRD_NAME] }),
          webhook("ValidatingAdmissionWebhook", "validate", VALIDATE_PATH, inBundle(WEBHOOK)),
        ],
      }
      : {}),
    relatedImages: [
      { name: NAME, image: IMAGE },
      ...[...EMBEDDED_DISTRIBUTIONS].map(([name, { image }]) => ({ name, image })),
    ],
  },
});

/**
 * OLM makes `permissions` a Role in the operator's namespace and in each namespace of the OperatorGroup, and
 * `clusterPermissions` a ClusterRole.
 */
const permissionsOf = ({ choices }: Bundle): JsonObject => {
  const granted = (field: string, ...places: ReadonlyArray<string>): JsonObject => {
    const rules = rulesOf(permissionsFor(choices).filter(({ where }) => places.includes(where)));
    return rules.length === 0 ? {} : { [field]: [{ serviceAccountName: NAME, rules: [...rules] }] };
  };
  return watchesAll(choices)
    ? { ...granted("clusterPermissions", "watched", "cluster"), ...granted("permissions", "own") }
    : { ...granted("clusterPermissions", "cluster"), ...granted("permissions", "watched", "own") };
};

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

const bundledDefinition = ({ choices }: Bundle): JsonObject => {
  const crd = definition(choices);
  const { conversion, ...spec } = objectAt(crd, "spec");
  // OLM writes the webhook of a conversion itself.
  const more = choices.webhooks || conversion === undefined ? {} : { conversion };
  return { ...crd, spec: { ...spec, ...more, preserveUnknownFields: false } };
};

/** One row for each version that is served, the newest first. */
const owned = ({ choices }: Bundle): ReadonlyArray<Json> =>
  listAt(definition(choices), "spec", "versions").filter(isObject).filter(({ served }) => served === true)
    .map((object) => stringAt(object, "name") ?? "").reverse()
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

/** The form shown by consoles, from the first sentences of the schema. */
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

const annotationsOf = ({ name }: Bundle): Readonly<Record<string, string>> => ({
  [`${PREFIX}.bundle.mediatype.v1`]: "registry+v1",
  [`${PREFIX}.bundle.manifests.v1`]: "manifests/",
  [`${PREFIX}.bundle.metadata.v1`]: "metadata/",
  [`${PREFIX}.bundle.package.v1`]: name,
  [`${PREFIX}.bundle.channels.v1`]: "stable",
  [`${PREFIX}.bundle.channel.default.v1`]: "stable",
  [`${PREFIX}.test.mediatype.v1`]: "scorecard+v1",
  [`${PREFIX}.test.config.v1`]: "tests/scorecard/",
});

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

const dockerfile = (bundle: Bundle, header: string): string =>
  [
    header.trimEnd(),
    "FROM scratch",
    ...Object.entries(annotationsOf(bundle)).map(([key, value]) => `LABEL ${key}=${value}`),
    "COPY manifests /manifests/",
    "COPY metadata /metadata/",
    "COPY tests/scorecard /tests/scorecard/",
    "",
  ].join("\n");
