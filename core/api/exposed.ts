/** Whether the server can be reached from outside of the cluster, as far as its resource says. */
import type { Spec } from "./v1alpha2.ts";

/** The block alone exposes it, unless it says otherwise. */
export const isExposed = ({ networking }: Spec): boolean =>
  networking?.expose !== undefined && networking.expose.enabled !== false;
