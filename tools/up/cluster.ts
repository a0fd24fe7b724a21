/** Where `task up` runs: a control plane of its own, or the cluster of a kubeconfig. */
import { personalKubeconfig } from "../../shell/kubernetes/kubeconfig.ts";
import { relatedImageVariable } from "../../core/config/servers/distribution.ts";
import { installSimulatedCluster, startControlPlane } from "../cluster/control_plane.ts";
import { IMAGES } from "../cluster/real_node/images.ts";
import { type ReachableNode, startReachableNode } from "../cluster/real_node/reachable_node.ts";
import { installRealNode } from "../cluster/real_node/real_node.ts";
import { SERVER_CONTAINER } from "./local_server.ts";

/**
 * `local`: the server of a pod is a process of this machine. `simulated`: pods are made, bound and called ready, and nothing runs
 * in them. `real`: a node that runs containers.
 */
export type ClusterKind = "local" | "simulated" | "real";

export interface UpCluster {
  readonly kubeconfig: string;
  /** Undefined: the current one. */
  readonly context: string | undefined;
  /** One line for people. */
  readonly title: string;
  /** What a shell needs so that kubectl finds it. */
  readonly shellLine: string;
  /**
   * A control plane of this run, removed as a whole at the end; otherwise the user's cluster, where only the objects of
   * this run are removed.
   */
  readonly isOurs: boolean;
  /** Its own images for distributions, by the environment variables of the operator. */
  readonly relatedImages: ReadonlyMap<string, string>;
  /** A stand-in for the model servers that resources name. */
  readonly modelServer: ReachableNode["modelServer"] | undefined;
  stop(): Promise<void>;
}

/** Installs what a cluster of this kind needs; minutes the first time, nothing later. */
export const installCluster = async (kind: ClusterKind, signal: AbortSignal): Promise<void> => {
  if (kind === "real" && (Deno.build.os !== "linux" || Deno.uid() !== 0)) throw new Error(NEEDS_ROOT);
  try {
    await (kind === "real" ? installRealNode({ signal }) : installSimulatedCluster({ signal }));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${message}\nOr use an existing cluster: --context NAME`, { cause });
  }
};

const NEEDS_ROOT =
  "--real-node requires Linux and root, because it starts a container runtime and a kubelet in separate namespaces. " +
  "Run the command as root, omit the flag to simulate the node, or use a cluster with real nodes with --context NAME.";

/**
 * Empty, with its own certificate authority, on loopback. `models` are those of the stand-in for model servers, with a
 * real node. Undefined if `signal` came before it was ready.
 */
export const startCluster = async (
  kind: ClusterKind,
  models: ReadonlyArray<string>,
  signal: AbortSignal,
): Promise<UpCluster | undefined> => {
  const started = kind === "real"
    ? await startReachableNode(models, signal)
    : await startControlPlane({ node: "Bound", podsOfOthers: kind === "local" ? [SERVER_CONTAINER] : [] });
  if (started === undefined) return undefined;
  const images = kind === "real" ? IMAGES_OF_NODE : new Map<string, string>();
  const kubectl = await isOnPath("kubectl") ? "" : `; alias kubectl=${started.kubectlPath}`;
  return {
    kubeconfig: started.kubeconfig,
    context: undefined,
    title: `Kubernetes API server at ${started.url}, with one ${NODES[kind]}`,
    // The command line decides as the operator does, so it has to know the same images.
    shellLine: `export ${assignments([["KUBECONFIG", started.kubeconfig], ...images])}${kubectl}`,
    isOurs: true,
    relatedImages: images,
    modelServer: "modelServer" in started ? started.modelServer : undefined,
    stop: () => started.stop(),
  };
};

const NODES: Readonly<Record<ClusterKind, string>> = {
  local: "node that runs servers as processes of this machine",
  simulated: "simulated node",
  real: "real node, which has the images of starter and ogx-starter",
};

const assignments = (all: ReadonlyArray<readonly [name: string, value: string]>): string =>
  all.map(([name, value]) => `${name}=${value}`).join(" ");

/** No registry can be reached from the node. */
const IMAGES_OF_NODE = new Map([
  [relatedImageVariable("starter"), IMAGES.starter],
  [relatedImageVariable("ogx-starter"), IMAGES.ogxStarter],
]);

/** The cluster of a context of the user's kubeconfig. */
export const userCluster = (context: string, kubeconfig: string | undefined): UpCluster => {
  const file = personalKubeconfig(kubeconfig);
  if (file === undefined) {
    throw new Error("--context requires a kubeconfig: --kubeconfig FILE, KUBECONFIG or ~/.kube/config");
  }
  return {
    kubeconfig: file,
    context,
    title: `cluster of context ${context} in ${file}`,
    shellLine: `export KUBECONFIG=${file}; alias kubectl='kubectl --context ${context}'`,
    isOurs: false,
    relatedImages: new Map(),
    modelServer: undefined,
    stop: () => Promise.resolve(),
  };
};

const isOnPath = async (program: string): Promise<boolean> => {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const found = await Deno.stat(`${folder}/${program}`).catch(() => undefined);
    if (found?.isFile === true) return true;
  }
  return false;
};
