/** A namespace with nothing in it but one resource, as tests and measurements of decisions start from it. */
import type { World } from "../core/world/world.ts";

export const EMPTY_WORLD: Omit<World, "nowMs" | "operator" | "resource"> = {
  secrets: new Map(),
  configMaps: new Map(),
  tooLarge: [],
  live: new Map(),
  configs: [],
  replicaSets: [],
  pods: [],
  refusals: [],
  away: [],
  server: undefined,
};
