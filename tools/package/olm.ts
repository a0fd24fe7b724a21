/**
 * `deploy/olm` and `deploy/olm-namespaced`: the bundles (registry+v1) from which the Operator Lifecycle Manager installs, made
 * from the same objects. Two, because OLM allows a conversion webhook in the install mode AllNamespaces alone.
 */
import { CRD_NAME, resourceSchema } from "../../core/api/crd.ts";
import { GROUP, KIND } from "../../core/api/v1alpha2.ts";
import type { Release } from "../../core/config/servers/distribution_table.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { relatedImageVariable } from "../../core/config/servers/distribution.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { writeYaml } from "../../core/data/yaml.ts";
import { CONVERT_PATH, VALIDATE_PATH } from "../../core/api/own_objects.ts";
import { definition, WEBHOOK } from "./admission.ts";
import { type Choices, DEFAULT, imageOf, watchesAll } from "./choices.ts";
import { labelled, MIN_KUBERNETES, NAME, NAMESPACE, PORTS } from "./names.ts";
import { permissionsFor } from "./permissions.ts";
import { networkPolicy } from "./network_policy.ts";
import { deployment, disruptionBudget, metricsService } from "./program.ts";
import { PUBLISHER } from "./publisher.ts";
import { SKIP_RANGE } from "./catalog.ts";
import { annotationsOf, dockerfile, scorecard } from "./olm_metadata.ts";
import { DESCRIPTION, FEATURES, ICON } from "./olm_page.ts";
import { people, rulesOf } from "./roles.ts";

/** Texts by path below `deploy`; `examples` are the samples, one resource each. */
export const bundleFiles = (
  header: string,
  examples: ReadonlyArray<JsonObject>,
  version = OPERATOR_VERSION,
  /** The name of an image by which the bundles refer to it; a release refers to each by its digest. */
  nameOf: (image: string) => string = (image) => image,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    bundles(version, nameOf).flatMap((bundle) =>
      filesOf(bundle, header, examples).map(([path, text]) => [`${bundle.folder}/${path}`, text])
    ),
  );

/** The image of a bundle, made from its bundle.Dockerfile. */
export const bundleImage = (packageName: string, version: string): string =>
  `${PUBLISHER.images}/${packageName}-bundle:${version}`;

interface Bundle {
  /** Below `deploy`. */
  readonly folder: string;
  readonly version: string;
  /** Of the package; with the version, of the ClusterServiceVersion. */
  readonly name: string;
  readonly displayName: string;
  readonly choices: Choices;
  /** Supported ones among INSTALL_MODES. */
  readonly modes: ReadonlyArray<string>;
  readonly nameOf: (image: string) => string;
}

const INSTALL_MODES = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];

/**
 * The pinned image of each distribution, by the variable of the operator. In the order in which Helm's templates visit
 * them, so that a change between Helm and install.yaml does not restart the operator.
 */
export const pinnedImages = (nameOf: (image: string) => string): Choices["relatedImages"] =>
  [...EMBEDDED_DISTRIBUTIONS].filter(([, named]) => named.aliasOf === undefined && isPublished(named))
    .toSorted(([one], [other]) => one < other ? -1 : 1).map(([name, { image }]) => ({
      variable: relatedImageVariable(name),
      image: nameOf(image),
    }));

const isPublished = ({ unpublishedSince }: Release): boolean => unpublishedSince === undefined;

const bundles = (version: string, nameOf: (image: string) => string): ReadonlyArray<Bundle> => {
  const common = { ...DEFAULT, image: nameOf(imageOf(version)), relatedImages: pinnedImages(nameOf) };
  return [
    {
      folder: "olm",
      version,
      nameOf,
      name: NAME,
      displayName: PUBLISHER.displayName,
      choices: { ...common, certificates: "olm" },
      modes: ["AllNamespaces"],
    },
    {
      folder: "olm-namespaced",
      version,
      nameOf,
      name: `${NAME}-namespaced`,
      displayName: `${PUBLISHER.displayName} (namespaced)`,
      choices: { ...common, webhooks: false, operatorGroup: true },
      modes: ["OwnNamespace", "SingleNamespace", "MultiNamespace"],
    },
  ];
};

/** The packages that are published. */
export const BUNDLES: ReadonlyArray<Pick<Bundle, "folder" | "name">> = bundles(OPERATOR_VERSION, (image) => image);

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
    manifest(`${NAME}_networking.k8s.io_v1_networkpolicy`, withoutNamespace(networkPolicy(bundle.choices))),
    manifest(`${NAME}_policy_v1_poddisruptionbudget`, withoutNamespace(disruptionBudget())),
    // OLM makes such roles of its own for each API, and these could belong to one installation of several only.
    ...(watchesAll(bundle.choices) ? people() : [])
      .map((entry) => manifest(`${stringAt(entry, "metadata", "name")}_rbac_v1_clusterrole`, entry)),
    ["metadata/annotations.yaml", header + writeYaml({ annotations: annotationsOf(bundle.name) })],
    ["tests/scorecard/config.yaml", header + writeYaml(scorecard())],
    ["bundle.Dockerfile", dockerfile(bundle.name, header)],
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

export const FIRST_VERSION = "0.1.0";

/**
 * Published images that `spec.distribution` can resolve to without an image of the user's own: the pinned one, and one for each other minor
 * version of the server.
 */
const OPERANDS: ReadonlyArray<{ readonly name: string; readonly image: string }> = [...EMBEDDED_DISTRIBUTIONS].flatMap((
  [name, { image, releases, aliasOf }],
) =>
  aliasOf !== undefined ? [] : releases.filter(isPublished).map((release) => ({
    name: release.image === image ? name : `${name}-${release.serverVersion}`,
    image: release.image,
  }))
);

/** Each image once. */
export const OPERAND_IMAGES: ReadonlyArray<string> = [...new Set(OPERANDS.map(({ image }) => image))];

const clusterServiceVersion = (bundle: Bundle, examples: ReadonlyArray<JsonObject>): JsonObject => ({
  apiVersion: "operators.coreos.com/v1alpha1",
  kind: "ClusterServiceVersion",
  metadata: {
    name: `${bundle.name}.v${bundle.version}`,
    labels: Object.fromEntries(["amd64", "arm64"].map((text) => [`operatorframework.io/arch.${text}`, "supported"])),
    annotations: {
      "alm-examples": JSON.stringify(
        [...examples.map(withoutNamespace), ...(bundle.choices.webhooks ? [EXAMPLE_V1ALPHA1] : [])],
        null,
        2,
      ),
      // The next level, "Full Lifecycle", wants an operator that makes backups itself.
      capabilities: "Seamless Upgrades",
      categories: "AI/Machine Learning",
      containerImage: bundle.choices.image,
      createdAt: PUBLISHER.createdAt,
      description: "Configures, deploys and upgrades Llama Stack and OGX servers from a short custom resource",
      repository: PUBLISHER.repository,
      support: PUBLISHER.provider,
      "operatorframework.io/suggested-namespace": NAMESPACE,
      ...FEATURES,
      // Every earlier version may be replaced by this one; the first one has none.
      ...(bundle.version === FIRST_VERSION ? {} : { [SKIP_RANGE]: `<${bundle.version}` }),
    },
  },
  spec: {
    displayName: bundle.displayName,
    description: DESCRIPTION,
    version: bundle.version,
    minKubeVersion: MIN_KUBERNETES,
    maturity: "stable",
    provider: { name: PUBLISHER.provider },
    maintainers: [PUBLISHER.maintainer],
    keywords: ["llama-stack", "ogx", "llm", "inference", "ai"],
    links: [
      { name: "Home page", url: PUBLISHER.homepage },
      { name: "Source code", url: PUBLISHER.repository },
    ],
    icon: [{ base64data: ICON, mediatype: "image/svg+xml" }],
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
      { name: NAME, image: bundle.choices.image },
      ...OPERANDS.map((operand) => ({ ...operand, image: bundle.nameOf(operand.image) })),
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

/** As OLM names the Service of a deployment's webhooks. */
const OLM_WEBHOOK_SERVICE = `${NAME}-service`;

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
  const more = choices.webhooks ? { conversion: unreachable } : conversion === undefined ? {} : { conversion };
  return { ...crd, spec: { ...spec, ...more, preserveUnknownFields: false } };
};

/**
 * OLM writes the conversion itself, but after the definition: seconds later at an installation, and at every upgrade, whose
 * definition replaces the one with the conversion. Without a conversion the API server would meanwhile return objects of
 * one version as objects of the other, with an empty spec; like this it refuses what it would have to convert. After a
 * removal, which leaves no conversion, OLM would not install again either: it would find those objects to be invalid, which
 * it forgives only if the definition asks for a webhook.
 */
const unreachable: JsonObject = {
  strategy: "Webhook",
  webhook: {
    conversionReviewVersions: ["v1"],
    clientConfig: { service: { namespace: NAMESPACE, name: OLM_WEBHOOK_SERVICE, path: CONVERT_PATH, port: 443 } },
  },
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
