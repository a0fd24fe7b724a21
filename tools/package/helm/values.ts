/** The values of the chart, with their defaults, meanings and schemas: one table, which values_files.ts writes in three forms. */
import { relatedImageVariable } from "../../../core/config/servers/distribution.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../../core/config/servers/distributions.ts";
import type { Json, JsonObject } from "../../../core/data/json.ts";
import { SETTING_ROWS } from "../../../core/operator/settings.ts";
import type { Choices } from "../choices.ts";
import { labelled } from "../names.ts";
import {
  CONTAINER_SECURITY_CONTEXT,
  NODE_SELECTOR,
  POD_SECURITY_CONTEXT,
  REPLICAS,
  RESOURCES,
  SPREAD,
} from "../program.ts";
import { CERTIFICATES } from "./combinations.ts";

export interface ChartValue {
  readonly path: string;
  readonly value: Json;
  /** Full sentences; shown in all three files. */
  readonly comment: string;
  readonly schema: JsonObject;
}

/** The defaults are the choices, so that the chart without values renders their installation. */
export const chartValues = (choices: Choices, version: string): ReadonlyArray<ChartValue> => {
  const image = imageParts(choices.image);
  return [
    {
      path: "image.repository",
      value: image.repository,
      comment: "Image of the operator, without tag and digest.",
      schema: { type: "string", pattern: `^${REPOSITORY}$` },
    },
    {
      path: "image.tag",
      value: image.tag === version ? "" : image.tag,
      comment: "Tag of the image. Defaults to the version of the chart. Quote tags that look like numbers.",
      schema: { type: "string", pattern: `^(${TAG})?$` },
    },
    {
      path: "image.digest",
      value: image.digest,
      comment: "Digest of the image, `sha256:…`, instead of a tag. Only one of both may be set.",
      schema: { type: "string", pattern: `^(${DIGEST})?$` },
    },
    {
      path: "image.pullPolicy",
      value: "",
      comment:
        "When nodes pull the image. Defaults to the default of Kubernetes: IfNotPresent, unless the tag is latest.",
      schema: { enum: ["", "Always", "IfNotPresent", "Never"] },
    },
    {
      path: "imagePullSecrets",
      value: [],
      comment: "Secrets of the namespace with which nodes pull the operator's image, e.g. `[{ name: registry }]`.",
      schema: {
        type: "array",
        items: {
          type: "object",
          properties: { name: { type: "string", minLength: 1 } },
          required: ["name"],
          additionalProperties: false,
        },
      },
    },
    {
      path: "relatedImages",
      value: relatedImagesOf(choices),
      comment:
        "Images of distributions from a mirror, by name of the distribution, e.g. `starter: mirror.example.com/starter:1.4.1`. Defaults to the images that the operator pins.",
      schema: {
        type: "object",
        properties: Object.fromEntries(
          [...EMBEDDED_DISTRIBUTIONS.keys()].map((name) => [name, {
            type: "string",
            pattern: `^${REPOSITORY}(:${TAG})?(@${DIGEST})?$`,
          }]),
        ),
        additionalProperties: false,
      },
    },
    {
      path: "replicas",
      value: REPLICAS,
      comment: "Number of pods. One of them works, all of them answer the webhooks. 0 stops the operator.",
      schema: { type: "integer", minimum: 0, maximum: 10 },
    },
    {
      path: "resources",
      value: RESOURCES,
      comment: "Requests and limits of the container. The memory limit suffices for several thousand resources.",
      schema: {
        type: "object",
        properties: { requests: QUANTITIES, limits: QUANTITIES, claims: { type: "array" } },
        additionalProperties: false,
      },
    },
    {
      path: "watchNamespaces",
      value: [...choices.watched],
      comment:
        "Namespaces whose resources the operator manages, with a Role in each instead of a ClusterRole. They must exist. Empty: all namespaces.",
      schema: {
        type: "array",
        uniqueItems: true,
        items: { type: "string", maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
      },
    },
    {
      path: "secretPolling",
      value: choices.secretPolling,
      comment: "Read Secrets by name once a minute, and never list or watch them.",
      schema: BOOLEAN,
    },
    {
      path: "extraArgs",
      value: [],
      comment: "Further flags of the operator, see docs/settings.md, e.g. `[--metrics-plain]`.",
      schema: { type: "array", items: { type: "string", pattern: "^--[a-z]" } },
    },
    {
      path: "extraEnv",
      value: [],
      comment:
        "Further environment variables of the operator, e.g. `[{ name: HTTPS_PROXY, value: http://proxy:3128 }]`.",
      schema: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] },
      },
    },
    {
      path: "webhooks.enabled",
      value: choices.webhooks,
      comment:
        "Admission, and conversion between the API versions. Without webhooks, v1alpha1 is not served. To change it later with Helm 4, add --server-side=false.",
      schema: BOOLEAN,
    },
    {
      path: "webhooks.certificates",
      value: choices.certificates,
      comment:
        "Who creates the certificate of the webhooks and sets the caBundles: the operator (self-managed), cert-manager, or OpenShift (service-ca). To change it later with Helm 4, add --server-side=false.",
      schema: { enum: [...CERTIFICATES] },
    },
    {
      path: "crds.enabled",
      value: true,
      comment: "Install and upgrade the CustomResourceDefinition with the chart.",
      schema: BOOLEAN,
    },
    {
      path: "crds.keep",
      value: true,
      comment:
        "Keep the CustomResourceDefinition on uninstall. If false, uninstalling deletes it, and with it every LlamaStackDistribution and its server.",
      schema: BOOLEAN,
    },
    {
      path: "settings",
      value: {},
      comment:
        "Entries of the ConfigMap llama-stack-operator-config, see docs/settings.md; lists and maps are written as YAML. Empty: no ConfigMap is created, and an existing one is unchanged. If one exists, add --take-ownership.",
      schema: {
        type: "object",
        properties: Object.fromEntries(
          SETTING_ROWS.map(({ key, meaning, value }) => [key, {
            type: ["string", "number", "boolean", "object", "array"],
            description: `${meaning}: ${value}.`,
          }]),
        ),
        additionalProperties: false,
      },
    },
    {
      path: "networkPolicy.enabled",
      value: true,
      comment: "A NetworkPolicy that admits connections to the ports of the operator, and to no other port.",
      schema: BOOLEAN,
    },
    {
      path: "networkPolicy.strict",
      value: false,
      comment:
        "Restrict egress as well, and admit connections to the metrics only from namespaces with the label `metrics: enabled`.",
      schema: BOOLEAN,
    },
    {
      path: "writeGuard.enabled",
      value: false,
      comment: "A ValidatingAdmissionPolicy that limits what may be written with the operator's credentials.",
      schema: BOOLEAN,
    },
    ...["serviceMonitor", "prometheusRule", "dashboard"].flatMap((name): ReadonlyArray<ChartValue> => [
      {
        path: `monitoring.${name}.enabled`,
        value: false,
        comment: MONITORING[name] ?? "",
        schema: BOOLEAN,
      },
      {
        path: `monitoring.${name}.labels`,
        value: {},
        comment: "Further labels of the object, by which it is selected.",
        schema: stringMap(...OWN_LABELS, "grafana_dashboard"),
      },
    ]),
    {
      path: "podLabels",
      value: {},
      comment: "Further labels of the pods.",
      schema: stringMap(...OWN_LABELS),
    },
    {
      path: "podAnnotations",
      value: {},
      comment: "Further annotations of the pods.",
      schema: stringMap("kubectl.kubernetes.io/default-container"),
    },
    {
      path: "nodeSelector",
      value: NODE_SELECTOR,
      comment: "Labels of the nodes that may run the pods.",
      schema: { type: "object", additionalProperties: { type: "string" } },
    },
    {
      path: "tolerations",
      value: [],
      comment: "Taints of nodes that the pods tolerate.",
      schema: { type: "array", items: { type: "object" } },
    },
    { path: "affinity", value: {}, comment: "Affinity of the pods.", schema: { type: "object" } },
    {
      path: "priorityClassName",
      value: "",
      comment: "PriorityClass of the pods.",
      schema: { type: "string" },
    },
    {
      path: "topologySpreadConstraints",
      value: SPREAD,
      comment: "How the pods are spread over the nodes.",
      schema: { type: "array", items: { type: "object" } },
    },
    {
      path: "podSecurityContext",
      value: POD_SECURITY_CONTEXT,
      comment: "Security context of the pods.",
      schema: { type: "object" },
    },
    {
      path: "securityContext",
      value: CONTAINER_SECURITY_CONTEXT,
      comment: "Security context of the container. It needs no further rights.",
      schema: { type: "object" },
    },
    {
      path: "serviceAccount.annotations",
      value: {},
      comment: "Annotations of the ServiceAccount, e.g. for the identity of a cloud that a registry or proxy asks for.",
      schema: { type: "object", additionalProperties: { type: "string" } },
    },
    {
      path: "hostNetwork",
      value: false,
      comment:
        "Use the network of the node, where the API server cannot reach pods otherwise (EKS with a CNI of its own). One pod a node then.",
      schema: BOOLEAN,
    },
    {
      path: "dnsPolicy",
      value: "",
      comment: "DNS policy of the pods; with hostNetwork: ClusterFirstWithHostNet.",
      schema: { enum: ["", "ClusterFirst", "ClusterFirstWithHostNet", "Default"] },
    },
  ];
};

/** Parts of image references; core/data/image_reference.ts knows the whole grammar. */
const REPOSITORY = "([A-Za-z0-9.-]+(:[0-9]+)?/|\\[[0-9A-Fa-f:]+\\](:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*";
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "sha256:[0-9a-f]{64}";

const BOOLEAN: JsonObject = { type: "boolean" };

const QUANTITIES: JsonObject = { type: "object", additionalProperties: { type: ["string", "number"] } };

/** Keys that the chart sets itself may not be set again. */
const stringMap = (...reserved: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(reserved.map((key) => [key, false])),
  additionalProperties: { type: "string" },
});

const OWN_LABELS = Object.keys(labelled(""));

const MONITORING: Readonly<Record<string, string>> = {
  serviceMonitor: "A ServiceMonitor for the Prometheus operator.",
  prometheusRule: "A PrometheusRule with the alerts of the operator.",
  dashboard: "ConfigMaps with dashboards for Grafana, of the operator and of its servers.",
};

interface ImageParts {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** With a digest, a tag says nothing more. */
const imageParts = (image: string): ImageParts => {
  const [name = "", digest = ""] = image.split("@");
  const [, repository = name, tag = ""] = /^(.*):([^/:]+)$/.exec(name) ?? [];
  return { repository, tag: digest === "" ? tag : "", digest };
};

const relatedImagesOf = ({ relatedImages }: Choices): JsonObject => {
  const names = new Map([...EMBEDDED_DISTRIBUTIONS.keys()].map((name) => [relatedImageVariable(name), name]));
  return Object.fromEntries(relatedImages.map(({ variable, image }) => {
    const name = names.get(variable);
    if (name === undefined) throw new Error(`${variable} is not the image of a distribution`);
    return [name, image];
  }));
};
