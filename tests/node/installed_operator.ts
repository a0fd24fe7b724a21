/** The operator as a user installs it: `deploy/install.yaml` as it is, on an image that was put on the node before. */
import { fileURLToPath } from "node:url";
import { IMAGE } from "../../tools/package/choices.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { IMAGES } from "../../tools/cluster/real_node/images.ts";
import { importImages } from "../../tools/cluster/real_node/prepared_images.ts";
import { operatorArchive } from "../../tools/install/operator_image.ts";
import { KUBECTL_LIMIT } from "../waiting.ts";

export const INSTALL_FILE = fileURLToPath(new URL("../../deploy/install.yaml", import.meta.url));

/** Where the ingress controller of a test pretends to run; it is a process of the host. */
export const INGRESS_NAMESPACE = "ingress";

/** Returns when every replica is ready. */
export const installOperator = async (cluster: ControlPlane): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    await importImages(await operatorArchive(IMAGE, folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  await cluster.kubectl(["apply", "-f", INSTALL_FILE]);
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(settings));
  const ready = ["rollout", "status", `deployment/${NAME}`, "-n", NAMESPACE, KUBECTL_LIMIT];
  await cluster.kubectl(ready).catch(async (cause) => {
    const told = [["get", "pods", "-o", "wide"], ["events"], ["logs", `deployment/${NAME}`, "--tail=30"]]
      .map((words) => cluster.kubectl([...words, "-n", NAMESPACE]).catch(String));
    throw new Error((await Promise.all(told)).join("\n"), { cause });
  });
};

/** The node has other versions of the images than those that the operator pins; a test runs a server as root. */
const settings = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: SETTINGS_CONFIG_MAP, namespace: NAMESPACE },
  data: {
    "image-overrides": `starter: ${IMAGES.starter}\nogx-starter: ${IMAGES.ogxStarter}\n`,
    "allow.privileged": "true",
    "ingress.namespaceLabels": `kubernetes.io/metadata.name: ${INGRESS_NAMESPACE}`,
  },
};
