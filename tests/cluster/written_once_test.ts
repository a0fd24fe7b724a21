/** One edit is one write of the Deployment, on a real API server whose Deployment controller runs. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type JsonObject, member, objectAt, put } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, read, ready } from "./settled.ts";
import { unchanged } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";

const withModel = (name: string): JsonObject => ({
  workload: { replicas: 1 },
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] },
  resources: { models: [{ name }] },
});

/** The generation of a Deployment counts changes of its annotations too. */
const writes = async (cluster: ControlPlane): Promise<number> =>
  Number(member(objectAt(await read(cluster, DEPLOYMENT), "metadata"), "generation"));

const writesAfter = async (cluster: ControlPlane, spec: JsonObject): Promise<number> => {
  await apply(cluster, manifest(spec));
  await ready(cluster, "my");
  return await unchanged(() => writes(cluster), 3);
};

Deno.test("one edit writes the Deployment once, also one that returns to an earlier config, and a written default never", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const running = await startOperator(cluster, { operatorNamespace: "kube-public" });
  try {
    const counts: Array<number> = [];
    for (const model of ["a", "b", "a", "b", "a"]) counts.push(await writesAfter(cluster, withModel(model)));
    deepStrictEqual(counts, [1, 2, 3, 4, 5]);
    const spelled: JsonObject = put(withModel("a"), ["networking"], { port: 8321 });
    strictEqual(await writesAfter(cluster, put(spelled, ["workload", "probes"], { startupSeconds: 600 })), 5);
  } finally {
    await running.stop();
    await cluster.stop();
  }
});
