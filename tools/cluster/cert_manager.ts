/** cert-manager on a control plane: its definitions, and a process with the controllers for self-signed certificates. */
import { join } from "node:path";
import { installControlPlane } from "../install/control_plane.ts";
import { certManagerDefinitions } from "../install/published_definitions.ts";
import { startInBackground } from "./background_process.ts";
import type { ControlPlane } from "./control_plane.ts";
import { installDefinition } from "./custom_resource_definition.ts";

/** It writes its log into the folder. Whoever starts it disposes of it. */
export const startCertManager = async (cluster: ControlPlane, folder: string): Promise<AsyncDisposable> => {
  const { "cert-manager": program } = await installControlPlane(["cert-manager"]);
  for (const definition of await certManagerDefinitions()) {
    await installDefinition(cluster, definition);
  }
  const process = await startInBackground({
    command: [program, cluster.kubeconfig],
    env: { HOME: folder },
    logFile: join(folder, "cert-manager.log"),
    stopWithinMs: 10_000,
  });
  return { [Symbol.asyncDispose]: async () => void await process.stop() };
};

/** As `cmctl renew` does it. */
export const renewCertificate = async (cluster: ControlPlane, namespace: string, name: string): Promise<void> => {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const issuing = { type: "Issuing", status: "True", reason: "ManuallyTriggered", lastTransitionTime: now };
  const patch = [{ op: "add", path: "/status/conditions/-", value: issuing }];
  await cluster.kubectl([
    ...["patch", "certificate", name, "-n", namespace, "--subresource=status", "--type=json", "-p"],
    JSON.stringify(patch),
  ]);
};
