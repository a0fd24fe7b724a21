/** The programs that make this host a node: kubelet, kube-proxy, and CoreDNS for the names of Services. */
import { join } from "node:path";
import { type BackgroundProcess, lastLines, startInBackground } from "../background_process.ts";
import type { ControlPlane } from "../control_plane.ts";
import { installControlPlane } from "../../install/control_plane.ts";
import { SYSTEM_PATH } from "./container_runtime.ts";
import { RUNTIME_SOCKET } from "./containerd_config.ts";
import { DNS_ADDRESS, HOST_ADDRESS, NODE, POD_RANGE } from "./private_host.ts";

export const installNodePrograms = (signal?: AbortSignal) =>
  installControlPlane(["kubelet", "kube-proxy", "coredns"], signal);

/** Returns when the node is ready for pods. */
export const startNode = async (folder: string, cluster: ControlPlane): Promise<void> => {
  const programs = await installNodePrograms();
  const settings = join(folder, "kubelet.json");
  const names = join(folder, "Corefile");
  await Deno.writeTextFile(settings, JSON.stringify(KUBELET));
  await Deno.writeTextFile(names, corefile(cluster.kubeconfig));
  const start = (name: keyof typeof programs, ...flags: string[]) =>
    startInBackground({
      command: [programs[name], ...flags],
      env: { PATH: SYSTEM_PATH },
      logFile: join(folder, `${name}.log`),
    });
  const kubelet = await start(
    "kubelet",
    `--config=${settings}`,
    `--kubeconfig=${cluster.kubeconfig}`,
    `--root-dir=${join(folder, "kubelet")}`,
    `--hostname-override=${NODE}`,
    `--node-ip=${HOST_ADDRESS}`,
  );
  await start(
    "kube-proxy",
    `--kubeconfig=${cluster.kubeconfig}`,
    `--hostname-override=${NODE}`,
    `--cluster-cidr=${POD_RANGE}`,
    "--iptables-min-sync-period=100ms",
    // The limits of connections belong to the real host.
    ...["--conntrack-max-per-core=0", "--conntrack-min=0"],
    ...["--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0"],
  );
  await start("coredns", "-conf", names);
  await isThere(cluster, kubelet);
  await cluster.kubectl(["wait", "--for=condition=Ready", `node/${NODE}`, "--timeout=180s"]);
};

const isThere = async (cluster: ControlPlane, kubelet: BackgroundProcess): Promise<void> => {
  for (let looks = 0; looks < 300 && !kubelet.hasExited(); looks++) {
    const answer = await cluster.fetch(`/api/v1/nodes/${NODE}`);
    await answer.body?.cancel();
    if (answer.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`kubelet did not register its node:\n${lastLines(await kubelet.log(), 30)}`);
};

const KUBELET = {
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  containerRuntimeEndpoint: `unix://${RUNTIME_SOCKET}`,
  // Works on hosts of both kinds, with systemd and without.
  cgroupDriver: "cgroupfs",
  failCgroupV1: false,
  failSwapOn: false,
  localStorageCapacityIsolation: false,
  // The disk and the memory of a test machine are not to be tidied up by us.
  evictionHard: { "memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
  imageGCHighThresholdPercent: 100,
  clusterDomain: "cluster.local",
  clusterDNS: [DNS_ADDRESS],
  resolvConf: "",
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  healthzPort: 0,
  // As far as a pod is to be seen in the status soon.
  syncFrequency: "10s",
};

const corefile = (kubeconfig: string): string => `
cluster.local:53 {
  bind ${HOST_ADDRESS} ${DNS_ADDRESS}
  errors
  kubernetes cluster.local {
    kubeconfig ${kubeconfig}
    ttl 0
  }
}
`;
