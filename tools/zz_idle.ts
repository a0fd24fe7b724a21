import { prepareCluster } from "./bench_cluster/resources.ts";
import { startControlPlane } from "./cluster/control_plane.ts";
import { startCompiledOperator } from "./cluster/operator_process.ts";
const cluster = await startControlPlane();
try {
  await prepareCluster(cluster, ["operated", "alone", "one"]);
  for (const program of Deno.args) {
    const operator = await startCompiledOperator(cluster, program, { namespaces: ["operated", "one"] });
    await new Promise((r) => setTimeout(r, 60000));
    console.log(program, ((await operator.residentBytes()) / 1048576).toFixed(1), ((await operator.anonymousBytes()) / 1048576).toFixed(1));
    await operator.stop();
  }
} finally { await cluster.stop(); }
