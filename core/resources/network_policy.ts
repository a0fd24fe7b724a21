/** The NetworkPolicy `<cr>-network-policy`: who may connect, and to whom the server may. */
import { isExposed } from "../api/exposed.ts";
import { METRICS_PORT_NAME } from "../config/metrics.ts";
import type { V1NetworkPolicyEgressRule, V1NetworkPolicyPeer, V1NetworkPolicySpec } from "@kubernetes/client-node";
import type { Spec } from "../api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../data/json.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { type Blueprint, type Platform, portOf } from "./blueprint.ts";
import { isNamespaceName } from "../api/object_names.ts";
import { isLabelKey } from "../api/object_labels.ts";
import { exposureOf, gatewayNamespaces } from "./exposure.ts";
import { metadataOf, selectorOf } from "./metadata.ts";
import { type AsJson, manifest, type ManifestOf } from "./kubernetes_objects.ts";

export const networkPolicyName = (name: string): string => `${name}-network-policy`;

/** What the rules follow from. */
type Reached = Pick<Blueprint, "name" | "namespace" | "uid" | "spec" | "platform"> & {
  readonly metrics: { readonly kind: "served"; readonly port: number } | {
    readonly kind: "off" | "sent" | "unavailable";
  };
};

/**
 * Annotation: the server asks nobody who he is, or believes a header; nothing but this policy keeps callers from it. With another
 * authentication the policy of such a server stays until the last of its pods is gone.
 */
export const ONLY_GUARD_ANNOTATION = "llamastack.io/only-guard";

/** Whether the server itself proves no caller's identity. */
export const isGuardedFromOutside = ({ auth }: Pick<Spec, "auth">): boolean =>
  auth === undefined || auth.upstreamHeader !== undefined;

export const isOnlyGuard = (policy: JsonObject): boolean =>
  stringAt(policy, "metadata", "annotations", ONLY_GUARD_ANNOTATION) === "true";

/** A policy for the pods of the server. */
export const policyOf = (
  blueprint: Pick<Blueprint, "name" | "namespace" | "uid" | "spec">,
  rules: AsJson<Omit<V1NetworkPolicySpec, "podSelector">>,
): ManifestOf<"NetworkPolicy"> => {
  return manifest<"NetworkPolicy">({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(blueprint, networkPolicyName(blueprint.name), {
      annotations: isGuardedFromOutside(blueprint.spec) ? { [ONLY_GUARD_ANNOTATION]: "true" } : {},
    }),
    spec: { podSelector: { matchLabels: selectorOf(blueprint.name) }, ...rules },
  });
};

/** Undefined unless requested by `allowedFrom`, `policy` or the operator's settings. */
export const networkPolicy = (blueprint: Reached): ManifestOf<"NetworkPolicy"> | undefined => {
  const { spec, platform } = blueprint;
  if (!hasPolicy(spec, platform)) return undefined;
  const { ingress = [], egress } = spec.networking?.policy ?? {};
  return policyOf(blueprint, {
    // Without them, the API server would derive types from the rules, and an empty list of them would restrict nothing.
    policyTypes: egress === undefined ? ["Ingress"] : ["Ingress", "Egress"],
    ingress: [
      { from: peers(blueprint), ports: [{ protocol: "TCP", port: portOf(spec) }] },
      ...(blueprint.metrics.kind === "served"
        ? [{ from: scrapers(blueprint), ports: [{ protocol: "TCP", port: blueprint.metrics.port }] }]
        : []),
      ...ingress.map(withProtocols),
    ],
    ...(egress === undefined ? {} : { egress: [DNS, ...egress.map(withProtocols)] }),
  });
};

/** The API server writes the default into each port. */
const withProtocols = <Rule extends { readonly ports?: ReadonlyArray<object> }>(rule: Rule): Rule =>
  rule.ports === undefined ? rule : { ...rule, ports: rule.ports.map((port) => ({ protocol: "TCP", ...port })) };

/**
 * Of the pods of the cluster, which listen on 5353 on OpenShift, and of what answers on each node: its cache has a link-local
 * address, which differs between clusters (169.254.20.10, on AKS 169.254.10.11), and so has the resolver of a cloud.
 */
const DNS: AsJson<V1NetworkPolicyEgressRule> = {
  to: [{ namespaceSelector: {} }, { ipBlock: { cidr: "169.254.0.0/16" } }],
  ports: [53, 5353].flatMap((port) => ["UDP", "TCP"].map((protocol) => ({ protocol, port }))),
};

/** Whether the server has one. */
const hasPolicy = ({ networking }: Spec, { networkPolicies }: Platform): boolean =>
  networking?.policy?.enabled !== false &&
  (networking?.allowedFrom !== undefined || networking?.policy !== undefined || networkPolicies === true);

/** Of who cannot connect but should, as far as it can be known: the ingress controller to an exposed server, and Prometheus. */
export const policyWarnings = (
  { spec, platform, metrics }: Pick<Blueprint, "spec" | "platform" | "metrics">,
): ReadonlyArray<Warning> =>
  hasPolicy(spec, platform)
    ? [
      ...ingressWarnings(spec, platform),
      ...(metrics.kind === "served" ? scraperWarnings(spec, platform) : []),
    ]
    : [];

/** Of rules by the name of a port: they match only a port of the server's pods that has it. */
export const portNameWarnings = (
  { spec, metrics }: Pick<Blueprint, "spec" | "metrics">,
): ReadonlyArray<Warning> => {
  const { ingress = [] } = spec.networking?.policy ?? {};
  const names = metrics.kind === "served" ? [METRICS_PORT_NAME] : [];
  const instead = [`${portOf(spec)}, the number of the server's port`, ...names.map((name) => `"${name}"`)].join(
    " or ",
  );
  return ingress.flatMap(({ ports = [] }, rule) =>
    ports.flatMap(({ port }, index) =>
      typeof port !== "string" || names.includes(port) ? [] : [
        warning(
          "PortNameUnknown",
          ["spec", "networking", "policy", "ingress", rule, "ports", index, "port"],
          `no port of the server's pods has the name "${port}", so that nobody is allowed by it; use ${instead}`,
        ),
      ]
    )
  );
};

/** Whom they let in, their author knows. */
const hasOwnRules = ({ networking }: Spec): boolean => (networking?.policy?.ingress ?? []).length > 0;

const ingressWarnings = (spec: Spec, platform: Platform): ReadonlyArray<Warning> => {
  const { namespaces = [], labels = [] } = spec.networking?.allowedFrom ?? {};
  const isKnown = Object.keys(platform.ingressNamespaceLabels ?? {}).length > 0;
  const mayBeAllowed = hasOwnRules(spec) || labels.length > 0 ||
    [...namespaces, ...gatewayNamespaces(spec, platform)].some((name) => name === "*" || OF_INGRESS.test(name));
  const { kind } = exposureOf(spec, platform);
  if (kind === "none" || kind === "Route" || isKnown || mayBeAllowed) return [];
  const path = ["spec", "networking", ...(spec.networking?.allowedFrom === undefined ? ["expose"] : ["allowedFrom"])];
  return [
    warning(
      "IngressNotAllowed",
      path,
      `the NetworkPolicy does not allow the namespace of ${
        kind === "Gateway" ? "the pods of the gateway" : "the ingress controller"
      }${
        namespaces.length === 0 ? "" : " unless it is one of these"
      }, and requests from outside then time out; add it to allowedFrom.namespaces, or set ingress.namespaceLabels in ` +
        "the operator's settings",
    ),
  ];
};

/** Of metrics that are served, by default too, where it is not known who reads them. */
const scraperWarnings = (spec: Spec, platform: Platform): ReadonlyArray<Warning> => {
  const { namespaces = [], labels = [] } = spec.networking?.allowedFrom ?? {};
  const isKnown = platform.openshift || Object.keys(platform.monitoringNamespaceLabels ?? {}).length > 0;
  const mayBeAllowed = hasOwnRules(spec) || labels.length > 0 ||
    namespaces.some((name) => name === "*" || OF_MONITORING.test(name));
  if (isKnown || mayBeAllowed) return [];
  return [
    warning(
      "ScraperNotAllowed",
      ["spec", "monitoring"],
      "the pods serve metrics, and the NetworkPolicy allows a Prometheus of another namespace only if it is in allowedFrom, or in " +
        "monitoring.namespaceLabels of the operator's settings",
    ),
  ];
};

const OF_MONITORING = /monitor|prometheus|observ|metrics|telemetry|grafana|victoria|thanos|mimir/;

/** How namespaces of ingress controllers are called. */
const OF_INGRESS = new RegExp(
  [
    "ingress|gateway|router|proxy|nginx|traefik|contour|kong|istio|envoy|cilium|kube-system|balancer|public|edge|external",
    "ambassador|emissary|gloo|apisix|skipper|voyager|caddy|kourier|tyk|tailscale|cloudflare|ngrok|pomerium|wallarm|higress",
    "(^|-)(alb|elb|nlb|lb|f5|bigip|ako|avi|dmz)(-|$)",
  ].join("|"),
);

const byName = (namespace: string): AsJson<V1NetworkPolicyPeer> => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
});

/**
 * The own namespace and the operator always; then the requested ones; the ingress controller only if the
 * server is exposed.
 */
const peers = ({ spec, platform }: Reached): ReadonlyArray<AsJson<V1NetworkPolicyPeer>> => {
  const { namespaces = [], labels = [] } = spec.networking?.allowedFrom ?? {};
  if (namespaces.includes("*")) return [{ namespaceSelector: {} }];
  // A stored resource may have names that no namespace has. With them, the API server would reject the whole policy, and
  // the server would be open.
  return [
    { podSelector: {} },
    byName(platform.operatorNamespace),
    ...namespaces.filter(isNamespaceName).map(byName),
    ...labels.filter(isLabelKey).map((key): AsJson<V1NetworkPolicyPeer> => ({
      namespaceSelector: { matchExpressions: [{ key, operator: "Exists" }] },
    })),
    ...(isExposed(spec)
      ? [
        { namespaceSelector: { matchLabels: { "network.openshift.io/policy-group": "ingress" } } },
        ...gatewayNamespaces(spec, platform).filter((name) => !namespaces.includes(name)).map(byName),
        ...(Object.keys(platform.ingressNamespaceLabels ?? {}).length === 0
          ? []
          : [{ namespaceSelector: { matchLabels: { ...platform.ingressNamespaceLabels } } }]),
      ]
      : []),
  ];
};

/** Who reads the metrics: whoever may connect to the server, and the monitoring of the cluster. */
const scrapers = (blueprint: Reached): ReadonlyArray<AsJson<V1NetworkPolicyPeer>> => {
  const { namespaces = [] } = blueprint.spec.networking?.allowedFrom ?? {};
  const own = Object.entries(blueprint.platform.monitoringNamespaceLabels ?? {});
  return [
    ...peers(blueprint),
    ...(namespaces.includes("*") ? [] : [
      { namespaceSelector: { matchLabels: { "network.openshift.io/policy-group": "monitoring" } } },
      ...(own.length === 0 ? [] : [{ namespaceSelector: { matchLabels: Object.fromEntries(own) } }]),
    ]),
  ];
};
