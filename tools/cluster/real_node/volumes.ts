import { join } from "node:path";
import type { ControlPlane } from "../control_plane.ts";
import { NODE } from "./private_host.ts";
import { manifestList } from "../manifest_list.ts";

/** More claims than the tests make at once. */
const VOLUMES = 16;

/** Local volumes, since kubelet gives their files to the pod's group as with a real disk; a hostPath stays as it is. */
export const makeVolumes = async (folder: string, cluster: ControlPlane): Promise<void> => {
  const terms = [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [NODE] }] }];
  const volumes = [];
  for (let index = 0; index < VOLUMES; index++) {
    const path = join(folder, "volumes", String(index));
    await Deno.mkdir(path, { recursive: true });
    volumes.push({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `local-${index}` },
      spec: {
        storageClassName: "",
        capacity: { storage: "10Gi" },
        accessModes: ["ReadWriteOnce", "ReadWriteMany"],
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      },
    });
  }
  await cluster.kubectl(["create", "-f", "-"], manifestList(volumes));
};
