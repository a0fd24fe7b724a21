/**
 * RBAC limits writes by kind and by exact name; the names of the operator's objects depend on resources. This policy of
 * the API server does the rest: whatever is done with the operator's credentials, existing objects that belong to no
 * LlamaStackDistribution are unchanged, and new ones name one as their controller. A policy cannot check whether it
 * exists.
 */
import { GROUP, KIND } from "../../core/api/v1alpha2.ts";
import { OWN_CONFIG_MAP } from "../../core/config/base_config.ts";
import { CONNECTION_SECRET } from "../../core/config/stages/storage.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { MANAGED_BY } from "../../core/resources/names.ts";
import { AUTHORITY_SECRET, HMAC_SECRET } from "../../core/api/own_objects.ts";
import { WRITTEN_KINDS } from "../../core/snapshot/kinds.ts";
import { MANIFEST_ANNOTATION } from "../../core/resources/objects.ts";
import { metadata, NAME, NAMESPACE } from "./names.ts";

const POLICY = `${NAME}-write-guard`;
const API_VERSION = "admissionregistration.k8s.io/v1";

/** A string of CEL, the expression language of the policy. */
const text = (value: string): string => `'${value}'`;

const listOf = (...values: ReadonlyArray<string>): string => `[${values.join(", ")}]`;

/** That the name of an object is the one of its resource with this end. */
const isNamed = (end: string): string =>
  "variables.resources.exists(resource, variables.name.startsWith(resource) && " +
  `variables.name.substring(resource.size()).matches('^${end}$'))`;

/** Of `object` or `oldObject`, as core/plan/ownership.ts sees it. */
const label = (of: string, name: string): string =>
  `${of}.metadata.?labels[?${text(`app.kubernetes.io/${name}`)}].orValue('')`;
const isLabelled = (of: string): string => `${label(of, "managed-by")} == ${text(MANAGED_BY)}`;
const controllersOf = (of: string): string =>
  `${of}.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false))`;
const ownersOf = (of: string): string =>
  `${controllersOf(of)}.filter(owner, owner.kind == ${text(KIND)} && ` +
  `owner.apiVersion.startsWith(${text(`${GROUP}/`)})).map(owner, owner.name)`;
/** Created by the operator and without an owner, as after a restore from a backup, or a kept claim. */
const isOrphan = (of: string): string =>
  `${isLabelled(of)} && ${controllersOf(of)}.size() == 0 && (variables.kind == 'persistentvolumeclaims' || ` +
  `${of}.metadata.?annotations[?${text(MANIFEST_ANNOTATION)}].hasValue())`;

const VARIABLES: Readonly<Record<string, string>> = {
  kind: "request.resource.resource",
  name: "object == null ? oldObject.metadata.name : object.metadata.name",
  wasLabelled: `oldObject != null && ${isLabelled("oldObject")}`,
  wasOrphan: `oldObject != null && ${isOrphan("oldObject")}`,
  wasOurs: `variables.wasOrphan || oldObject != null && ${ownersOf("oldObject")}.size() > 0`,
  /** The resource that the object belongs to: at most one. */
  resources: `object != null ? ${ownersOf("object")} : ` +
    `variables.wasOrphan ? [${label("oldObject", "instance")}] : ${ownersOf("oldObject")}`,
  isOwnSecret: `variables.kind == 'secrets' && request.namespace == ${text(NAMESPACE)} && ` +
    `variables.name in ${listOf(text(HMAC_SECRET), text(AUTHORITY_SECRET))}`,
};

const RULES: ReadonlyArray<{ readonly expression: string; readonly message: string }> = [
  {
    expression: `variables.isOwnSecret || variables.kind != 'secrets' || ${isNamed(`-${CONNECTION_SECRET}`)}`,
    message: "the operator may only write the connection Secrets of a LlamaStackDistribution",
  },
  {
    // Into a Secret of type kubernetes.io/service-account-token the API server writes a token of that account.
    expression: "variables.kind != 'secrets' || object == null || dyn(object).?type.orValue('') == 'Opaque'",
    message: "the operator may only write Secrets of type Opaque",
  },
  {
    expression: `variables.kind != 'configmaps' || ${isNamed(`-${OWN_CONFIG_MAP}`)}`,
    message: "the operator may only write the configs and CA bundles of a LlamaStackDistribution as ConfigMaps",
  },
  {
    expression: "variables.isOwnSecret || oldObject == null || variables.wasOurs",
    message: "the object does not belong to a LlamaStackDistribution",
  },
  {
    // An orphan may be scaled before its owner is applied.
    expression: "variables.isOwnSecret || object == null || variables.kind == 'persistentvolumeclaims' || " +
      `variables.resources.size() > 0 || variables.wasOrphan && ${isOrphan("object")}`,
    message: "the controller of the object must be a LlamaStackDistribution",
  },
  {
    // What a former operator made may lack the label; until it is applied, nothing changes but managedFields.
    expression: `variables.isOwnSecret || object == null || ${isLabelled("object")} || ` +
      "oldObject != null && !variables.wasLabelled",
    message: `the object must have the label app.kubernetes.io/managed-by: ${MANAGED_BY}`,
  },
  {
    expression: "!variables.isOwnSecret || object != null",
    message: "the operator may not delete its own Secrets",
  },
];

/** Applies to requests of the operator's own account alone; everybody else writes as before. */
export const writeGuard = (): ReadonlyArray<JsonObject> => [
  {
    apiVersion: API_VERSION,
    kind: "ValidatingAdmissionPolicy",
    metadata: metadata(POLICY, "rbac"),
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        resourceRules: written(),
      },
      matchConditions: [{
        name: "requests-of-the-operator",
        expression: `request.userInfo.username == ${text(`system:serviceaccount:${NAMESPACE}:${NAME}`)}`,
      }],
      variables: Object.entries(VARIABLES).map(([name, expression]) => ({ name, expression })),
      validations: RULES.map(({ expression, message }) => ({ expression, message, reason: "Forbidden" })),
    },
  },
  {
    apiVersion: API_VERSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: metadata(POLICY, "rbac"),
    spec: { policyName: POLICY, validationActions: ["Deny"] },
  },
];

/** The kinds by API group and version. */
const written = (): ReadonlyArray<JsonObject> =>
  [...new Set(WRITTEN_KINDS.map(({ apiVersion }) => apiVersion))].map((apiVersion) => {
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return {
      apiGroups: [group],
      apiVersions: [version],
      operations: ["CREATE", "UPDATE", "DELETE"],
      resources: WRITTEN_KINDS.filter((kind) => kind.apiVersion === apiVersion).map(({ plural }) => plural),
      scope: "Namespaced",
    };
  });
