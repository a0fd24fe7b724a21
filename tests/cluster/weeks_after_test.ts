/**
 * The weeks after a rollout and an upgrade: restarts, evictions, a lost node, another leader, a restart of the
 * operator, resyncs. The operator writes only the status of the resources, which reports the state of the pods, and no
 * Event.
 */
import { deepStrictEqual } from "node:assert/strict";
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { apply, imageOf, isObserved, isReady, list, RESOURCES, withModels } from "./settled.ts";
import { aMoment, aWhile, eventually, unchanged } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const PODS = "/api/v1/namespaces/default/pods";
const NAMES = ["rolling", "recreated"];

/** One that replaces its pods one by one, and one on a claim, whose pod goes before the next one comes. */
const resource = (name: string, models: number): JsonObject =>
  manifest({
    ...withModels(models),
    distribution: { name: "starter" },
    networking: {},
    workload: name === "rolling" ? { replicas: 2 } : { replicas: 1, storage: { size: "1Gi", storageClassName: "" } },
  }, name);

const areReady = async (cluster: ControlPlane): Promise<boolean> => (await list(cluster, RESOURCES)).every(isReady);

const allReady = (cluster: ControlPlane) =>
  eventually("all are ready", async () => await areReady(cluster) || undefined);

/** Every pod that the Deployment wants has its template, and is available. */
const isComplete = (deployment: Json): boolean => {
  const { replicas, updatedReplicas, availableReplicas } = objectAt(deployment, "status");
  const { replicas: wanted } = objectAt(deployment, "spec");
  return isObserved(deployment) && [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted);
};

const patchStatus = async (cluster: ControlPlane, pod: Json, status: JsonObject): Promise<void> => {
  const answer = await cluster.fetch(`${PODS}/${stringAt(pod, "metadata", "name")}/status`, {
    method: "PATCH",
    headers: { "content-type": "application/strategic-merge-patch+json" },
    body: JSON.stringify({ status }),
  });
  await answer.body?.cancel();
};

/** The server of every pod ended this often, for want of memory, and is ready again or not. */
const restarted = async (cluster: ControlPlane, restartCount: number, isReady: boolean): Promise<void> => {
  const word = isReady ? "True" : "False";
  for (const pod of await list(cluster, PODS)) {
    const containers = listAt(pod, "spec", "containers").map((container) => stringAt(container, "name") ?? "");
    await patchStatus(cluster, pod, {
      conditions: ["Ready", "ContainersReady"].map((type) => ({ type, status: word })),
      containerStatuses: containers.map((name) => ({
        name,
        image: "x",
        imageID: "x",
        ready: isReady,
        started: isReady,
        restartCount,
        state: isReady
          ? { running: { startedAt: new Date().toISOString() } }
          : { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
        lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
      })),
    });
  }
};

Deno.test("in the weeks after a rollout and an upgrade the operator writes no object and makes no Event", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  // Watches end again and again, as those of weeks do.
  const door = openDoor(cluster, { watchMs: 5000 });
  const start = (replica: string) => startOperator(cluster, { url: door.url, leaderElect: true, replica });
  let running = await start("first");
  try {
    for (const models of [1, 2]) {
      for (const name of NAMES) await apply(cluster, resource(name, models));
      await allReady(cluster);
    }
    await apply(cluster, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "llama-stack-operator-config", namespace: "default" },
      data: { "image-overrides": "starter: mirror.example/ogxai/distribution-starter:1.4.2" },
    });
    await eventually("all are upgraded", async () => {
      const all = await list(cluster, DEPLOYMENTS);
      return all.every((value) => imageOf(value).endsWith(":1.4.2") && isComplete(value)) &&
          await areReady(cluster) || undefined;
    });
    await unchanged(() => door.written().filter((text) => !text.includes("/leases")).length, 2);
    const templates = async () =>
      (await list(cluster, DEPLOYMENTS)).map((value) => JSON.stringify(objectAt(value, "spec", "template")));
    const before = await templates();
    const quiet = async (what: string, act: () => Promise<unknown>, isOver = true) => {
      await t.step(what, async () => {
        const from = door.writes();
        await act();
        await aWhile();
        if (isOver) await allReady(cluster);
        const written = door.written().slice(from)
          .filter((text) => !/\/leases(\/|$)|llamastackdistributions\/[^/]+\/status$/.test(text));
        deepStrictEqual(written, []);
        deepStrictEqual(await templates(), before);
      });
    };
    for (const count of [1, 3, 12]) {
      await quiet(`containers out of memory, restart ${count}`, async () => {
        await restarted(cluster, count, false);
        await aWhile();
        await restarted(cluster, count, true);
      });
    }
    await quiet("evictions", async () => {
      for (const pod of await list(cluster, PODS)) {
        const name = stringAt(pod, "metadata", "name") ?? "";
        const answer = await cluster.fetch(`${PODS}/${name}/eviction`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } }),
        });
        await answer.body?.cancel();
      }
    });
    await quiet("a lost node: pods are evicted and fit nowhere", async () => {
      await cluster.kubectl(["taint", "nodes", "simulated", "example.com/lost=:NoExecute"]);
      await aWhile(2);
    }, false);
    await quiet("an operator that starts meanwhile", async () => {
      await running.stop();
      running = await start("second");
      await aWhile();
    }, false);
    await quiet("the node is back", async () => {
      await cluster.kubectl(["taint", "nodes", "simulated", "example.com/lost:NoExecute-"]);
    });
    await quiet("containers that crash while another leader takes over", async () => {
      await restarted(cluster, 20, false);
      const third = await start("third");
      await running.stop();
      running = third;
      await aWhile();
      await restarted(cluster, 20, true);
    });
    await quiet("resyncs", async () => {
      for (let round = 0; round < 5; round++) {
        for (const name of NAMES) {
          await cluster.kubectl(["annotate", "llsd", name, `example.com/round=${round}`, "--overwrite"]);
        }
        await aMoment();
      }
    });
  } finally {
    await running.stop();
    console.log = log;
    await door.close();
    await cluster.stop();
  }
});
