/** What `lint` and `render` say of who reaches a server, of which the intended cluster is a part. */
import type { Resource } from "../api/decode.ts";
import type { ConfigMaps } from "../config/config_map_content.ts";
import { type Derived, familyOf } from "../config/derive.ts";
import { metricsOf } from "../config/metrics.ts";
import type { Warning } from "../failure/warning.ts";
import { missingGatewayCa } from "../plan/gateway_ca.ts";
import type { Platform } from "../resources/blueprint.ts";
import { gatewayWarnings } from "../resources/http_route.ts";
import { policyWarnings, portNameWarnings } from "../resources/network_policy.ts";
import { NOWHERE } from "../resources/of_resource.ts";
import { referencesOf } from "../snapshot/references.ts";

/**
 * Without a platform, nothing is said of what depends on the cluster; without a config, nothing of what depends on it.
 * `configMaps`: those in the files; there may be others in the cluster.
 */
export const exposureWarnings = (
  { name, spec, namespace: own }: Resource,
  derived: Derived | undefined,
  configMaps: ConfigMaps,
  platform: Platform | undefined,
  given = NOWHERE.namespace,
): ReadonlyArray<Warning> => {
  const namespace = own ?? given;
  const byDefault = platform?.served.includes("PodMonitor") ?? true;
  const metrics = derived === undefined ? UNKNOWN : metricsOf(spec, familyOf(derived), byDefault);
  const missing = missingGatewayCa(
    spec,
    referencesOf(spec),
    { configMaps, secrets: new Map(), tooLarge: [] },
    namespace,
  );
  return [
    ...(platform === undefined ? [] : [
      ...policyWarnings({ spec, platform, metrics }),
      ...gatewayWarnings({
        name,
        namespace,
        spec,
        platform,
        certificateNames: undefined,
        missingGatewayCa: missing === "ConfigMap" ? undefined : missing,
      }),
    ]),
    ...(derived === undefined ? [] : portNameWarnings({ spec, metrics })),
  ];
};

const UNKNOWN = { kind: "off" } as const;
