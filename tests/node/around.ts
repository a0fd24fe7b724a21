/**
 * Runs inside the private namespaces: node, installed operator, then the tests. Its arguments are the folder of the run, and
 * those of `deno task node`.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { startPolicyEngine } from "../../tools/cluster/real_node/policy_engine.ts";
import { startRealNode } from "../../tools/cluster/real_node/real_node.ts";
import { allNodeFiles, needsOf, NODE_TESTS, nodeFilesOf, serversFor } from "../../tools/node_files.ts";
import { installOperator } from "./installed_operator.ts";
import { SESSION, type Session } from "./session.ts";

const main = async ([folder = "", ...asked]: readonly string[]): Promise<number> => {
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  const cluster = await startRealNode(folder, serversFor(asked));
  console.error(`a real node is ready after ${seconds()} s`);
  // For every test of the run: policies of others, and none, must not cut a server off either.
  if (needsOf(asked).has("network policies")) await startPolicyEngine(folder, cluster);
  await installOperator(cluster);
  console.error(`the operator is installed on it after ${seconds()} s`);
  const { url, adminToken, caPem, kubeconfig, kubectlPath } = cluster;
  const session: Session = { url, adminToken, caPem, kubeconfig, kubectlPath };
  const sessionFile = join(folder, "session.json");
  await Deno.writeTextFile(sessionFile, JSON.stringify(session));
  const { servers, life, flags } = nodeFilesOf(asked, allNodeFiles());
  const run = async (files: ReadonlyArray<string>): Promise<number> => {
    if (files.length === 0) return 0;
    const paths = files.map((name) => fileURLToPath(new URL(name, NODE_TESTS)));
    const tests = new Deno.Command(Deno.execPath(), {
      args: ["test", "--allow-all", "--quiet", "--permit-no-files", "--parallel", ...flags, ...paths],
      env: { ...Deno.env.toObject(), [SESSION]: sessionFile, DENO_JOBS: String(TESTS_AT_ONCE) },
    }).spawn();
    return (await tests.status).code;
  };
  const served = await run(servers);
  const lived = await run(life);
  return served === 0 ? lived : served;
};

/** Most of the time a test waits for probes; two cores start about this many servers without slowing each other much. */
const TESTS_AT_ONCE = 4;

if (import.meta.main) Deno.exit(await main(Deno.args));
