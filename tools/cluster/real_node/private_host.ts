/** Makes the private namespaces that a run starts in into a host of their own: a network, names, and an empty /run. */
import { basename, dirname, join } from "node:path";
import { must } from "../../install/run_program.ts";

/** The host as pods and Services see it; the API server also wants an address with a default route. */
export const HOST_ADDRESS = "10.99.0.1";
/** Name of the only node. */
export const NODE = "real";

const ROUTER_ADDRESS = "10.99.0.2";

/** Where pods find their DNS: as that of the cache that many clusters have on each node. */
export const DNS_ADDRESS = "169.254.20.10";

/** Pods get their addresses from here; those of Services are in `SERVICE_RANGE`. */
export const POD_RANGE = "10.88.0.0/16";

export const makePrivateHost = async (folder: string): Promise<void> => {
  for (const words of NETWORK) await must("ip", words.split(" "));
  await Deno.writeTextFile("/proc/sys/net/ipv4/ip_forward", "1");
  // Sockets, locks and network namespaces of the real host's containers are here.
  await must("mount", ["-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"]);
  await nameServersOf(folder);
};

const NETWORK = [
  "link set lo up",
  `address add ${DNS_ADDRESS}/32 dev lo`,
  "link add outward type veth peer name router",
  `address add ${HOST_ADDRESS}/24 dev outward`,
  "link set outward up",
  "link set router up",
  `route add default via ${ROUTER_ADDRESS}`,
];

/** The names of Services are known to the tests as well as to pods, that of the node to the API server. */
const nameServersOf = async (folder: string): Promise<void> => {
  await replaceFile(folder, "/etc/hosts", `127.0.0.1 localhost\n${HOST_ADDRESS} ${NODE}\n`);
  await replaceFile(
    folder,
    "/etc/resolv.conf",
    `nameserver ${HOST_ADDRESS}\nsearch svc.cluster.local cluster.local\noptions ndots:5\n`,
  );
};

const replaceFile = async (folder: string, path: string, content: string): Promise<void> => {
  const own = join(folder, basename(path));
  await Deno.writeTextFile(own, content);
  // Sometimes a link into /run, which is empty now.
  const place = (await must("readlink", ["--canonicalize-missing", path])).trim();
  await Deno.mkdir(dirname(place), { recursive: true });
  await Deno.writeTextFile(place, "", { create: true, append: true });
  await must("mount", ["--bind", own, place]);
};
