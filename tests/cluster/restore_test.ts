/** The cluster's database is restored from a backup while the operator runs, in a time too short for it to lose its lease. */
import { ok, strictEqual } from "node:assert/strict";
import { listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, read, RESOURCES, settled, withModels } from "./settled.ts";
import { manifest } from "../given.ts";
import { eventually, stays, unchanged } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const MANAGED = "labelSelector=app.kubernetes.io/managed-by%3Dllama-stack-operator";

/** The operator has carried out the last edit; the other controllers of this control plane stay deaf after a restore. */
const served = (cluster: ControlPlane, name: string) =>
  eventually(`${name} is served`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    const deployment = await read(cluster, `${DEPLOYMENTS}/${name}`);
    const generation = String(objectAt(resource, "metadata").generation);
    return String(objectAt(resource, "status").observedGeneration) === generation &&
        stringAt(deployment, "metadata", "annotations", "llamastack.io/generation") === generation || undefined;
  });

/** Versions of everything that the operator writes. */
const versions = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const lists = [RESOURCES, `${DEPLOYMENTS}?${MANAGED}`, `/api/v1/namespaces/default/configmaps?${MANAGED}`];
  const found = await Promise.all(lists.map((path) => read(cluster, path)));
  return found.flatMap((list) => listAt(list, "items"))
    .map((value) => `${stringAt(value, "metadata", "name")} ${stringAt(value, "metadata", "resourceVersion")}`).sort();
};

for (const leaderElect of [true, false]) {
  Deno.test(
    `after a restore of the cluster's database the operator reads everything anew, ${
      leaderElect ? "as the leader" : "without leader election"
    }`,
    (t) => drill(t, leaderElect),
  );
}

const drill = async (t: Deno.TestContext, leaderElect: boolean): Promise<void> => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log: Array<string> = [];
  const console_log = console.log;
  console.log = (...words: ReadonlyArray<unknown>) => void log.push(words.join(" "));
  try {
    const running = await startOperator(cluster, { leaderElect });
    try {
      for (const name of ["edited", "doomed", "robbed"]) await apply(cluster, manifest(withModels(1), name));
      for (const name of ["edited", "doomed", "robbed"]) await settled(cluster, name, 1);
      await cluster.saveDatabase();
      await apply(cluster, manifest(withModels(3), "edited"));
      await apply(cluster, manifest(withModels(1), "lost"));
      await settled(cluster, "edited", 3);
      await settled(cluster, "lost", 1);
      await cluster.kubectl(["delete", "llsd", "doomed", "-n", "default"]);
      await eventually(
        "its Deployment goes",
        async () => (await read(cluster, `${DEPLOYMENTS}/doomed`)).kind === "Status" || undefined,
      );
      const leading = log.filter((line) => line.includes('"leading"')).length;
      await cluster.restoreDatabase();

      await t.step("it is noticed", async () => {
        await eventually(
          "it is noticed, or the lease was lost in the meantime",
          () => Promise.resolve(log.some((line) => /was restored|stopped leading/.test(line)) || undefined),
        );
        strictEqual(log.filter((line) => line.includes("was restored")).length <= 1, true);
        if (!leaderElect) return;
        await eventually(
          "the operator leads again",
          () => Promise.resolve(log.filter((line) => line.includes('"leading"')).length > leading || undefined),
        );
      });
      await t.step("an edit is served", async () => {
        await apply(cluster, manifest(withModels(2), "edited"));
        await served(cluster, "edited");
      });
      await t.step("a new resource is served", async () => {
        await apply(cluster, manifest(withModels(1), "new"));
        await served(cluster, "new");
      });
      await t.step("a resource that came back with the backup is served", async () => {
        await apply(cluster, manifest(withModels(2), "doomed"));
        await served(cluster, "doomed");
      });
      await t.step("a Deployment that is deleted by hand is made again", async () => {
        const before = stringAt(await read(cluster, `${DEPLOYMENTS}/robbed`), "metadata", "uid");
        await cluster.kubectl(["delete", "deployment", "robbed", "-n", "default"]);
        await eventually("another one is there", async () => {
          const now = stringAt(await read(cluster, `${DEPLOYMENTS}/robbed`), "metadata", "uid");
          return now !== undefined && now !== before || undefined;
        });
        await served(cluster, "robbed");
      });
      await t.step("nothing is written for what never happened, and nothing more at rest", async () => {
        strictEqual((await read(cluster, `${RESOURCES}/lost`)).kind, "Status");
        const own = listAt(await read(cluster, `${DEPLOYMENTS}?${MANAGED}`), "items");
        ok(!own.some((value) => stringAt(value, "metadata", "name") === "lost"));
        // Pods of the last edits may still become ready.
        await unchanged(() => versions(cluster));
        await stays(() => versions(cluster), { times: 2 });
        ok(objectAt(await read(cluster, `${RESOURCES}/edited`), "status") !== undefined);
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = console_log;
    await cluster.stop();
  }
};
