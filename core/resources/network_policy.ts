/** The NetworkPolicy `<cr>-network-policy`: who may connect (FR-066). */
import type { JsonObject } from "../json.ts";
import { type Blueprint, isExposed, type Manifest, portOf } from "./blueprint.ts";
import { metadataOf, selectorOf } from "./metadata.ts";

export const networkPolicyName = (name: string): string => `${name}-network-policy`;

/** Undefined where nobody asked for one: neither `allowedFrom` nor the operator's flag. */
export const networkPolicy = (blueprint: Blueprint): Manifest | undefined => {
  const { name, spec, platform } = blueprint;
  if (spec.networking?.allowedFrom === undefined && !platform.networkPolicies) return undefined;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(blueprint, networkPolicyName(name)),
    spec: {
      podSelector: { matchLabels: selectorOf(name) },
      policyTypes: ["Ingress"],
      ingress: [{ from: peers(blueprint), ports: [{ protocol: "TCP", port: portOf(spec) }] }],
    },
  };
};

const byName = (namespace: string): JsonObject => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
});

/** Own namespace and operator always; then what is asked for; the ingress controller of OpenShift only when exposed. */
const peers = ({ spec, platform }: Blueprint): ReadonlyArray<JsonObject> => {
  const { namespaces = [], labels = [] } = spec.networking?.allowedFrom ?? {};
  if (namespaces.includes("*")) return [{ namespaceSelector: {} }];
  return [
    { podSelector: {} },
    byName(platform.operatorNamespace),
    ...namespaces.map(byName),
    ...labels.map((key): JsonObject => ({ namespaceSelector: { matchExpressions: [{ key, operator: "Exists" }] } })),
    ...(isExposed(spec)
      ? [{ namespaceSelector: { matchLabels: { "network.openshift.io/policy-group": "ingress" } } }]
      : []),
  ];
};
