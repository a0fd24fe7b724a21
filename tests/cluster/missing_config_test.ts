/** A config that pods mount is deleted by hand while another template waits, on a real API server. */
import { match, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { liveDeployment } from "../../core/snapshot/live_deployment.ts";
import { manifest } from "../given.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, read, ready, RESOURCES } from "./settled.ts";
import { eventually } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LOST = "my-config-0a1b2c3d";

Deno.test("a config that waiting pods mount is made again, or reported with what to do", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const running = await startOperator(cluster, { operatorNamespace: "kube-public" });
  const told = (type: string, want: string) =>
    eventually(`${type} is ${want}`, async () => {
      const found = condition(await read(cluster, `${RESOURCES}/my`), type);
      return `${stringAt(found, "status")} ${stringAt(found, "reason")}` === want ? found : undefined;
    });
  const patched = (target: string, patch: JsonObject) =>
    cluster.kubectl(["patch", "-n", "default", target, "--type=strategic", "-p", JSON.stringify(patch)]);
  try {
    await apply(
      cluster,
      manifest({
        workload: { replicas: 1 },
        providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
      }),
    );
    await ready(cluster, "my");
    const config = liveDeployment(await read(cluster, DEPLOYMENT)).config ?? "";
    // What it was made from is recorded as that of another version of the operator.
    const held = { metadata: { annotations: { "llamastack.io/template-digest": "0".repeat(64) } } };
    await patched("deployment/my", held);
    await told("TemplateHeld", "True OperatorChanged");
    await cluster.kubectl(["delete", "-n", "default", `configmap/${config}`]);
    await eventually("it is there again", async () => {
      const found = await read(cluster, `${CONFIG_MAPS}/${config}`);
      return stringAt(found, "kind") === "ConfigMap" || undefined;
    });
    const [volume] = listAt(await read(cluster, DEPLOYMENT), "spec", "template", "spec", "volumes")
      .filter((one) => stringAt(one, "configMap", "name") === config);
    const volumes = [{ name: stringAt(volume, "name") ?? "", configMap: { name: LOST } }];
    await patched("deployment/my", { spec: { template: { spec: { volumes } } } });
    const reported = await told("Ready", "False ConfigMissing");
    const [, digest = ""] = /llamastack\.io\/rollout: ([0-9a-f]{64})/.exec(stringAt(reported, "message") ?? "") ?? [];
    match(stringAt(reported, "message") ?? "", new RegExp(LOST));
    await cluster.kubectl(["annotate", "-n", "default", "llsd/my", `llamastack.io/rollout=${digest}`]);
    await told("Ready", "True Ready");
    strictEqual(liveDeployment(await read(cluster, DEPLOYMENT)).config, config);
  } finally {
    await running.stop();
    await cluster.stop();
  }
});
