/** What can be said of who reaches a server. */
import type { Warning } from "../failure/warning.ts";
import type { Blueprint } from "./blueprint.ts";
import { gatewayWarnings } from "./http_route.ts";
import { policyWarnings, portNameWarnings } from "./network_policy.ts";

type Server = Pick<Blueprint, "name" | "namespace" | "spec" | "certificateNames" | "missingGatewayCa"> & {
  /** Undefined: the cluster is not known, and nothing is said of what depends on it. */
  readonly platform: Blueprint["platform"] | undefined;
  /** Undefined: the config is not known. */
  readonly metrics: Blueprint["metrics"] | undefined;
};

export const exposureWarnings = ({ platform, metrics, ...server }: Server): ReadonlyArray<Warning> => [
  ...(platform === undefined ? [] : [
    ...policyWarnings({ ...server, platform, metrics: metrics ?? { kind: "off" } }),
    ...gatewayWarnings({ ...server, platform }),
  ]),
  ...(metrics === undefined ? [] : portNameWarnings({ ...server, metrics })),
];
