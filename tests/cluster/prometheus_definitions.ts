/** Definitions of the kinds of the Prometheus Operator, as far as the API server needs them: whatever is in them is kept. */
import type { JsonObject } from "../../core/data/json.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";

export const definitionName = (plural: string): string => `${plural}.monitoring.coreos.com`;

const definition = (kind: string, plural: string): JsonObject & { readonly metadata: { readonly name: string } } => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: definitionName(plural) },
  spec: {
    group: "monitoring.coreos.com",
    names: { kind, plural },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
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
