/** The CustomResourceDefinition, generated from the schema and the rules. */
import type { JsonObject } from "../data/json.ts";
import { CONVERT_PATH, OPERATOR_NAMESPACE, WEBHOOK_SERVICE } from "./own_objects.ts";
import { EMBEDDED_SCHEMAS } from "./embedded.ts";
import type { Rule } from "./rule.ts";
import { RULES } from "./rules.ts";
import type { StructuralSchema } from "./structural_check.ts";
import { structuralSchemaOf, withoutDescriptions } from "./structural_schema.ts";
import { DEPRECATION, RULES_V1ALPHA1, SpecV1alpha1, StatusV1alpha1 } from "./v1alpha1.ts";
import { UNCONVERTED_RULES, UNCONVERTED_RULES_V1ALPHA1 } from "./unconverted.ts";
import { GROUP, KIND, Spec, Status } from "./v1alpha2.ts";

export const CRD_NAME = `llamastackdistributions.${GROUP}`;

/** How the API server reaches `/convert`; the operator fills in the caBundle. */
const CONVERSION_CLIENT = {
  service: { namespace: OPERATOR_NAMESPACE, name: WEBHOOK_SERVICE, path: CONVERT_PATH, port: 443 },
};

/** The CRD, ready to be serialized as YAML. */
export const customResourceDefinition = (): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: CRD_NAME },
  spec: {
    group: GROUP,
    names: {
      kind: KIND,
      listKind: `${KIND}List`,
      plural: "llamastackdistributions",
      singular: "llamastackdistribution",
      shortNames: ["llsd"],
      categories: ["all", "llamastack"],
    },
    scope: "Namespaced",
    conversion: {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: CONVERSION_CLIENT },
    },
    versions: [v1alpha1Version(), {
      name: "v1alpha2",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: resourceSchema() as JsonObject },
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.workload.replicas",
          statusReplicasPath: ".status.replicas",
          labelSelectorPath: ".status.selector",
        },
      },
      selectableFields: [
        { jsonPath: ".spec.distribution.name" },
        { jsonPath: ".spec.overrideConfig.configMapName" },
      ],
      additionalPrinterColumns: [
        column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
        column("Phase", "string", ".status.phase"),
        // Ready carries the first failing reason.
        column("Reason", "string", '.status.conditions[?(@.type=="Ready")].reason'),
        column("Providers", "integer", ".status.configGeneration.providerCount"),
        column("Available", "integer", ".status.availableReplicas"),
        column("Age", "date", ".metadata.creationTimestamp"),
        { ...column("Distribution", "string", ".status.resolvedDistribution.image"), priority: 1 },
        { ...column("Config", "string", ".status.configGeneration.configMapName"), priority: 1 },
      ],
    }],
  },
});

const column = (name: string, type: string, jsonPath: string) => ({ name, type, jsonPath });

const v1alpha1Version = (): JsonObject => ({
  name: "v1alpha1",
  served: true,
  storage: false,
  deprecated: true,
  deprecationWarning: DEPRECATION,
  schema: {
    openAPIV3Schema: resourceSchemaV1alpha1() as JsonObject,
  },
  subresources: { status: {} },
  selectableFields: [
    { jsonPath: ".spec.server.userConfig.configMapName" },
    { jsonPath: ".spec.server.userConfig.configMapNamespace" },
    { jsonPath: ".spec.server.tlsConfig.caBundle.configMapName" },
    { jsonPath: ".spec.server.tlsConfig.caBundle.configMapNamespace" },
  ],
  additionalPrinterColumns: [
    column("Phase", "string", ".status.phase"),
    column("Operator Version", "string", ".status.version.operatorVersion"),
    column("Server Version", "string", ".status.version.llamaStackServerVersion"),
    column("Available", "integer", ".status.availableReplicas"),
    column("Age", "date", ".metadata.creationTimestamp"),
  ],
});

/** The schema of the whole resource, with every rule in its place. */
export const resourceSchema = (): StructuralSchema =>
  [...RULES, ...UNCONVERTED_RULES].reduce(attach, {
    type: "object",
    description: "LlamaStackDistribution is a Llama Stack or OGX server.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structuralSchemaOf(Spec),
      // The API server applies the default of observedGeneration only if status itself has a default.
      status: { ...structuralSchemaOf(Status), default: {} },
    },
  });

/** Both versions have these types; described twice, the definition would be too large for `kubectl apply`. */
const undescribed = () =>
  Object.fromEntries(
    Object.entries(EMBEDDED_SCHEMAS).map(([name, schema]) => [name, withoutDescriptions(schema)]),
  ) as unknown as typeof EMBEDDED_SCHEMAS;

/** The schema of v1alpha1 with its rules. */
export const resourceSchemaV1alpha1 = (): StructuralSchema =>
  [...RULES_V1ALPHA1, ...UNCONVERTED_RULES_V1ALPHA1].reduce(attach, {
    type: "object",
    description: "LlamaStackDistribution is a Llama Stack or OGX server. Deprecated: use v1alpha2.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: within(
        structuralSchemaOf(SpecV1alpha1, undescribed()),
        ["server", "externalProviders"],
        (schema) => ({ ...schema, ...withoutDescriptions(schema) }),
      ),
      // As in v1alpha2.
      status: { ...structuralSchemaOf(StatusV1alpha1), default: {} },
    },
  });

const attach = (root: StructuralSchema, rule: Rule): StructuralSchema =>
  within(root, rule.at === "" ? [] : rule.at.split("."), (node) => ({
    ...node,
    "x-kubernetes-validations": [...((node["x-kubernetes-validations"] as ReadonlyArray<unknown>) ?? []), celOf(rule)],
  }));

const celOf = (rule: Rule): JsonObject => ({
  rule: rule.cel,
  message: rule.message,
  ...(rule.messageExpression === undefined ? {} : { messageExpression: rule.messageExpression }),
  ...(rule.reason === undefined ? {} : { reason: rule.reason }),
  ...(rule.fieldPath === undefined ? {} : { fieldPath: rule.fieldPath }),
  ...(rule.onCreate === true ? { optionalOldSelf: true } : {}),
});

const within = (
  node: StructuralSchema,
  steps: ReadonlyArray<string>,
  change: (node: StructuralSchema) => StructuralSchema,
): StructuralSchema => {
  const [step, ...rest] = steps;
  if (step === undefined) return change(node);
  const key = step.replace(/\[\]$/, "");
  const inner = node.properties?.[key] ?? {};
  const changed = step.endsWith("[]")
    ? { ...inner, items: within(inner.items ?? {}, rest, change) }
    : within(inner, rest, change);
  return { ...node, properties: { ...node.properties, [key]: changed } };
};
