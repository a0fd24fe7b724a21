/**
 * Installs what `deno task test` needs into the cache folder: the programs of Kubernetes, which Go builds, beside everything that
 * is downloaded. `deno task test` starts it first; a test that comes to a program under way waits for it.
 */
import { filesOf } from "../tests/promises.ts";
import { installSimulatedCluster } from "./cluster/control_plane.ts";
import { installContainerRuntime } from "./cluster/real_node/container_runtime.ts";
import { installNodePrograms } from "./cluster/real_node/kubelet.ts";
import { compiledOperator } from "./install/compiled_operator.ts";
import { installPostgres, installRedis } from "./install/databases.ts";
import { installBases } from "./install/image_bases.ts";
import { installImageBuilder } from "./install/operator_image.ts";
import { COMMON_VERSIONS, installServer } from "./install/python_server.ts";
import { serversFor } from "./node_files.ts";

const built = async (): Promise<void> => {
  await installSimulatedCluster({ node: "Scheduled" });
  await installNodePrograms();
};

const downloaded = async (): Promise<void> => {
  await compiledOperator();
  await installContainerRuntime(serversFor(filesOf("node")));
  for (const version of COMMON_VERSIONS) await installServer(version);
  await installPostgres();
  await installRedis();
  await installImageBuilder();
  await installBases();
};

if (import.meta.main) {
  // What fails here fails again in the test that needs it, and there with its reason.
  for (const outcome of await Promise.allSettled([built(), downloaded()])) {
    if (outcome.status === "rejected") {
      console.error(`not installed yet: ${outcome.reason instanceof Error ? outcome.reason.message : outcome.reason}`);
    }
  }
}
