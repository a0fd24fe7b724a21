/**
 * The CA bundle that Open Data Hub distributes to every namespace. A server whose resource names no bundle trusts it, as
 * with the Go operator; the resource is then treated as if it named this ConfigMap with all of its keys.
 */
import type { Resource } from "../api/decode.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { CaBundleInvalid } from "../failure/failures.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";
import { type Reference, TRUSTED_BUNDLE } from "../snapshot/references.ts";

/** Whether the ConfigMap counts for a resource with this spec. */
const applies = ({ networking }: Spec, { operator }: Pick<Sources, "operator">): boolean =>
  networking?.tls?.caBundle === undefined && operator.namespaceCaBundle === "Use";

/** To be read in addition to what the spec names. */
export const trustedBundleReference = (spec: Spec, sources: Pick<Sources, "operator">): ReadonlyArray<Reference> =>
  !applies(spec, sources) ? [] : [{
    kind: "ConfigMap",
    name: TRUSTED_BUNDLE,
    namespace: undefined,
    key: undefined,
    path: PATH,
    optional: true,
  }];

const PATH = ["spec", "networking", "tls", "caBundle"];

/** At the field that the resource does not set, and not at a place within it. */
export const ofNamespace = (failure: CaBundleInvalid): CaBundleInvalid =>
  new CaBundleInvalid({ ...failure, path: PATH, isOfNamespace: true });

/**
 * The resource with the bundle, if it has content. Invalid content is a failure as in a bundle that the resource names:
 * without it, running servers would lose the authorities that they trusted.
 */
export const withTrustedBundle = (
  resource: Resource,
  sources: Pick<Sources, "operator" | "configMaps">,
  namespace: string,
): Resource => {
  const { spec } = resource;
  const data = applies(spec, sources) ? sources.configMaps.get(`${namespace}/${TRUSTED_BUNDLE}`)?.data : undefined;
  const keys = Object.entries(data ?? {}).filter(([, text]) => text.trim() !== "").map(([key]) => key).sort();
  if (keys.length === 0) return resource;
  const { networking } = spec;
  const caBundle = { configMapName: TRUSTED_BUNDLE, configMapKeys: keys };
  return { ...resource, spec: { ...spec, networking: { ...networking, tls: { ...networking?.tls, caBundle } } } };
};
