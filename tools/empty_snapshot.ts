/** A namespace with nothing in it but one resource, as tests and measurements of decisions start from it. */
import type { ClusterSnapshot } from "../core/snapshot/cluster_snapshot.ts";

export const EMPTY_SNAPSHOT: Omit<ClusterSnapshot, "nowMs" | "operator" | "resource"> = {
  secrets: new Map(),
  configMaps: new Map(),
  tooLarge: [],
  live: new Map(),
  configs: [],
  largeBundles: [],
  replicaSets: [],
  pods: [],
  rollingUpgrades: [],
  server: undefined,
};
