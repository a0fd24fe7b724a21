/** What `lint` and `render` say of who reaches a server, of which the intended cluster is a part. */
import type { Resource } from "../api/decode.ts";
import { type Derived, familyOf } from "../config/derive.ts";
import { metricsOf } from "../config/metrics.ts";
import type { Warning } from "../failure/warning.ts";
import type { Platform } from "../resources/blueprint.ts";
import { gatewayWarnings } from "../resources/http_route.ts";
import { policyWarnings, portNameWarnings } from "../resources/network_policy.ts";
import { NOWHERE } from "../resources/of_resource.ts";

/** Without a platform, nothing is said of what depends on the cluster; without a config, nothing of what depends on it. */
export const exposureWarnings = (
  { name, spec, namespace: own }: Resource,
  derived: Derived | undefined,
  platform: Platform | undefined,
  namespace = NOWHERE.namespace,
): ReadonlyArray<Warning> => {
  const byDefault = platform?.served.includes("PodMonitor") ?? true;
  const metrics = derived === undefined ? UNKNOWN : metricsOf(spec, familyOf(derived), byDefault);
  return [
    ...(platform === undefined ? [] : [
      ...policyWarnings({ spec, platform, metrics }),
      ...gatewayWarnings({ name, namespace: own ?? namespace, spec, platform, certificateNames: undefined }),
    ]),
    ...(derived === undefined ? [] : portNameWarnings({ spec, metrics })),
  ];
};

const UNKNOWN = { kind: "off" } as const;
