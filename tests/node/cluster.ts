/** The cluster of the run as one of its processes reaches it. */
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { readSession } from "./session.ts";

export type JoinedCluster = Pick<ControlPlane, "url" | "adminToken" | "caPem" | "fetch">;

export const joinCluster = (): JoinedCluster => {
  const { url, adminToken, caPem } = readSession();
  const client = Deno.createHttpClient({ caCerts: [caPem] });
  return {
    url,
    adminToken,
    caPem,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${adminToken}`);
      return fetch(`${url}${path}`, { ...init, headers, client });
    },
  };
};
