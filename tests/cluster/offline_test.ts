import { strictEqual } from "node:assert/strict";
import { installSimulatedCluster } from "../../tools/cluster/control_plane.ts";

Deno.test("a control plane that is installed starts without a network", async () => {
  const control = new URL("../../tools/cluster/control_plane.ts", import.meta.url);
  const work = `import { startControlPlane } from "${control}";
    await (await startControlPlane()).stop();`;
  await installSimulatedCluster();
  const { code, stderr } = await new Deno.Command("unshare", {
    args: ["--net", "--map-root-user", "sh", "-c", 'ip link set lo up && "$@"', "sh", Deno.execPath(), "eval", work],
  }).output();
  strictEqual(code, 0, new TextDecoder().decode(stderr));
});
