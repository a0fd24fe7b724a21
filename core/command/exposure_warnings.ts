/** What `lint` and `render` say of an exposed server, of which the intended cluster is a part. */
import type { Resource } from "../api/decode.ts";
import type { Warning } from "../failure/warning.ts";
import type { Platform } from "../resources/blueprint.ts";
import { gatewayWarnings } from "../resources/http_route.ts";
import { policyWarnings } from "../resources/network_policy.ts";
import { NOWHERE } from "../resources/of_resource.ts";

export const exposureWarnings = (
  { name, spec, namespace: own }: Resource,
  platform: Platform,
  namespace = NOWHERE.namespace,
): ReadonlyArray<Warning> => [
  ...policyWarnings(spec, platform),
  ...gatewayWarnings({ name, namespace: own ?? namespace, spec, platform, certificateNames: undefined }),
];
