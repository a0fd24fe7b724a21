/** External access: an Ingress, or a Route where the cluster has them. */
import type { V1HTTPIngressPath } from "@kubernetes/client-node";
import { type Blueprint, type Manifest, portOf, servesTls } from "./blueprint.ts";
import { exposureOf } from "./exposure.ts";
import { metadataOf } from "./metadata.ts";
import { serviceName } from "./service.ts";
import { type AsJson, manifest } from "./kubernetes_objects.ts";

export const ingressName = (name: string): string => `${name}-ingress`;

/** An Ingress has no field for a backend that speaks TLS; this controller looks for it here, others on the Service. */
const NGINX_PROTOCOL = "nginx.ingress.kubernetes.io/backend-protocol";

/** Undefined when the server is not exposed, or in another way. */
export const ingress = (blueprint: Blueprint): Manifest | undefined => {
  const { name, spec, platform } = blueprint;
  if (exposureOf(spec, platform).kind !== "Ingress") return undefined;
  const { hostname, ingressClassName, tlsSecretName, annotations } = spec.networking?.expose ?? {};
  const path: AsJson<V1HTTPIngressPath> = {
    path: "/",
    pathType: "Prefix",
    backend: { service: { name: serviceName(name), port: { number: portOf(spec) } } },
  };
  return manifest<"Ingress">({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: metadataOf(blueprint, ingressName(name), {
      annotations: { ...(servesTls(spec) ? { [NGINX_PROTOCOL]: "HTTPS" } : {}), ...annotations },
    }),
    spec: {
      ...(ingressClassName === undefined ? {} : { ingressClassName }),
      ...(tlsSecretName === undefined
        ? {}
        : { tls: [{ ...(hostname === undefined ? {} : { hosts: [hostname] }), secretName: tlsSecretName }] }),
      rules: [{ ...(hostname === undefined ? {} : { host: hostname }), http: { paths: [path] } }],
    },
  });
};

/** The same where the cluster has Routes. */
export const route = (blueprint: Blueprint): Manifest | undefined => {
  const { name, spec, platform } = blueprint;
  if (exposureOf(spec, platform).kind !== "Route") return undefined;
  const { hostname, annotations } = spec.networking?.expose ?? {};
  return manifest<"Route">({
    apiVersion: "route.openshift.io/v1",
    kind: "Route",
    metadata: metadataOf(blueprint, name, { annotations: { ...annotations } }),
    spec: {
      ...(hostname === undefined ? {} : { host: hostname }),
      to: { kind: "Service", name: serviceName(name), weight: 100 },
      port: { targetPort: "http" },
      // The router passes the server's TLS through; otherwise the router's own certificate is used.
      tls: servesTls(spec)
        ? { termination: "passthrough", insecureEdgeTerminationPolicy: "None" }
        : { termination: "edge", insecureEdgeTerminationPolicy: "Redirect" },
    },
  });
};
