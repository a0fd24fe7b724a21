/** Definitions of the kinds of the Prometheus Operator and of the Gateway API, as far as the API server needs them: whatever is in them is kept. */
import type { JsonObject } from "../../core/data/json.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";

export const definitionName = (plural: string): string => `${plural}.monitoring.coreos.com`;

const definition = (
  kind: string,
  plural: string,
  group = "monitoring.coreos.com",
): JsonObject & { readonly metadata: JsonObject & { readonly name: string } } => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `${plural}.${group}`,
    annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
  },
  spec: {
    group,
    names: { kind, plural },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      subresources: { status: {} },
    }],
  },
});

const DEFINITIONS = {
  PodMonitor: definition("PodMonitor", "podmonitors"),
  PrometheusRule: definition("PrometheusRule", "prometheusrules"),
  ServiceMonitor: definition("ServiceMonitor", "servicemonitors"),
} as const;

export const installPrometheusKinds = async (
  cluster: Pick<ControlPlane, "fetch">,
  ...kinds: ReadonlyArray<keyof typeof DEFINITIONS>
): Promise<void> => {
  for (const kind of kinds) await installDefinition(cluster, DEFINITIONS[kind]);
};

const GATEWAYS = "gateway.networking.k8s.io";

const GATEWAY_DEFINITIONS = {
  HTTPRoute: definition("HTTPRoute", "httproutes", GATEWAYS),
  BackendTLSPolicy: definition("BackendTLSPolicy", "backendtlspolicies", GATEWAYS),
  GatewayClass: definition("GatewayClass", "gatewayclasses", GATEWAYS),
} as const;

export const installGatewayKinds = async (
  cluster: Pick<ControlPlane, "fetch">,
  ...kinds: ReadonlyArray<keyof typeof GATEWAY_DEFINITIONS>
): Promise<void> => {
  for (const kind of kinds) await installDefinition(cluster, GATEWAY_DEFINITIONS[kind]);
};
