/** Labels by which the operator watches its objects are changed, by hand or by a policy: nothing is lost from sight. */
import { ok, strictEqual } from "node:assert/strict";
import { stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { installPolicies, labelMutation } from "./admission_policy.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, imageOf, read, RESOURCES, settled, withModels } from "./settled.ts";
import { eventually, stays, unchanged } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";
const SERVICE = "/api/v1/namespaces/default/services/my-service";
const MANAGED_BY = "app.kubernetes.io/managed-by";
const INSTANCE = "app.kubernetes.io/instance";

const label = async (cluster: ControlPlane, path: string, name: string): Promise<string | undefined> =>
  stringAt(await read(cluster, path), "metadata", "labels", name);

const image = async (cluster: ControlPlane): Promise<string> => imageOf(await read(cluster, DEPLOYMENT));

/** An edit by another client is detected and repaired. */
const isWatched = async (cluster: ControlPlane): Promise<void> => {
  const before = await image(cluster);
  await cluster.kubectl(["set", "image", "deployment/my", `llama-stack=by-hand-${Date.now()}`]);
  await eventually("an edit by hand is repaired", async () => await image(cluster) === before || undefined);
};

Deno.test("objects whose labels are changed by users are still detected", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  try {
    const running = await startOperator(cluster);
    try {
      await apply(cluster, manifest(withModels(1)));
      await settled(cluster, "my", 1);
      for (
        const [what, path, args, name, value] of [
          ["managed-by of the Deployment", DEPLOYMENT, ["deployment/my", `${MANAGED_BY}=Helm`], MANAGED_BY],
          ["no managed-by on the Service", SERVICE, ["service/my-service", `${MANAGED_BY}-`], MANAGED_BY],
          ["the instance of the Deployment", DEPLOYMENT, ["deployment/my", `${INSTANCE}=other`], INSTANCE, "my"],
          ["no instance on the Service", SERVICE, ["service/my-service", `${INSTANCE}-`], INSTANCE, "my"],
        ] as const
      ) {
        await t.step(what, async () => {
          await cluster.kubectl(["label", "--overwrite", ...args]);
          const wanted = value ?? "llama-stack-operator";
          await eventually(
            "the label is back",
            async () => await label(cluster, path, name) === wanted || undefined,
          );
          // The next change of the same object is seen as well.
          await cluster.kubectl(["label", "--overwrite", ...args.slice(0, 1), "app.kubernetes.io/part-of=mine"]);
          await eventually(
            "another label is back",
            async () => await label(cluster, path, "app.kubernetes.io/part-of") === "llama-stack" || undefined,
          );
        });
      }
      await t.step("the Deployment is watched as before", () => isWatched(cluster));
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});

Deno.test("objects whose labels a policy changes are still found", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  const door = openDoor(cluster);
  try {
    const mutation = labelMutation(MANAGED_BY, "platform");
    await installPolicies(cluster, [
      { name: "deployments", group: "apps", version: "v1", resources: ["deployments", "replicasets"], mutation },
      { name: "rest", group: "", version: "v1", resources: ["pods", "configmaps", "services"], mutation },
    ]);
    const running = await startOperator(cluster, { url: door.url });
    try {
      await t.step("a new resource becomes ready within seconds", async () => {
        await apply(cluster, manifest(withModels(1)));
        await settled(cluster, "my", 1);
        strictEqual(await label(cluster, DEPLOYMENT, MANAGED_BY), "platform");
        const found = condition(await read(cluster, `${RESOURCES}/my`), "ChangedByPolicy");
        ok(stringAt(found, "message")?.includes(`metadata.labels["${MANAGED_BY}"]`), JSON.stringify(found));
      });
      await t.step("an edit by hand is repaired within seconds", () => isWatched(cluster));
      await t.step("a deleted Deployment comes back within seconds", async () => {
        await cluster.kubectl(["delete", "deployment", "my"]);
        await eventually("it is there", async () => await image(cluster) !== "" || undefined);
        await settled(cluster, "my", 1);
      });
      await t.step("nothing is written at rest", async () => {
        await unchanged(door.writes);
        await stays(door.writes, { times: 5 });
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await door.close();
    await cluster.stop();
  }
});
