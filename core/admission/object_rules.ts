/**
 * Values that the schema accepts and the API server rejects, but only in the objects that the operator creates from
 * them: the author would learn of the mistake after the write. Source: the API validation of Kubernetes 1.36.
 * tests/cluster/object_rules_test.ts compares the rules with a real API server.
 */
import { EXTERNAL_LISTS } from "../api/api_names.ts";
import { CONTAINER_NAME_DEFAULT } from "../api/v1alpha1.ts";
import type { ChangeRule } from "./change_rule.ts";
import { affinity } from "./object_rules/affinity.ts";
import { variables, variableSources } from "./object_rules/environment.ts";
import { annotationKeys, labels, podAnnotationKeys } from "./object_rules/labels.ts";
import { mounts } from "./object_rules/mounts.ts";
import {
  absolutePath,
  allowedLabels,
  allowedNamespaces,
  className,
  hostname,
  image,
  objectName,
  podCount,
  providerImages,
  pullSecrets,
} from "./object_rules/names.ts";
import { claims, quantities } from "./object_rules/resources.ts";
import { spread, tolerations } from "./object_rules/scheduling.ts";
import { podSecurity } from "./object_rules/security.ts";
import { volumes } from "./object_rules/volumes.ts";

const OVERRIDES = ["spec", "workload", "overrides"];
const BUDGET = ["spec", "workload", "podDisruptionBudget"];

export const OBJECT_RULES: ReadonlyArray<ChangeRule> = [
  { path: ["spec", "distribution", "image"], broken: image },
  ...EXTERNAL_LISTS.map(({ field }) => ({ path: ["spec", "externalProviders", field], broken: providerImages })),
  { path: ["spec", "networking", "allowedFrom", "namespaces"], broken: allowedNamespaces },
  { path: ["spec", "networking", "allowedFrom", "labels"], broken: allowedLabels },
  { path: ["spec", "networking", "expose", "hostname"], broken: hostname },
  { path: ["spec", "networking", "expose", "ingressClassName"], broken: className },
  { path: ["spec", "networking", "expose", "annotations"], broken: annotationKeys },
  { path: ["spec", "networking", "serviceAnnotations"], broken: annotationKeys },
  { path: [...BUDGET, "minAvailable"], broken: podCount },
  { path: [...BUDGET, "maxUnavailable"], broken: podCount },
  { path: ["spec", "workload", "resources"], broken: quantities },
  { path: ["spec", "workload"], broken: claims },
  { path: ["spec", "workload", "topologySpreadConstraints"], broken: spread },
  { path: ["spec", "workload", "storage", "mountPath"], broken: absolutePath },
  { path: ["spec", "workload", "storage", "storageClassName"], broken: objectName },
  { path: ["spec"], broken: mounts },
  { path: [...OVERRIDES, "podAnnotations"], broken: podAnnotationKeys([CONTAINER_NAME_DEFAULT]) },
  { path: [...OVERRIDES, "podLabels"], broken: labels },
  { path: [...OVERRIDES, "nodeSelector"], broken: labels },
  { path: [...OVERRIDES, "tolerations"], broken: tolerations },
  { path: [...OVERRIDES, "affinity"], broken: affinity },
  { path: [...OVERRIDES, "securityContext"], broken: podSecurity },
  { path: [...OVERRIDES, "imagePullSecrets"], broken: pullSecrets },
  { path: [...OVERRIDES, "priorityClassName"], broken: objectName },
  { path: [...OVERRIDES, "runtimeClassName"], broken: objectName },
  { path: [...OVERRIDES, "volumes"], broken: volumes },
  { path: [...OVERRIDES, "env"], broken: variables },
  { path: [...OVERRIDES, "envFrom"], broken: variableSources },
];
