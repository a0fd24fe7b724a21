/**
 * Definitions of the kinds of the Prometheus Operator, of the Gateway API and of OpenShift, as far as the API server needs them:
 * whatever is in them is kept.
 */
import type { JsonObject } from "../../core/data/json.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";

export const definitionName = (plural: string): string => `${plural}.monitoring.coreos.com`;

const definition = (
  kind: string,
  plural: string,
  group = "monitoring.coreos.com",
  scope = "Namespaced",
): JsonObject & { readonly kind: string; readonly metadata: JsonObject & { readonly name: string } } => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `${plural}.${group}`,
    annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
  },
  spec: {
    group,
    names: { kind, plural },
    scope,
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      subresources: { status: {} },
    }],
  },
});

const installer =
  <Kind extends string>(definitions: Readonly<Record<Kind, ReturnType<typeof definition>>>) =>
  async (cluster: Pick<ControlPlane, "fetch">, ...kinds: ReadonlyArray<Kind>): Promise<void> => {
    for (const kind of kinds) await installDefinition(cluster, definitions[kind]);
  };

export const installPrometheusKinds = installer({
  PodMonitor: definition("PodMonitor", "podmonitors"),
  PrometheusRule: definition("PrometheusRule", "prometheusrules"),
  ServiceMonitor: definition("ServiceMonitor", "servicemonitors"),
});

const GATEWAYS = "gateway.networking.k8s.io";

export const installGatewayKinds = installer({
  HTTPRoute: definition("HTTPRoute", "httproutes", GATEWAYS),
  BackendTLSPolicy: definition("BackendTLSPolicy", "backendtlspolicies", GATEWAYS),
  GatewayClass: definition("GatewayClass", "gatewayclasses", GATEWAYS),
});

/** Its own definitions are of no public package. */
export const installOpenshiftKinds = installer({
  Route: definition("Route", "routes", "route.openshift.io"),
  APIServer: definition("APIServer", "apiservers", "config.openshift.io", "Cluster"),
});
