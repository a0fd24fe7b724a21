/** The CustomResourceDefinition, made from the schema and the rules. */
import type { JsonObject } from "../json.ts";
import { type Rule, RULES } from "./rules.ts";
import type { StructuralSchema } from "./structural_check.ts";
import { structuralSchemaOf } from "./structural_schema.ts";
import { GROUP, KIND, Spec, Status } from "./v1alpha2.ts";

export const CRD_NAME = `llamastackdistributions.${GROUP}`;

/** The whole CRD as one value, ready to be written as YAML. */
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
    },
    scope: "Namespaced",
    versions: [{
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
        column("Phase", "string", ".status.phase"),
        column("Providers", "integer", ".status.configGeneration.providerCount"),
        column("Available", "integer", ".status.availableReplicas"),
        column("Age", "date", ".metadata.creationTimestamp"),
        { ...column("Distribution", "string", ".status.resolvedDistribution.image"), priority: 1 },
        { ...column("Config", "string", ".status.configGeneration.configMapName"), priority: 1 },
        // A JSON path cannot sort: conditions are written with Ready first, and Ready carries the first failing reason.
        { ...column("Reason", "string", '.status.conditions[?(@.status=="False")].reason'), priority: 1 },
      ],
    }],
  },
});

/** The schema of the whole resource, with every rule in its place. */
export const resourceSchema = (): StructuralSchema =>
  RULES.reduce(attach, {
    type: "object",
    description: "A Llama Stack server that the operator configures, deploys and keeps.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structuralSchemaOf(Spec),
      // Without a default for status itself, the default of observedGeneration never lands (R40).
      status: { ...structuralSchemaOf(Status), default: {} },
    },
  });

const column = (name: string, type: string, jsonPath: string) => ({ name, type, jsonPath });

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
