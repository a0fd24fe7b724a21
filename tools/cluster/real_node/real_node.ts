/**
 * A control plane with one real node, whose pods run the real servers from real images. START HERE.
 *
 * Everything runs inside private namespaces: when the first process in there ends, every process, mount, interface and
 * firewall rule is gone. Left over are packages that had to be installed, and the cache.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { installControlPlane } from "../../install/control_plane.ts";
import { cacheDir } from "../../install/cache.ts";
import { guardAgainstOrphans } from "../background_process.ts";
import { type ControlPlane, startControlPlane } from "../control_plane.ts";
import { installContainerRuntime, startContainerRuntime } from "./container_runtime.ts";
import { installNodePrograms, startNode } from "./kubelet.ts";
import { ALL_SERVERS, type NodeServer } from "./images.ts";
import { HOST_ADDRESS, makePrivateHost } from "./private_host.ts";
import { relay } from "./relay.ts";
import { makeVolumes } from "./volumes.ts";

/** Everything that needs the registries, which cannot be reached from inside. While Go compiles, images are put together. */
export const installRealNode = async (
  { servers = ALL_SERVERS, signal }: { readonly servers?: ReadonlyArray<NodeServer>; readonly signal?: AbortSignal } =
    {},
): Promise<void> => {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) throw new Error(NEEDS);
  const programs = (async () => {
    await installControlPlane(
      ["etcd", "kube-apiserver", "kubectl", "kube-controller-manager", "kube-scheduler"],
      signal,
    );
    await installNodePrograms(signal);
  })();
  await Promise.all([programs, installContainerRuntime(servers)]);
};

const NEEDS = "A real node needs Linux and root: containerd and kubelet are started in namespaces of their own.";

/**
 * Runs a Deno program inside, with a directory for its files as its first argument, and returns its exit code. The logs
 * of a failed run are kept.
 */
export const runInside = async (program: URL, args: readonly string[]): Promise<number> => {
  const { folder, command: [unshare, ...words], env, ...one } = await prepareInside(program, args);
  const inside = new Deno.Command(unshare, { args: words, env, detached: true }).spawn();
  const guard = guardAgainstOrphans(inside.pid, folder);
  // With it ends its child, and with that everything inside; here it is then tidied up as usual.
  const end = () => inside.kill("SIGKILL");
  for (const signal of ENDS) Deno.addSignalListener(signal, end);
  const { code } = await inside.status;
  await guard.dismiss();
  for (const signal of ENDS) Deno.removeSignalListener(signal, end);
  if (code === 0) await Deno.remove(folder, { recursive: true });
  else await keepLogs(folder);
  await removeControlGroups();
  one.end();
  return code;
};

const ENDS = ["SIGINT", "SIGTERM"] as const;

/** The path of a socket has at most 107 letters (unix(7)); the kubelet's longest below its folder is `/kubelet/pod-resources/<10 digits>`. */
const FOLDER_LETTERS_MAX = 107 - 34;

/** A folder for a run, and what starts a program of Deno in namespaces of its own. */
export const prepareInside = async (program: URL, args: readonly string[]) => {
  const lock = await theOnlyOne();
  const folder = await Deno.makeTempDir({ prefix: "llama-node-" });
  if (folder.length > FOLDER_LETTERS_MAX) {
    await Deno.remove(folder);
    throw new Error(`${folder} is too long for the sockets of a kubelet: set TMPDIR to a shorter folder, e.g. /tmp`);
  }
  // Databases run under accounts of their own.
  await Deno.chmod(folder, 0o755);
  const temporary = join(folder, "tmp");
  await Deno.mkdir(temporary);
  const command: readonly [string, ...string[]] = [
    "unshare",
    ...["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"],
    // A shell first: containers' shims lose their parents, and whoever is the first process has to bury them.
    ...[
      "sh",
      "-c",
      '"$@"; exit $?',
      "sh",
      Deno.execPath(),
      "run",
      "--allow-all",
      fileURLToPath(program),
      folder,
      ...args,
    ],
  ];
  // Remaining files are removed with the directory, however the run ends.
  return { folder, command, env: { TMPDIR: temporary }, end: () => lock.close() };
};

/** Control groups are the host's: two kubelets would take each other's pods for leftovers and end them. */
const theOnlyOne = async (): Promise<Deno.FsFile> => {
  const lock = await Deno.open(cacheDir("real_node.lock"), { create: true, write: true });
  if (await lock.tryLock(true)) return lock;
  console.error(
    "another real node runs on this host, and there is room for one only: waiting until that run has ended",
  );
  await lock.lock(true);
  return lock;
};

/** To be called inside. The node need not be stopped: it ends with the namespaces. */
export const startRealNode = async (
  folder: string,
  servers: ReadonlyArray<NodeServer> = ALL_SERVERS,
): Promise<ControlPlane> => {
  await makePrivateHost(folder);
  const [cluster] = await Promise.all([
    startControlPlane({ controllers: true, addressForPods: HOST_ADDRESS }),
    startContainerRuntime(folder, servers),
  ]);
  const port = Number(new URL(cluster.url).port);
  relay(
    Deno.listen({ hostname: HOST_ADDRESS, port }),
    () => Deno.connect({ hostname: "127.0.0.1", port }),
  );
  await Promise.all([startNode(folder, cluster), makeVolumes(folder, cluster)]);
  return cluster;
};

const keepLogs = async (folder: string): Promise<void> => {
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".log")) await Deno.remove(join(folder, name), { recursive: true });
  }
  console.error(`The logs of the node's programs are in ${folder}.`);
};

/** Of pods; they are no part of any namespace. */
export const removeControlGroups = async (): Promise<void> => {
  const script = "find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2>/dev/null || true";
  await new Deno.Command("sh", { args: ["-c", script] }).output();
};
