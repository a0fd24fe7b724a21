/**
 * `deno task node`: the tests of tests/node on a real node. Needs Linux and root. Test files among the arguments run alone,
 * other arguments go to `deno test`.
 */
import { fileURLToPath } from "node:url";
import { installRealNode, runInside } from "./cluster/real_node/real_node.ts";
import { compiledOperator } from "./install/compiled_operator.ts";
import { installControlPlane } from "./install/control_plane.ts";
import { installPostgres, installRedis } from "./install/databases.ts";
import { installProgram } from "./install/debian_packages.ts";
import { installBases } from "./install/image_bases.ts";
import { installImageBuilder } from "./install/operator_image.ts";
import { buildExampleWheel, installProviderWheels } from "./install/provider_wheels.ts";
import { installPolicyEngine } from "./cluster/real_node/policy_engine.ts";
import { startedHere } from "./test_parts.ts";
import { allNodeFiles, type Need, needsOf, NODE_TESTS, nodeFilesOf, serversFor } from "./node_files.ts";

const INSTALLED: Readonly<Record<Need, () => Promise<unknown>>> = {
  databases: async () => [await installPostgres(), await installRedis()],
  "ingress controller": () => installControlPlane(["traefik"]),
  "network policies": () => installPolicyEngine(),
  registry: async () => {
    await installProgram("docker-registry", ["docker-registry"]);
    await installProgram("htpasswd", ["apache2-utils"]);
  },
  providers: async () => [await installProviderWheels(), await buildExampleWheel()],
};

const testOutside = async (files: readonly string[], flags: readonly string[]): Promise<number> => {
  if (files.length === 0) return 0;
  const paths = files.map((name) => fileURLToPath(new URL(name, NODE_TESTS)));
  return (await startedHere({ args: ["test", "--allow-all", "--quiet", ...flags, ...paths] }).status).code;
};

if (import.meta.main) {
  try {
    const { servers, life, up, flags } = nodeFilesOf(Deno.args, allNodeFiles());
    // Everything that the tests use: from inside, nothing can be downloaded.
    await installRealNode({ servers: serversFor(Deno.args) });
    await installImageBuilder();
    await installBases();
    await compiledOperator();
    for (const need of needsOf(Deno.args)) await INSTALLED[need]();
    const onNode = [...servers, ...life];
    const inside = onNode.length === 0 ? 0 : await runInside(new URL("around.ts", NODE_TESTS), [...onNode, ...flags]);
    const outside = await testOutside(up, flags);
    Deno.exit(inside === 0 ? outside : inside);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
