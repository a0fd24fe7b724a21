import { HOST_ADDRESS } from "../../tools/cluster/real_node/private_host.ts";
import { relay } from "../../tools/cluster/real_node/relay.ts";

export interface Forwarded extends AsyncDisposable {
  /** At which the port can be reached under `HOST_ADDRESS`. */
  readonly port: number;
}

/** Lets pods reach a port of loopback, where the tests' databases and model servers listen. */
export const forward = (to: number): Forwarded => {
  const listener = Deno.listen({ hostname: HOST_ADDRESS, port: 0 });
  return { port: listener.addr.port, ...relay(listener, () => Deno.connect({ hostname: "127.0.0.1", port: to })) };
};
