/** What people do at the same time as the operator works: edits, deletions, and one name in two namespaces. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, RESOURCES, settled, withModels } from "./settled.ts";
import { aWhile, eventually, pause } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces";

const read = async (cluster: ControlPlane, path: string): Promise<JsonObject | undefined> => {
  const answer = await cluster.fetch(path);
  const body = await answer.json() as JsonObject;
  return answer.ok ? body : undefined;
};

const portIn = (deployment: JsonObject | undefined): unknown =>
  at(listAt(deployment, "spec", "template", "spec", "containers")[0], "ports", "0", "containerPort") ??
    at(listAt(listAt(deployment, "spec", "template", "spec", "containers")[0], "ports")[0], "containerPort");

Deno.test("the operator keeps up with what happens at once", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    const running = await startOperator(cluster);
    try {
      await t.step("an edit during a rollout wins, and the server becomes ready with it", async () => {
        const on = (port: number) => manifest({ ...withModels(1), networking: { port } }, "edited");
        for (const port of [9001, 9002, 9003]) await apply(cluster, on(port));
        await settled(cluster, "edited", 1);
        strictEqual(portIn(await read(cluster, `${DEPLOYMENTS}/default/deployments/edited`)), 9003);
      });

      await t.step("one name in two namespaces creates two independent servers", async () => {
        await cluster.kubectl(["create", "namespace", "other"]);
        const of = (namespace: string, port: number) => {
          const made = manifest({ ...withModels(1), networking: { port } }, "twin");
          return JSON.stringify({ ...made, metadata: { name: "twin", namespace } });
        };
        const put = (namespace: string, port: number) =>
          cluster.kubectl(["apply", "--server-side", "-f", "-"], of(namespace, port));
        await Promise.all([put("default", 9001), put("other", 9002)]);
        for (const [namespace, port] of [["default", 9001], ["other", 9002]] as const) {
          await eventually(
            `the server in ${namespace}`,
            async () =>
              portIn(await read(cluster, `${DEPLOYMENTS}/${namespace}/deployments/twin`)) === port || undefined,
          );
        }
        await cluster.kubectl(["delete", "llsd", "twin", "-n", "other"]);
        await eventually(
          "the other one is gone",
          async () => await read(cluster, `${DEPLOYMENTS}/other/deployments/twin`) === undefined || undefined,
        );
        ok(stringAt(await read(cluster, `${DEPLOYMENTS}/default/deployments/twin`), "metadata", "uid") !== undefined);
      });

      await t.step("resources deleted at any moment of their first reconciliations leave nothing behind", async () => {
        const names = Array.from({ length: 24 }, (_, index) => `short-${index}`);
        await Promise.all(names.map(async (name, index) => {
          await apply(cluster, manifest(withModels(1), name));
          await pause(index * 15);
          const answer = await cluster.fetch(`${RESOURCES}/${name}`, { method: "DELETE" });
          await answer.body?.cancel();
        }));
        const left = async () => {
          const text = await cluster.kubectl([
            ...["get", "deployment,replicaset,pod,service,configmap,serviceaccount,ingress,llsd", "-n", "default"],
            ...["-o", "name"],
          ]);
          return text.split("\n").filter((line) => line.includes("/short-"));
        };
        await eventually("nothing is left", async () => (await left()).length === 0 || undefined);
        // Nor does a late write bring one back.
        await aWhile();
        deepStrictEqual(await left(), []);
        await settled(cluster, "edited", 1);
      });
    } finally {
      await running.stop();
    }
  } finally {
    await cluster.stop();
  }
});
