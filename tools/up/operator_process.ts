/** The operator of this checkout in its own process, with exactly the permissions that it requires. */
import { fileURLToPath } from "node:url";
import { RUNTIME_ENV } from "../program_flags.ts";
import { type BackgroundProcess, startInBackground } from "../cluster/background_process.ts";
import type { UpCluster } from "./cluster.ts";

export interface OperatorWishes {
  readonly cluster: UpCluster;
  /** Empty: all. */
  readonly namespaces: ReadonlyArray<string>;
  /** Where it keeps its own objects. */
  readonly ownNamespace: string;
  readonly logFile: string;
}

export const startOperatorProcess = (
  { cluster, namespaces, ownNamespace, logFile }: OperatorWishes,
): Promise<BackgroundProcess> =>
  startInBackground({
    command: [
      Deno.execPath(),
      ...["run", "--quiet", "--no-prompt", "--allow-read", "--allow-env", "--allow-net", "mod.ts"],
      // It is alone; ports of its own could be taken.
      ...["run", "--no-leader-elect", "--metrics-address", "0", "--health-address", "0"],
      ...["--kubeconfig", cluster.kubeconfig],
      ...(cluster.context === undefined ? [] : ["--context", cluster.context]),
      ...namespaces.flatMap((namespace) => ["--namespace", namespace]),
    ],
    workingFolder: ROOT,
    env: {
      ...kept("HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME"),
      ...RUNTIME_ENV,
      POD_NAMESPACE: ownNamespace,
      ...Object.fromEntries(cluster.relatedImages),
    },
    logFile,
  });

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Deno finds its cache by these. */
const kept = (...names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
