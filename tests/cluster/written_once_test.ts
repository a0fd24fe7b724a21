/** One edit is one write of the Deployment, on a real API server whose Deployment controller runs. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type JsonObject, member, objectAt, put, stringAt } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, changesSince, isReady, list, read, ready, RESOURCES } from "./settled.ts";
import { unchanged } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";
const MY = `${RESOURCES}/my`;

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

Deno.test("one edit writes the Deployment once, also one that returns to an earlier config; a written default and an annotation of others write nothing", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const running = await startOperator(cluster, { operatorNamespace: "kube-public" });
  try {
    const counts: Array<number> = [];
    for (const model of ["a", "b", "a", "b", "a"]) counts.push(await writesAfter(cluster, withModel(model)));
    deepStrictEqual(counts, [1, 2, 3, 4, 5]);
    const spelled: JsonObject = put(withModel("a"), ["networking"], { port: 8321 });
    strictEqual(await writesAfter(cluster, put(spelled, ["workload", "probes"], { startupSeconds: 600 })), 5);

    // Kubernetes observes an edit of another program a moment later, and the former port must not come back meanwhile.
    strictEqual(await writesAfter(cluster, put(spelled, ["networking"], { port: 9000 })), 6);
    const services = "/api/v1/namespaces/default/services";
    const before = await unchanged(async () =>
      JSON.stringify([await list(cluster, services), await read(cluster, MY)])
    );
    const from = stringAt(await read(cluster, MY), "metadata", "resourceVersion") ?? "";
    for (let edit = 0; edit < 10; edit++) {
      await cluster.kubectl([
        "annotate",
        "deployment",
        "my",
        "-n",
        "default",
        "--overwrite",
        `example.com/edit=${edit}`,
      ]);
    }
    const after = await unchanged(async () => JSON.stringify([await list(cluster, services), await read(cluster, MY)]));
    strictEqual(after, before);
    const states = (await changesSince(cluster, RESOURCES, from)).map(({ object = null }) => isReady(object));
    deepStrictEqual(states.filter((isSo) => !isSo), []);
  } finally {
    await running.stop();
    await cluster.stop();
  }
});
