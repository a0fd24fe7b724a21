/** The Service `<cr>-service`, always there. Numeric target: pods of the Go operator have no named port. */
import { type Blueprint, type Manifest, portOf } from "./blueprint.ts";
import { metadataOf, selectorOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

export const serviceName = (name: string): string => `${name}-service`;

export const service = (blueprint: Blueprint): Manifest => {
  const port = portOf(blueprint.spec);
  return manifest<"Service">({
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(blueprint, serviceName(blueprint.name), {
      annotations: { ...blueprint.spec.networking?.serviceAnnotations },
    }),
    spec: {
      type: "ClusterIP",
      selector: selectorOf(blueprint.name),
      ports: [{ name: "http", protocol: "TCP", port, targetPort: port }],
    },
  });
};
