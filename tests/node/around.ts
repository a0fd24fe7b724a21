/** Runs inside the private namespaces: node, installed operator, then the tests. Its argument is the folder of the run. */
import { join } from "node:path";
import { startRealNode } from "../../tools/cluster/real_node/real_node.ts";
import { installOperator } from "./installed_operator.ts";
import { SESSION, type Session } from "./session.ts";

const main = async ([folder = "", ...filter]: readonly string[]): Promise<number> => {
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  const cluster = await startRealNode(folder);
  console.error(`a real node is ready after ${seconds()} s`);
  await installOperator(cluster);
  console.error(`the operator is installed on it after ${seconds()} s`);
  const { url, adminToken, caPem, kubeconfig, kubectlPath } = cluster;
  const session: Session = { url, adminToken, caPem, kubeconfig, kubectlPath };
  const sessionFile = join(folder, "session.json");
  await Deno.writeTextFile(sessionFile, JSON.stringify(session));
  const run = async (...args: ReadonlyArray<string>): Promise<number> => {
    const tests = new Deno.Command(Deno.execPath(), {
      args: ["test", "--allow-all", "--quiet", "--permit-no-files", ...args, ...filter],
      env: { ...Deno.env.toObject(), [SESSION]: sessionFile, DENO_JOBS: String(TESTS_AT_ONCE) },
    }).spawn();
    return (await tests.status).code;
  };
  const here = import.meta.dirname ?? ".";
  const apart = [UP, LIFE].map((name) => join(here, name)).join();
  const servers = await run("--parallel", `--ignore=${apart}`, here);
  // Alone and last, since it restarts the operator and takes it away.
  const life = await run(join(here, LIFE));
  return servers === 0 ? life : servers;
};

/** tools/node.ts runs that one outside, since it starts a node of its own. */
const UP = "up_test.ts";
const LIFE = "operator_life_test.ts";

/** Most of the time a test waits for probes; two cores start about this many servers without slowing each other much. */
const TESTS_AT_ONCE = 4;

if (import.meta.main) Deno.exit(await main(Deno.args));
