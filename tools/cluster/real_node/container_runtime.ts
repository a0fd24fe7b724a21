/** containerd on the private host. */
import { dirname, join } from "node:path";
import { lastLines, startInBackground, waitUntilReady } from "../background_process.ts";
import { installPackages, installProgram, isFile } from "../../install/debian_packages.ts";
import { must } from "../../install/run_program.ts";
import { configText, RUNTIME_SOCKET } from "./containerd_config.ts";
import { installPreparedImages, useImages } from "./prepared_images.ts";
import type { NodeServer } from "./images.ts";
import { POD_RANGE } from "./private_host.ts";

/** Installs what is missing, while the registries can still be reached. */
export const installContainerRuntime = async (servers: ReadonlyArray<NodeServer>): Promise<void> => {
  await installProgram("containerd", ["containerd"]);
  await installProgram("runc", ["runc"]);
  await installProgram("iptables", ["iptables"]);
  await installProgram("ip", ["iproute2"]);
  if (await pluginFolder() === undefined) await installPackages(["containernetworking-plugins"], "No CNI plugins.");
  await installPreparedImages(servers);
};

/** Returns when containerd answers; it has the images of the servers then. */
export const startContainerRuntime = async (folder: string, servers: ReadonlyArray<NodeServer>): Promise<void> => {
  const [config, root, networks] = ["containerd.toml", "containerd", "cni"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await useImages(await installPreparedImages(servers), root);
  await Deno.mkdir(networks);
  await Deno.writeTextFile(join(networks, "pods.conflist"), JSON.stringify(POD_NETWORK));
  await Deno.writeTextFile(config, configText({ root, networks, plugins: await pluginFolder() ?? "" }));
  const containerd = await startInBackground({
    command: [await installProgram("containerd", []), "--config", config],
    env: { PATH: SYSTEM_PATH },
    logFile: join(folder, "containerd.log"),
  });
  const ctr = await installProgram("ctr", []);
  const answers = () => must(ctr, ["--address", RUNTIME_SOCKET, "version"]).then(() => true, () => false);
  if (await waitUntilReady(containerd, answers, START_WITHIN_MS)) return;
  throw new Error(`containerd did not start:\n${lastLines(await containerd.log(), 30)}`);
};

/** What the programs of a node call: runc and its shim, mount, iptables. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const START_WITHIN_MS = 120_000;

const pluginFolder = async (): Promise<string | undefined> => {
  // Debian's folder, and the one of the plugins' own releases.
  for (const bridge of ["/usr/lib/cni/bridge", "/opt/cni/bin/bridge"]) if (await isFile(bridge)) return dirname(bridge);
  return undefined;
};

const POD_NETWORK = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [{
    type: "bridge",
    bridge: "pods",
    isGateway: true,
    // A pod may reach itself through its Service.
    hairpinMode: true,
    ipam: { type: "host-local", ranges: [[{ subnet: POD_RANGE }]], routes: [{ dst: "0.0.0.0/0" }] },
  }],
};
