/** The number of pods never dips while its owner changes, on a real API server: every version of the Deployment is looked at. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { at, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { apply, changesSince, isObserved, read, RESOURCES } from "./settled.ts";
import { aWhile, eventually } from "../waiting.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment", name: "my" };
const SERVER = { apiVersion: "llamastack.io/v1alpha2", kind: "LlamaStackDistribution", name: "my" };

const autoscaler = (name: string, scaleTargetRef: JsonObject): JsonObject => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name, namespace: "default" },
  spec: {
    scaleTargetRef,
    maxReplicas: 9,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
  },
});

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

/**
 * `spec.replicas` before `change` and in every version that the Deployment has while it is carried out, each number
 * once in a row. The number before comes first always: a late write of the status by Kubernetes shows it again anyway.
 */
const numbersDuring = async (cluster: ControlPlane, change: () => Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const before = await read(cluster, DEPLOYMENTS);
  const from = stringAt(before, "metadata", "resourceVersion") ?? "";
  await change();
  await eventually(
    "the edit is carried out",
    async () => isObserved(await read(cluster, `${RESOURCES}/my`)) || undefined,
  );
  await aWhile();
  const numbers = [
    ...listAt(before, "items"),
    ...(await changesSince(cluster, DEPLOYMENTS, from)).map(({ object }) => object),
  ].map((deployment) => Number(at(deployment, "spec", "replicas")));
  return numbers.filter((number, index) => number !== numbers[index - 1]);
};

Deno.test("the number of pods never dips between a fixed number, an autoscaler and somebody else", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  try {
    const running = await startOperator(cluster);
    try {
      const edited = (workload: JsonObject) => numbersDuring(cluster, () => apply(cluster, manifest({ workload })));
      const managers = async () =>
        listAt(await read(cluster, `${DEPLOYMENTS}/my`), "metadata", "managedFields")
          .filter((managedField) => at(managedField, "fieldsV1", "f:spec", "f:replicas") !== undefined)
          .map((managedField) => stringAt(managedField, "manager"));
      const scaled = async (replicas: number) => {
        const answer = await cluster.fetch(`${DEPLOYMENTS}/my/scale?fieldManager=kube-controller-manager`, {
          method: "PATCH",
          headers: { "content-type": "application/merge-patch+json" },
          body: JSON.stringify({ spec: { replicas } }),
        });
        ok(answer.ok, await answer.text());
      };
      await edited({ replicas: 3 });
      await t.step("3 pods are kept when an autoscaler of 1 to 5 takes over", async () => {
        deepStrictEqual(await edited({ replicas: 3, autoscaling: { minReplicas: 1, maxReplicas: 5 } }), [3]);
        ok(!(await managers()).includes("llama-stack-operator"), (await managers()).join());
      });
      await t.step("the number chosen by the autoscaler is kept until a number is set again", async () => {
        await scaled(5);
        deepStrictEqual(await edited({ replicas: 3, workers: 2, autoscaling: { minReplicas: 1, maxReplicas: 5 } }), [
          5,
        ]);
        deepStrictEqual(await edited({ replicas: 4 }), [5, 4]);
      });
      await t.step("an autoscaler that takes over at zero starts with its minimum", async () => {
        await edited({ replicas: 0 });
        deepStrictEqual((await edited({ replicas: 0, autoscaling: { minReplicas: 2, maxReplicas: 5 } })).at(-1), 2);
      });
      await t.step(
        "whoever scales from outside takes over the pods that run, from the autoscaler and from a number",
        async () => {
          const external = { scaling: "External" };
          deepStrictEqual(await edited(external), [2]);
          deepStrictEqual(await edited({ replicas: 3 }), [2, 3]);
          deepStrictEqual(await edited(external), [3]);
          ok(!(await managers()).includes("llama-stack-operator"), (await managers()).join());
          await scaled(0);
          deepStrictEqual(await edited({ ...external, workers: 2 }), [0]);
          await scaled(4);
          deepStrictEqual(await edited(external), [4]);
          deepStrictEqual(await edited({ replicas: 4 }), [4]);
        },
      );
      await t.step("two autoscalers on one server are a warning, until one of them is gone", async () => {
        await edited({ scaling: "External" });
        const warned = async () =>
          listAt(await read(cluster, `${RESOURCES}/my`), "status", "configGeneration", "warnings")
            .some((found) => String(found).includes("change the number of pods in turns: one, two;"));
        // The last one sets a number in the resource that is ignored.
        for (const [name, target] of [["one", DEPLOYMENT], ["two", DEPLOYMENT], ["three", SERVER]] as const) {
          await apply(cluster, autoscaler(name, target));
        }
        // As an autoscaler does: nothing else tells of it.
        await scaled(5);
        await eventually("the warning", async () => await warned() || undefined);
        await cluster.kubectl(["delete", "horizontalpodautoscaler", "two", "-n", "default"]);
        await scaled(3);
        await eventually("no warning", async () => !(await warned()) || undefined);
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});
