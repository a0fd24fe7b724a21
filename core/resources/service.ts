/** The Service `<cr>-service`, always there. Numeric target: pods of the Go operator have no named port (R35). */
import { type Blueprint, isExposed, type Manifest, portOf, servesTls } from "./blueprint.ts";
import { metadataOf, selectorOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

/** How Traefik learns that the server behind an Ingress speaks TLS. */
const TRAEFIK_SCHEME = "traefik.ingress.kubernetes.io/service.serversscheme";

export const serviceName = (name: string): string => `${name}-service`;

export const service = (blueprint: Blueprint): Manifest => {
  const port = portOf(blueprint.spec);
  return manifest<"Service">({
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(blueprint, serviceName(blueprint.name), {
      annotations: {
        ...(isExposed(blueprint.spec) && servesTls(blueprint.spec) ? { [TRAEFIK_SCHEME]: "https" } : {}),
        ...blueprint.spec.networking?.serviceAnnotations,
      },
    }),
    spec: {
      type: "ClusterIP",
      selector: selectorOf(blueprint.name),
      ports: [{ name: "http", protocol: "TCP", port, targetPort: port }],
    },
  });
};
