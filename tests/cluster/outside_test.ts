/** The operator as a person starts it beside a cluster that has nothing but the CustomResourceDefinition. */
import { fileURLToPath } from "node:url";
import { ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { manifest } from "../given.ts";
import { startInBackground } from "../../tools/cluster/background_process.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { eventually } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("run with a kubeconfig makes servers on a cluster with nothing but the definition, without lease and webhooks", async () => {
  const cluster = await startControlPlane();
  await using _ = { [Symbol.asyncDispose]: () => cluster.stop() };
  await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(manifest({})));
  const logFile = await Deno.makeTempFile();
  const operator = await startInBackground({
    command: [
      Deno.execPath(),
      ...["run", "--quiet", "--no-prompt", "--allow-read", "--allow-env", "--allow-net", "mod.ts", "run"],
      ...["--kubeconfig", cluster.kubeconfig, "--metrics-address", "0", "--health-address", "0"],
    ],
    workingFolder: ROOT,
    env: { ...Deno.env.toObject(), DENO_NO_UPDATE_CHECK: "1" },
    logFile,
  });
  try {
    await eventually("the Deployment", async () => {
      ok(!operator.hasExited(), await operator.log());
      const found = await cluster.fetch("/apis/apps/v1/namespaces/default/deployments/my");
      await found.body?.cancel();
      return found.ok || undefined;
    });
    const leases = await cluster.fetch("/apis/coordination.k8s.io/v1/namespaces/llama-stack-operator-system/leases");
    strictEqual((await leases.json()).items.length, 0);
  } finally {
    await operator.stop();
    await Deno.remove(logFile);
  }
});
