/** What `lint` and `render` say of who reaches a server, of which the intended cluster is a part. */
import type { Resource } from "../api/decode.ts";
import type { ConfigMaps } from "../config/config_map_content.ts";
import { type Derived, familyOf } from "../config/derive.ts";
import { metricsOf } from "../config/metrics.ts";
import type { Warning } from "../failure/warning.ts";
import { missingGatewayCa } from "../plan/gateway_ca.ts";
import type { Platform } from "../resources/blueprint.ts";
import { exposureWarnings } from "../resources/exposure_warnings.ts";
import { NOWHERE } from "../resources/of_resource.ts";
import { referencesOf } from "../snapshot/references.ts";

/**
 * Without a platform, nothing is said of what depends on the cluster; without a config, nothing of what depends on it.
 * `configMaps`: those in the files; there may be others in the cluster.
 */
export const intendedExposureWarnings = (
  { name, spec, namespace: own }: Resource,
  derived: Derived | undefined,
  configMaps: ConfigMaps,
  platform: Platform | undefined,
  given = NOWHERE.namespace,
): ReadonlyArray<Warning> => {
  const namespace = own ?? given;
  const byDefault = platform?.served.includes("PodMonitor") ?? true;
  const missing = missingGatewayCa(
    spec,
    referencesOf(spec),
    { configMaps, secrets: new Map(), tooLarge: [] },
    namespace,
  );
  return exposureWarnings({
    name,
    namespace,
    spec,
    platform,
    metrics: derived === undefined ? undefined : metricsOf(spec, familyOf(derived), byDefault),
    certificateNames: undefined,
    missingGatewayCa: missing === "ConfigMap" ? undefined : missing,
  });
};
