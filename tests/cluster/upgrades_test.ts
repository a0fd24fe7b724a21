/** Upgrades, rollbacks and settings on a real API server: who causes a rollout decides when it happens. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, member, objectAt, stringAt } from "../../core/data/json.ts";
import { ACCEPT_FAMILY_CHANGE_ANNOTATION } from "../../core/plan/stored_data/stored_data.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { CRASHING } from "../../tools/cluster/simulated_pods.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { condition, imageOf, isObserved, list, read, RESOURCES } from "./settled.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { aMoment, eventually, stays, unchanged } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const FLEET = 10;

const apply = (cluster: ControlPlane, objects: ReadonlyArray<JsonObject>) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"],
    manifestList(objects),
  );
const settings = (data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "llama-stack-operator-config" },
  data,
});
const word = (resource: Json | undefined, type: string): string =>
  `${stringAt(condition(resource, type), "status")} ${stringAt(condition(resource, type), "reason")}`;
const isAvailable = (deployment: Json): boolean =>
  Number(member(objectAt(deployment, "status"), "availableReplicas") ?? 0) > 0;
const when = (cluster: ControlPlane, name: string, type: string, want: string) =>
  eventually(`${name} ${type} ${want}`, async () => {
    const found = await read(cluster, `${RESOURCES}/${name}`);
    return word(found, type) === want ? found : undefined;
  });
const override = (tag: string) =>
  settings({
    "image-overrides": `starter: mirror.example/ogxai/distribution-starter:${tag}`,
    upgradeParallelism: "3",
  });

Deno.test("upgrades on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    const running = await startOperator(cluster);
    try {
      const names = Array.from({ length: FLEET }, (_, index) => `fleet-${index}`);
      await t.step(
        `new pins roll ${FLEET} resources, three at a time, each Available before the next`,
        async () => {
          await apply(cluster, names.map((name) => manifest({ distribution: { name: "starter" } }, name)));
          await eventually("all are available", async () => {
            const all = await list(cluster, DEPLOYMENTS);
            return all.length === FLEET && all.every(isAvailable) ? all : undefined;
          });
          await apply(cluster, [override("1.4.2")]);
          let most = 0;
          await eventually("all run the new image", async () => {
            const all = await list(cluster, DEPLOYMENTS);
            const away = all.filter((value) => imageOf(value).endsWith(":1.4.2") && !settledOn(value)).length;
            most = Math.max(most, away);
            return all.every((value) => imageOf(value).endsWith(":1.4.2") && settledOn(value)) ? all : undefined;
          });
          ok(most >= 1 && most <= 3, `at most 3 may be away, ${most} were`);
        },
      );

      await t.step(
        "a failing upgrade stops its queue, old pods keep running, and a good image releases all",
        async () => {
          await apply(cluster, [override(`1.4.3-${CRASHING}`)]);
          const stopped = await eventually("one stopped the upgrade, and all that wait say so", async () => {
            const all = await list(cluster, RESOURCES);
            const failed = all.filter((value) => word(value, "DeploymentUpdated") === "False UpgradeFailed");
            // Until its next pass a resource that waits says for which ones.
            const queued = all.filter((value) =>
              word(value, "DeploymentUpdated") === "False UpgradeQueued" &&
              stringAt(condition(value, "DeploymentUpdated"), "message")?.includes("is stopped, because default/fleet-")
            );
            return failed.length >= 1 && failed.length + queued.length === FLEET ? { failed, queued } : undefined;
          });
          ok(stopped.failed.length <= 3, `${stopped.failed.length} failed`);
          ok(stringAt(condition(stopped.failed[0], "DeploymentUpdated"), "message")?.includes("exit code 1"));
          strictEqual(word(stopped.queued[0], "Ready"), "True Ready");
          ok((await list(cluster, DEPLOYMENTS)).every(isAvailable), "under RollingUpdate the old pods keep serving");
          const events = await list(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
          const told = events.filter((event) => stringAt(event, "reason") === "UpgradeStopped");
          strictEqual(told.length, stopped.failed.length);
          await apply(cluster, [override("1.4.2")]);
          await eventually("all are back", async () => {
            const all = await list(cluster, DEPLOYMENTS);
            return all.every((value) => imageOf(value).endsWith(":1.4.2") && settledOn(value)) ? all : undefined;
          });
        },
      );

      await t.step(
        "an invalid entry of the settings keeps its last valid value and is reported on the ConfigMap",
        async () => {
          await apply(cluster, [settings({ "image-overrides": "starter: 'no image'", upgradeParallelism: "3" })]);
          const said = await eventually("an Event tells of it", async () => {
            const events = await list(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
            return events.find((event) => stringAt(event, "reason") === "SettingsUnreadable");
          });
          ok(stringAt(said, "note")?.includes('image-overrides.starter: "no image" is not an image reference'));
          // Every resource is looked at again after the Event.
          await stays(async () => (await list(cluster, DEPLOYMENTS)).map(imageOf));
          ok((await list(cluster, DEPLOYMENTS)).every((value) => imageOf(value).endsWith(":1.4.2")));
          await cluster.kubectl(["delete", "-n", "default", "configmap", "llama-stack-operator-config"]);
          await eventually(
            "the pinned image is back",
            async () =>
              (await list(cluster, DEPLOYMENTS)).every((value) =>
                imageOf(value).endsWith(":1.4.1") && settledOn(value)
              ) ||
              undefined,
          );
        },
      );

      const claim = { size: "1Gi", storageClassName: "" };
      await t.step(
        "under Recreate a rollout that does not start is rolled back once and waits for an edit",
        async () => {
          const spec = (more: JsonObject) => manifest({ workload: { storage: claim, ...more } }, "kept");
          await apply(cluster, [spec({})]);
          await when(cluster, "kept", "Ready", "True Ready");
          const good = at(await read(cluster, `${DEPLOYMENTS}/kept`), "spec", "template");
          strictEqual(stringAt(await read(cluster, `${DEPLOYMENTS}/kept`), "spec", "strategy", "type"), "Recreate");
          await apply(cluster, [
            manifest({ distribution: { image: `x.example/${CRASHING}:1` }, workload: { storage: claim } }, "kept"),
          ]);
          const undone = await when(cluster, "kept", "DeploymentUpdated", "False RolledBack");
          ok(
            stringAt(condition(undone, "DeploymentUpdated"), "message")?.includes("llama-stack ended with exit code 1"),
          );
          const settled = await when(cluster, "kept", "Available", "True MinimumReplicasAvailable");
          deepStrictEqual(at(await read(cluster, `${DEPLOYMENTS}/kept`), "spec", "template"), good);
          deepStrictEqual([word(settled, "Stalled"), at(settled, "status", "phase")], ["True RolledBack", "Ready"]);
          await apply(cluster, [spec({ workers: 2 })]);
          await when(cluster, "kept", "Ready", "True Ready");
        },
      );

      await t.step(
        "two edits that do not start, while the former pod still ends, go back to what ran before",
        async () => {
          const spec = (more: JsonObject) => manifest({ workload: { storage: claim }, ...more }, "slow");
          const bad = (tag: number) => spec({ distribution: { image: `x.example/${CRASHING}:${tag}` } });
          await apply(cluster, [spec({})]);
          await when(cluster, "slow", "Ready", "True Ready");
          const good = at(await read(cluster, `${DEPLOYMENTS}/slow`), "spec", "template");
          const pods = "/api/v1/namespaces/default/pods";
          const pod = stringAt(
            (await list(cluster, pods)).find((value) =>
              stringAt(value, "metadata", "labels", "app.kubernetes.io/instance") === "slow"
            ),
            "metadata",
            "name",
          );
          const finalizers = async (names: ReadonlyArray<string>) => {
            const answer = await cluster.fetch(`${pods}/${pod}`, {
              method: "PATCH",
              headers: { "content-type": "application/merge-patch+json" },
              body: JSON.stringify({ metadata: { finalizers: names } }),
            });
            await answer.body?.cancel();
            strictEqual(answer.status, 200);
          };
          await finalizers(["example.com/ends-slowly"]);
          for (const tag of [1, 2]) {
            await apply(cluster, [bad(tag)]);
            await eventually("the Deployment controller has seen the edit", async () => {
              const deployment = await read(cluster, `${DEPLOYMENTS}/slow`);
              return imageOf(deployment).endsWith(`:${tag}`) && isObserved(deployment) || undefined;
            });
            // Time for a reconciliation of that status.
            await aMoment();
          }
          await finalizers([]);
          await when(cluster, "slow", "DeploymentUpdated", "False RolledBack");
          await when(cluster, "slow", "Available", "True MinimumReplicasAvailable");
          deepStrictEqual(at(await read(cluster, `${DEPLOYMENTS}/slow`), "spec", "template"), good);
        },
      );

      await t.step(
        "a change of the server family on stored data waits, changes nothing, and is applied when accepted",
        async () => {
          const spec = (serverVersion: string, annotations: JsonObject = {}) => {
            const made = manifest(
              { distribution: { name: "starter", serverVersion }, workload: { storage: claim } },
              "moved",
            );
            return { ...made, metadata: { ...objectAt(made, "metadata"), annotations } };
          };
          await apply(cluster, [spec("0.6.1")]);
          await when(cluster, "moved", "Ready", "True Ready");
          const version = async () =>
            stringAt(await read(cluster, `${DEPLOYMENTS}/moved`), "metadata", "resourceVersion");
          // The Deployment controller writes its status once more when the pod is available.
          const before = await unchanged(version);
          await apply(cluster, [spec("1.4.1")]);
          const held = await when(cluster, "moved", "ConfigGenerated", "False ServerFamilyChangeLosesData");
          ok(stringAt(condition(held, "ConfigGenerated"), "message")?.includes("the prompts"));
          strictEqual(at(held, "status", "phase"), "Ready");
          strictEqual(await version(), before);
          await apply(cluster, [spec("1.4.1", { [ACCEPT_FAMILY_CHANGE_ANNOTATION]: "1.2" })]);
          await when(cluster, "moved", "Ready", "True Ready");
          ok(imageOf(await read(cluster, `${DEPLOYMENTS}/moved`)).endsWith(":1.4.1"));
        },
      );

      await t.step("a change of the server family is applied at once without stored data", async () => {
        const spec = (serverVersion: string) => manifest({ distribution: { name: "starter", serverVersion } }, "loose");
        await apply(cluster, [spec("0.6.1")]);
        await when(cluster, "loose", "Ready", "True Ready");
        await apply(cluster, [spec("1.4.1")]);
        await eventually("the OGX server has the pod", async () => {
          const deployment = await read(cluster, `${DEPLOYMENTS}/loose`);
          return imageOf(deployment).endsWith(":1.4.1") && settledOn(deployment) ? true : undefined;
        });
        await when(cluster, "loose", "Ready", "True Ready");
      });
    } finally {
      await running.stop();
    }
  } finally {
    await cluster.stop();
  }
});

/** Every pod runs the template that the Deployment has now. */
const settledOn = (deployment: Json): boolean => {
  const status = objectAt(deployment, "status");
  const count = (name: string) => Number(member(status, name) ?? 0);
  return count("observedGeneration") >= Number(member(objectAt(deployment, "metadata"), "generation") ?? 0) &&
    count("updatedReplicas") >= 1 && count("availableReplicas") >= 1 && count("replicas") === count("updatedReplicas");
};
