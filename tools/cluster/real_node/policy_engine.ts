/** Enforces NetworkPolicies on the real node; without it, they restrict nothing there. */
import { join } from "node:path";
import { lastLines, startInBackground, waitUntilReady } from "../background_process.ts";
import { type ControlPlane, SERVICE_RANGE } from "../control_plane.ts";
import { installControlPlane } from "../../install/control_plane.ts";
import { installProgram } from "../../install/debian_packages.ts";
import { must } from "../../install/run_program.ts";
import { SYSTEM_PATH } from "./container_runtime.ts";
import { NODE } from "./private_host.ts";

/** Returns the path of the engine, which calls iptables and ipset. */
export const installPolicyEngine = async (): Promise<string> => {
  await installProgram("ipset", ["ipset"]);
  return (await installControlPlane(["network-policies"]))["network-policies"];
};

/** Returns when the first rules are in place. */
export const startPolicyEngine = async (folder: string, { kubeconfig }: ControlPlane): Promise<void> => {
  // Pods of one node talk over a bridge, which iptables would not see.
  await Deno.writeTextFile("/proc/sys/net/bridge/bridge-nf-call-iptables", "1");
  const engine = await startInBackground({
    command: [await installPolicyEngine(), kubeconfig, NODE, SERVICE_RANGE],
    env: { PATH: SYSTEM_PATH },
    logFile: join(folder, "network-policies.log"),
  });
  const hasRules = () => must("iptables", ["--wait", "--list", "KUBE-ROUTER-FORWARD"]).then(() => true, () => false);
  if (await waitUntilReady(engine, hasRules, START_WITHIN_MS)) return;
  throw new Error(`the engine of NetworkPolicies did not start:\n${lastLines(await engine.log(), 30)}`);
};

const START_WITHIN_MS = 120_000;
