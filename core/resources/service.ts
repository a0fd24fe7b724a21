/** The Service `<cr>-service`, always there. Numeric target: pods of the Go operator have no named port. */
import { metadataOf, type Owner, selectorOf } from "./metadata.ts";
import { manifest, type ManifestOf } from "./kubernetes_objects.ts";

/** A port of a Service, as it is reached. */
export interface ServiceTarget {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  readonly scheme: "http" | "https";
}

export const serviceName = (name: string): string => `${name}-service`;

/** By which objects of gateways name the port. */
export const PORT_NAME = "http";

export interface Served {
  readonly port: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const service = (owner: Owner, { port, annotations = {} }: Served): ManifestOf<"Service"> =>
  manifest<"Service">({
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(owner, serviceName(owner.name), { annotations }),
    spec: {
      type: "ClusterIP",
      selector: selectorOf(owner.name),
      ports: [{ name: PORT_NAME, protocol: "TCP", port, targetPort: port }],
    },
  });
