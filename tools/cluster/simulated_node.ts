/** A node that is simulated, on a real control plane. */
import { manifestList } from "./manifest_list.ts";

interface Kubectl {
  /** Runs kubectl with these arguments and this standard input. */
  readonly kubectl: (words: readonly string[], input?: string) => Promise<unknown>;
}

/** Creates one node, and volumes that the controller manager binds to claims without a class. */
export const createNode = async (controlPlane: Kubectl): Promise<void> => {
  const manifests = [node, ...Array.from({ length: VOLUMES }, (_, index) => volume(index))];
  await controlPlane.kubectl(
    ["create", "-f", "-"],
    manifestList(manifests),
  );
};

/** Until kwok keeps the node ready. */
export const nodeReady = async (controlPlane: Kubectl): Promise<void> => {
  await controlPlane.kubectl(["wait", "--for=condition=Ready", `node/${NODE}`, "--timeout=60s"]);
};

export const NODE = "simulated";

/** More claims than any test makes at once; a claim without a free volume leaves its pod pending forever. */
const VOLUMES = 32;

// Large enough for a thousand pods that each ask for a core.
const capacity = { cpu: "2k", memory: "8Ti", pods: "5k" };

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: NODE, labels: { "kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux" } },
  status: { capacity, allocatable: capacity },
};

const volume = (index: number) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `simulated-${index}` },
  spec: {
    storageClassName: "",
    capacity: { storage: "1Ti" },
    // The API server rejects ReadWriteOncePod together with other modes, so every fourth volume is of that kind.
    accessModes: index % 4 === 3 ? ["ReadWriteOncePod"] : ["ReadWriteOnce", "ReadWriteMany"],
    hostPath: { path: `/tmp/simulated-${index}` },
  },
});
