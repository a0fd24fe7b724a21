/** The compiled program as it is installed: with the token of its ServiceAccount, its Roles, and metrics over HTTPS. */
import { join } from "node:path";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { startInBackground } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";

export interface InstalledOperator {
  readonly metricsPort: number;
  readonly logFile: string;
  readonly stop: () => Promise<void>;
}

export const startInstalledOperator = async (cluster: ControlPlane, folder: string): Promise<InstalledOperator> => {
  const [metrics, health, webhooks] = freePorts(3) as [number, number, number];
  const token = (await cluster.kubectl(["create", "token", NAME, "-n", NAMESPACE])).trim();
  const kubeconfig = join(folder, "operator-kubeconfig");
  const admins = await Deno.readTextFile(cluster.kubeconfig);
  await Deno.writeTextFile(kubeconfig, admins.replaceAll(cluster.adminToken, token));
  const logFile = join(folder, "operator.log");
  const process = await startInBackground({
    command: [
      await compiledOperator(),
      "run",
      `--kubeconfig=${kubeconfig}`,
      `--metrics-address=127.0.0.1:${metrics}`,
      `--health-address=127.0.0.1:${health}`,
      `--webhook-address=127.0.0.1:${webhooks}`,
      // The default in a pod.
      "--leader-elect",
    ],
    env: { HOME: folder, POD_NAMESPACE: NAMESPACE, POD_NAME: "replica", ...RUNTIME_ENV },
    logFile,
    stopWithinMs: 15_000,
  });
  return { metricsPort: metrics, logFile, stop: async () => void await process.stop() };
};
