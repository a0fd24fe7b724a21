/** `deno task node`: the tests of tests/node on a real node. Needs Linux and root. Arguments go to `deno test`. */
import { installRealNode, runInside } from "./cluster/real_node/real_node.ts";
import { installPostgres, installRedis } from "./install/databases.ts";

/** It starts a node of its own, so it has to wait until the other one has ended. */
const testUp = async (args: readonly string[]): Promise<number> => {
  const { pathname } = new URL("../tests/node/up_test.ts", import.meta.url);
  const test = new Deno.Command(Deno.execPath(), { args: ["test", "--allow-all", "--quiet", ...args, pathname] });
  return (await test.spawn().status).code;
};

if (import.meta.main) {
  try {
    await installRealNode();
    await installPostgres();
    await installRedis();
    const inside = await runInside(new URL("../tests/node/around.ts", import.meta.url), Deno.args);
    const outside = await testUp(Deno.args);
    Deno.exit(inside === 0 ? outside : inside);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
