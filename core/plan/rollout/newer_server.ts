/**
 * A server that another operator rolled out, and that is newer than the one of the distribution here: the Go operator
 * has newer images of some names. Nobody asked for the older one, which could not read the data of the newer.
 */
import { isOlderMinor } from "../../config/servers/families/families.ts";
import { serverOfImage } from "../../config/servers/distribution.ts";
import { statusOf } from "../../api/status_of.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import type { Prepared } from "../prepare.ts";

export interface NewerServer {
  /** Name of the distribution. */
  readonly distribution: string;
  /** Version that runs, and its image. */
  readonly running: string;
  readonly image: string;
  /** Version that the distribution has here. */
  readonly ours: string;
}

/** Undefined if the running server is not newer, or if the author chose a version or an image. */
export const newerServer = (
  { server, resource }: Prepared,
  live: LiveDeployment | undefined,
  snapshot: ClusterSnapshot,
): NewerServer | undefined => {
  const { name, serverVersion } = resource.spec.distribution;
  if (live === undefined || server === undefined || name === undefined || serverVersion !== undefined) return undefined;
  // The operator records the server of each template that it rolls out.
  if (live.record.server !== undefined) return undefined;
  const { image = "" } = live;
  // A floating tag does not tell the version, but the server did.
  const running = serverOfImage(image)?.version ??
    statusOf(snapshot.resource).version?.llamaStackServerVersion;
  return running !== undefined && isOlderMinor(server, running)
    ? { distribution: name, running, image, ours: server }
    : undefined;
};
