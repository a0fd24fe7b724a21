/**
 * Runs inside the private namespaces: a real node, and a model server as a stand-in for those that resources name. Its
 * arguments are the folder of the run and the models. It ends with the namespaces.
 */
import { join } from "node:path";
import { startModelServer } from "../../model_server.ts";
import { HOST_ADDRESS } from "./private_host.ts";
import { startRealNode } from "./real_node.ts";
import { relay } from "./relay.ts";

/** What the outside has to know, in the file `READY` of the folder. */
export interface Told {
  readonly kubeconfig: string;
  readonly kubectlPath: string;
  readonly url: string;
  /** Under `HOST_ADDRESS`, where pods reach it. */
  readonly modelPort: number;
}

export const READY = "ready.json";

/** Networks differ inside and outside, files do not: through this socket the API server is reached. */
export const API_SOCKET = "api.sock";

const main = async ([folder = "", ...models]: readonly string[]): Promise<void> => {
  const { url, kubeconfig, kubectlPath } = await startRealNode(folder);
  const apiPort = Number(new URL(url).port);
  relay(
    Deno.listen({ transport: "unix", path: join(folder, API_SOCKET) }),
    () => Deno.connect({ hostname: "127.0.0.1", port: apiPort }),
  );
  const modelServer = startModelServer(models.length === 0 ? {} : { models });
  const forPods = Deno.listen({ hostname: HOST_ADDRESS, port: 0 });
  relay(forPods, () => Deno.connect({ hostname: "127.0.0.1", port: modelServer.port }));
  const told: Told = { kubeconfig, kubectlPath, url, modelPort: forPods.addr.port };
  const file = join(folder, READY);
  // Whoever sees the file may read all of it.
  await Deno.writeTextFile(`${file}.part`, JSON.stringify(told));
  await Deno.rename(`${file}.part`, file);
};

if (import.meta.main) await main(Deno.args);
