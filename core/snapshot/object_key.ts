/** Which object of a cluster. */
import type { Manifest } from "../resources/blueprint.ts";

export interface ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export const keyOf = ({ apiVersion, kind, metadata }: Manifest): ObjectKey => ({
  apiVersion,
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
});

/** Of the key `namespace/name` of a resource. */
export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));
