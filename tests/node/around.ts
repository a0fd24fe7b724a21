/** Runs inside the private namespaces: node, operator, then the tests. Its argument is the folder of the run. */
import { join } from "node:path";
import { startInBackground } from "../../tools/cluster/background_process.ts";
import { startRealNode } from "../../tools/cluster/real_node/real_node.ts";
import { SESSION, type Session } from "./session.ts";

const main = async ([folder = "", ...filter]: readonly string[]): Promise<number> => {
  const startedMs = performance.now();
  const cluster = await startRealNode(folder);
  const operatorLog = join(folder, "operator.log");
  const { url, adminToken, caPem } = cluster;
  const session: Session = { url, adminToken, caPem, operatorLog };
  const sessionFile = join(folder, "session.json");
  await Deno.writeTextFile(sessionFile, JSON.stringify(session));
  const env = { ...Deno.env.toObject(), [SESSION]: sessionFile };
  const operator = await startInBackground({
    command: [Deno.execPath(), "run", "--allow-all", new URL("operator_process.ts", import.meta.url).pathname],
    env,
    logFile: operatorLog,
  });
  console.error(`a real node is ready after ${Math.round((performance.now() - startedMs) / 1000)} s`);
  const here = import.meta.dirname ?? ".";
  const tests = new Deno.Command(Deno.execPath(), {
    // tools/node.ts runs that one outside, since it starts a node of its own.
    args: ["test", "--allow-all", "--quiet", "--parallel", `--ignore=${join(here, "up_test.ts")}`, ...filter, here],
    env: { ...env, DENO_JOBS: String(TESTS_AT_ONCE) },
  }).spawn();
  const { code } = await tests.status;
  return await operator.stop() === 0 ? code : 1;
};

/** Most of the time a test waits for probes; two cores start about this many servers without slowing each other much. */
const TESTS_AT_ONCE = 4;

if (import.meta.main) Deno.exit(await main(Deno.args));
