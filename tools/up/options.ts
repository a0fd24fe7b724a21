/** Arguments of `task up`. */
import { parseArgs } from "node:util";
import { SAMPLE } from "./sample.ts";

export interface Options {
  readonly file: string;
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly realNode: boolean;
  /** No server runs. */
  readonly simulated: boolean;
}

/** Throws an error message for invalid arguments. */
export const optionsOf = (args: ReadonlyArray<string>): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      filename: { type: "string", short: "f", default: SAMPLE },
      context: { type: "string" },
      kubeconfig: { type: "string" },
      once: { type: "boolean", default: false },
      timeout: { type: "string", default: "10m" },
      "real-node": { type: "boolean", default: false },
      simulated: { type: "boolean", default: false },
    },
  });
  const [, amount, unit] = /^([1-9]\d*)(s|m)?$/.exec(values.timeout) ?? [];
  if (amount === undefined) {
    throw new Error(`--timeout ${values.timeout}: expected a number of seconds, or a time such as 90s or 15m`);
  }
  return {
    file: values.filename,
    context: values.context,
    kubeconfig: values.kubeconfig,
    once: values.once,
    timeoutMs: Number(amount) * (unit === "m" ? 60_000 : 1000),
    realNode: values["real-node"],
    simulated: values.simulated,
  };
};

export const USAGE = `Usage: deno task up [-f FILE] [--once] [--timeout TIME] [--context NAME [--kubeconfig FILE]]

Starts a Kubernetes API server, runs the operator, applies a resource, and shows what happens until its server is ready
and answers a chat. The server runs as a process of this machine, with the generated config; a stand-in answers for
model servers with endpoints http://NAME:PORT.

  -f, --filename FILE  File with the resource to apply, and the objects it needs; - is standard input. Missing Secrets
                       get placeholder values, missing ConfigMaps do not
  --context NAME       Use the cluster of this kubeconfig context instead of starting one
  --kubeconfig FILE    Kubeconfig with that context (default: KUBECONFIG, then ~/.kube/config)
  --once               Exit as soon as the server is ready (always the case without a terminal)
  --timeout TIME       Time to wait for the server, e.g. 90s or 15m (default: 10m)
  --simulated          Run no server: pods are reported as ready by a simulated node
  --real-node          Start a node that runs containers instead of a simulated one (Linux, root). It has the images of
                       starter and ogx-starter, and a stand-in for model servers with endpoints http://NAME:PORT

Exit codes: 0 the server is ready, 1 not ready in time or interrupted, 2 usage error. Everything that the command
created is removed on exit.
`;
