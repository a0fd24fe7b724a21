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
}

/** Throws a sentence for what it does not know. */
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
    },
  });
  const [, amount, unit] = /^([1-9]\d*)(s|m)?$/.exec(values.timeout) ?? [];
  if (amount === undefined) {
    throw new Error(`--timeout ${values.timeout}: write a number of seconds, or e.g. 90s or 15m`);
  }
  return {
    file: values.filename,
    context: values.context,
    kubeconfig: values.kubeconfig,
    once: values.once,
    timeoutMs: Number(amount) * (unit === "m" ? 60_000 : 1000),
    realNode: values["real-node"],
  };
};

export const USAGE = `Usage: deno task up [-f FILE] [--once] [--timeout TIME] [--context NAME [--kubeconfig FILE]]

Starts a Kubernetes API server with one simulated node, runs the operator, applies a resource, and shows what
happens until its server is ready.

  -f, --filename FILE  Resource to apply, with what it needs beside it (${SAMPLE}); - is standard input
  --context NAME       Use the cluster of this context of your kubeconfig instead
  --kubeconfig FILE    Kubeconfig of that context; without it KUBECONFIG, else ~/.kube/config
  --once               End as soon as the server is ready; so it is without a terminal
  --timeout TIME       Give up after this, e.g. 90s or 15m (10m)
  --real-node          A node that runs containers instead of a simulated one (Linux, root): starter and ogx-starter,
                       with a stand-in for model servers that endpoints name as http://NAME:PORT

Exit code 0: ready; 1: not ready in time, or ended before; 2: misuse. Whatever way it ends, it takes away what it made.
`;
