/** The objects of an installation with marks in the places that the chart's values fill. */
import { relatedImageVariable } from "../../../core/config/servers/distribution.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../../core/operator/settings.ts";
import { prometheusRule } from "../alerts.ts";
import { dashboard, serviceMonitor } from "../extras.ts";
import { serverDashboard } from "../server_dashboard.ts";
import { installation } from "../installation.ts";
import { metadata, NAMESPACE } from "../names.ts";
import { strictNetworkPolicy } from "../network_policy.ts";
import { writeGuard } from "../write_guard.ts";
import type { Combination } from "./combinations.ts";
import { further, mark, optional } from "./expressions.ts";

/** Without the namespace: Helm creates it (`--create-namespace`), and never changes or deletes it. */
export const markedObjects = (combination: Combination): ReadonlyArray<JsonObject> =>
  [
    ...installation({
      ...combination,
      image: mark("image"),
      watched: combination.watched ? [mark("watched")] : [],
      operatorGroup: false,
      relatedImages: [{ variable: relatedImageVariable("") + mark("related variable"), image: mark("related image") }],
    }).filter(({ kind }) => kind !== "Namespace").map((object) => withValues(object, combination)),
    settingsMap(),
    ...[serviceMonitor(), prometheusRule(), dashboard(), serverDashboard()].map(withLabels),
    ...writeGuard(),
  ].map((object) => marked(object) as JsonObject);

/** The condition of a whole document, besides those of the combinations. */
export const documentCondition = ({ kind, metadata }: JsonObject): string | undefined => {
  switch (kind) {
    case "CustomResourceDefinition":
      return "$.Values.crds.enabled";
    case "NetworkPolicy":
      return "$.Values.networkPolicy.enabled";
    case "ServiceMonitor":
    case "PrometheusRule":
      return `$.Values.monitoring.${monitoringValue(kind)}.enabled`;
    case "ConfigMap":
      return stringAt(metadata, "name") === SETTINGS_CONFIG_MAP
        ? "$.Values.settings"
        : `$.Values.monitoring.${monitoringValue(kind)}.enabled`;
    case "ValidatingAdmissionPolicy":
    case "ValidatingAdmissionPolicyBinding":
      return "$.Values.writeGuard.enabled";
    default:
      return undefined;
  }
};

const monitoringValue = (kind: string): string =>
  kind === "ConfigMap" ? "dashboard" : kind.replace(/^./, (letter) => letter.toLowerCase());

const withValues = (object: JsonObject, { strict, keep }: Combination): JsonObject => {
  switch (object.kind) {
    case "NetworkPolicy":
      return strict ? strictNetworkPolicy() : object;
    case "CustomResourceDefinition":
      return keep
        ? put(object, ["metadata", "annotations"], {
          ...objectAt(object, "metadata", "annotations"),
          "helm.sh/resource-policy": "keep",
        })
        : object;
    case "Deployment":
      return withPodValues(object);
    case "ServiceAccount":
      return put(object, ["metadata", "annotations"], optional("serviceAccount.annotations"));
    default:
      return object;
  }
};

const withPodValues = (deployment: JsonObject): JsonObject => {
  const template = objectAt(deployment, "spec", "template");
  const { containers, ...spec } = objectAt(template, "spec");
  const metadata = objectAt(template, "metadata");
  return put(deployment, ["spec"], {
    ...objectAt(deployment, "spec"),
    replicas: mark("replicas"),
    template: {
      metadata: {
        ...metadata,
        labels: { ...objectAt(metadata, "labels"), [further("podLabels")]: null },
        annotations: { ...objectAt(metadata, "annotations"), [further("podAnnotations")]: null },
      },
      spec: {
        ...Object.fromEntries(
          ["imagePullSecrets", "priorityClassName", "tolerations", "affinity", "hostNetwork", "dnsPolicy"]
            .map((name) => [name, optional(name)]),
        ),
        ...spec,
        nodeSelector: optional("nodeSelector"),
        securityContext: optional("podSecurityContext"),
        topologySpreadConstraints: optional("topologySpreadConstraints"),
        containers: (containers as ReadonlyArray<JsonObject>).map(({ name = "", image = "", ...container }) => ({
          name,
          image,
          imagePullPolicy: optional("image.pullPolicy"),
          ...container,
          args: [...listAt(container, "args"), further("extraArgs")],
          env: [...listAt(container, "env"), further("extraEnv")],
          securityContext: optional("securityContext"),
          resources: optional("resources"),
        })),
      },
    },
  });
};

const withLabels = (object: JsonObject): JsonObject =>
  put(object, ["metadata", "labels"], {
    ...objectAt(object, "metadata", "labels"),
    [further(`monitoring.${monitoringValue(String(object.kind))}.labels`)]: null,
  });

const settingsMap = (): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: metadata(SETTINGS_CONFIG_MAP, "operator", NAMESPACE),
  data: { [mark("setting key")]: mark("setting") },
});

const VERSION_LABEL = "app.kubernetes.io/version";

const marked = (value: Json): Json => {
  if (typeof value === "string") return value.replaceAll(NAMESPACE, mark("namespace"));
  if (Array.isArray(value)) return value.map(marked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === VERSION_LABEL && typeof inner === "string" ? mark("version") : marked(inner),
    ]),
  );
};
