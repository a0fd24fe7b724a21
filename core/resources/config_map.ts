/** ConfigMaps of a resource: the immutable one with config.yaml, and the bundle of certificates. */
import { stringAt } from "../data/json.ts";
import { CONFIG_DIGEST_ANNOTATION, configMapName } from "./names.ts";
import type { Blueprint, Manifest } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { CA_BUNDLE_KEY, caBundleName } from "./pod_volumes.ts";
import { manifest } from "./kubernetes_objects.ts";

/** Label of the copy of the certificates that the server trusts. */
export const CA_BUNDLE_COMPONENT = "ca-bundle";

export interface ConfigContent {
  readonly data: Readonly<Record<string, string>>;
  /** Base64, for an own config whose ConfigMap has such keys. */
  readonly binaryData?: Readonly<Record<string, string>>;
  /** sha256 in hex of what is in it. */
  readonly digest: string;
  /** What it was made from. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Named after its content; the full digest is in an annotation, because eight digits in a name are no proof. */
export const configMap = (blueprint: Blueprint, { data, binaryData, digest, annotations }: ConfigContent): Manifest =>
  manifest<"ConfigMap">({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(blueprint, configMapName(blueprint.name, digest), {
      component: "generated-config",
      annotations: { [CONFIG_DIGEST_ANNOTATION]: digest, ...annotations },
    }),
    immutable: true,
    data,
    ...(binaryData === undefined || Object.keys(binaryData).length === 0 ? {} : { binaryData }),
  });

/** Digest of its content; undefined for another object. */
export const configDigest = (object: Manifest): string | undefined =>
  stringAt(object, "metadata", "annotations", CONFIG_DIGEST_ANNOTATION);

/** `pem` is undefined offline, where the source ConfigMap has not been read. */
export const caBundleMap = (blueprint: Blueprint, pem: string | undefined): Manifest | undefined =>
  blueprint.spec.networking?.tls?.caBundle === undefined ? undefined : manifest<"ConfigMap">({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(blueprint, caBundleName(blueprint), { component: CA_BUNDLE_COMPONENT }),
    ...(pem === undefined ? {} : { data: { [CA_BUNDLE_KEY]: pem } }),
  });
