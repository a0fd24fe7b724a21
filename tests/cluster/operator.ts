/** The operator inside the test process, against a control plane. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { CertificateLife } from "../../shell/webhooks/certificates.ts";
import { Timeouts } from "../../shell/kubernetes/timeouts.ts";
import { operator, type RunOptions } from "../../shell/process/run.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";

export interface RunningOperator {
  /** Ends as SIGTERM would: watches closed, nothing left open. */
  readonly stop: () => Promise<void>;
}

export const startOperator = async (
  cluster: Pick<ControlPlane, "url" | "adminToken" | "caPem" | "fetch">,
  { url = cluster.url, patience, install = true, certificateLife, ...more }: Partial<RunOptions> & {
    readonly url?: string;
    /** False where the test has installed the CRD in its own way. */
    readonly install?: boolean;
    /** How long certificates live. */
    readonly certificateLife?: Parameters<typeof CertificateLife.of>[0];
    /** How long a dead connection may go unnoticed. */
    readonly patience?: Parameters<typeof Timeouts.of>[0];
  } = {},
): Promise<RunningOperator> => {
  if (install) await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  const fiber = Effect.runFork(
    operator({
      connection: {
        url,
        caPem: () => cluster.caPem,
        clientCertificate: undefined,
        token: () => cluster.adminToken,
      },
      namespaces: [],
      operatorNamespace: "default",
      relatedImages: new Map(),
      leaderElect: false,
      replica: "test",
      route: "Proxied",
      metricsAddress: "0",
      healthAddress: "0",
      ...more,
    }).pipe(
      patience === undefined ? (program) => program : Effect.provideService(Timeouts, patience),
      certificateLife === undefined ? (program) => program : Effect.provideService(CertificateLife, certificateLife),
    ),
  );
  return { stop: async () => void await Effect.runPromise(Fiber.interrupt(fiber)) };
};
