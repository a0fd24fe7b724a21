/** A real node inside private namespaces whose API server this process and kubectl reach on loopback. */
import { join } from "node:path";
import { type BackgroundProcess, lastLines, startInBackground, waitUntilReady } from "../background_process.ts";
import { API_SOCKET, READY, type Told } from "./inside.ts";
import { HOST_ADDRESS } from "./private_host.ts";
import { prepareInside, removeControlGroups } from "./real_node.ts";
import { relay } from "./relay.ts";

export interface ReachableNode {
  readonly url: string;
  readonly kubeconfig: string;
  readonly kubectlPath: string;
  /** Where pods find the model server. */
  readonly modelServer: { readonly address: string; readonly port: number };
  stop(): Promise<void>;
}

/** Undefined when `signal` came before it was ready; nothing is left then. */
export const startReachableNode = async (
  models: readonly string[],
  signal: AbortSignal,
): Promise<ReachableNode | undefined> => {
  const { folder, command, env, end } = await prepareInside(new URL("inside.ts", import.meta.url), models);
  await using made = new AsyncDisposableStack();
  made.defer(end);
  made.defer(async () => {
    await removeControlGroups();
    await Deno.remove(folder, { recursive: true });
  });
  const inside = await startInBackground({
    command,
    env: { ...Deno.env.toObject(), ...env },
    logFile: join(folder, "inside.log"),
    scratch: folder,
  });
  made.defer(() => endOf(inside));
  const told = join(folder, READY);
  const isTold = () => Deno.stat(told).then(() => true, () => false);
  const isReady = await waitUntilReady(inside, async () => signal.aborted || await isTold(), START_WITHIN_MS);
  if (signal.aborted) return undefined;
  if (!isReady) throw new Error(`The real node did not start:\n${lastLines(await inside.log(), 30)}`);
  const { kubeconfig, kubectlPath, url, modelPort }: Told = JSON.parse(await Deno.readTextFile(told));

  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  made.use(relay(listener, () => Deno.connect({ transport: "unix", path: join(folder, API_SOCKET) })));
  // The certificate is for the address; its port is another one out here, where the same one may be taken.
  const urlHere = `https://127.0.0.1:${listener.addr.port}`;
  const kubeconfigHere = join(folder, "kubeconfig");
  await Deno.writeTextFile(kubeconfigHere, (await Deno.readTextFile(kubeconfig)).replaceAll(url, urlHere));
  const owned = made.move();
  return {
    url: urlHere,
    kubeconfig: kubeconfigHere,
    kubectlPath,
    modelServer: { address: HOST_ADDRESS, port: modelPort },
    stop: () => owned.disposeAsync(),
  };
};

/** Half a minute on an idle machine with two cores. */
const START_WITHIN_MS = 180_000;

/**
 * To the whole group: `unshare` and the first process in there do not hear it, but the program does, and when the first
 * process ends after it, everything inside has ended before.
 */
const endOf = async (inside: BackgroundProcess): Promise<void> => {
  try {
    Deno.kill(-inside.pid, "SIGTERM");
  } catch {
    // It has ended already.
  }
  const kill = setTimeout(() => void inside.stop(), END_WITHIN_MS);
  await inside.exited;
  clearTimeout(kill);
};

const END_WITHIN_MS = 10_000;
