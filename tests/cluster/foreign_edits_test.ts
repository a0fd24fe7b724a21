/**
 * Edits of the operator's objects by users and other tools on a real API server: each is repaired in one write, and the
 * next edit is applied.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, read, ready, RESOURCES } from "./settled.ts";
import { aMoment, aWhile, eventually, stays } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";
const RESOURCE = `${RESOURCES}/my`;
const secret = (key: string): JsonObject => ({ secretKeyRef: { name: "keys", key } });
const VLLM: JsonObject = { provider: "vllm", endpoint: "http://vllm:8000/v1" };
const spec = (more: JsonObject = {}, storage?: JsonObject): JsonObject => ({
  providers: { inference: [{ ...VLLM, apiKey: secret("a") }] },
  workload: {
    replicas: 1,
    podDisruptionBudget: { minAvailable: 1 },
    ...(storage === undefined ? {} : { storage }),
    ...more,
  },
});

/** Template and strategy without what tells when they were made. */
const content = (deployment: JsonObject): string =>
  JSON.stringify([at(deployment, "spec", "template"), at(deployment, "spec", "strategy")]);

const patch = async (
  cluster: ControlPlane,
  path: string,
  type: string,
  body: Json,
  manager = "kubectl-by-hand",
): Promise<void> => {
  const answer = await cluster.fetch(`${path}?fieldManager=${manager}`, {
    method: "PATCH",
    headers: { "content-type": `application/${type}-patch+json` },
    body: JSON.stringify(body),
  });
  ok(answer.ok, await answer.text());
};

Deno.test("edits of the operator's objects are repaired on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  try {
    let running = await startOperator(cluster);
    try {
      await cluster.kubectl(["create", "secret", "generic", "keys", "--from-literal=a=word", "--from-literal=b=other"]);
      await apply(cluster, manifest(spec()));
      await ready(cluster, "my");
      const repaired = async (what: string, before: string, edit: () => Promise<unknown>) => {
        await t.step(what, async () => {
          await edit();
          await eventually(
            "the Deployment is as it was",
            async () => content(await read(cluster, DEPLOYMENT)) === before || undefined,
          );
          // Nothing is fought over afterwards, and the next edit goes through.
          await stays(async () => content(await read(cluster, DEPLOYMENT)));
          await apply(cluster, manifest(spec({ overrides: { podLabels: { edited: "yes" } } })));
          await eventually(
            "an edit goes through",
            async () =>
              stringAt(await read(cluster, DEPLOYMENT), "spec", "template", "metadata", "labels", "edited") === "yes" ||
              undefined,
          );
          await apply(cluster, manifest(spec()));
          await eventually("and back", async () => content(await read(cluster, DEPLOYMENT)) === before || undefined);
          await ready(cluster, "my");
        });
      };
      const good = content(await read(cluster, DEPLOYMENT));
      const name = stringAt(
        listAt(listAt(await read(cluster, DEPLOYMENT), "spec", "template", "spec", "containers")[0] ?? null, "env")
          .find((value) => at(value, "valueFrom") !== undefined) ?? null,
        "name",
      ) ?? "";
      await repaired(
        "a literal in place of a reference to a Secret",
        good,
        () => cluster.kubectl(["set", "env", "deployment/my", `${name}=by-hand`]),
      );
      await repaired(
        "another strategy",
        good,
        () => patch(cluster, DEPLOYMENT, "merge", { spec: { strategy: { type: "Recreate", rollingUpdate: null } } }),
      );
      await t.step("the other half of a disruption budget", async () => {
        const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/my-pdb";
        await patch(cluster, path, "merge", { spec: { minAvailable: null, maxUnavailable: 1 } });
        await eventually("it is as it was", async () => {
          const { minAvailable, maxUnavailable } = objectAt(await read(cluster, path), "spec");
          return minAvailable === 1 && maxUnavailable === undefined || undefined;
        });
      });
      await t.step("kubectl rollout undo restores neither the key nor the port of an earlier template", async () => {
        await apply(
          cluster,
          manifest({
            providers: { inference: [VLLM] },
            networking: { port: 9000 },
            workload: { replicas: 1, podDisruptionBudget: { minAvailable: 1 } },
          }),
        );
        await ready(cluster, "my");
        const before = content(await read(cluster, DEPLOYMENT));
        ok(!before.includes(name) && before.includes("9000"));
        await cluster.kubectl(["rollout", "undo", "deployment/my"]);
        await eventually(
          "the Deployment is as it was",
          async () => content(await read(cluster, DEPLOYMENT)) === before || undefined,
        );
        await ready(cluster, "my");
        strictEqual(content(await read(cluster, DEPLOYMENT)), before);
      });
      await t.step("an actor that writes back is named with its field, and holds up nothing else", async () => {
        let [overwrites, going] = [0, true];
        const label = async () =>
          stringAt(await read(cluster, DEPLOYMENT), "metadata", "labels", "app.kubernetes.io/part-of");
        const actor = (async () => {
          while (going) {
            if (await label() === "llama-stack") {
              overwrites++;
              await patch(cluster, DEPLOYMENT, "merge", {
                metadata: { labels: { "app.kubernetes.io/part-of": "mine" } },
              }, "robot");
            }
            // An overwrite within the milliseconds of the repair itself may be one with the next for the operator.
            await aMoment();
          }
        })();
        const contested = async () => condition(await read(cluster, RESOURCE), "Contested");
        const told = async () =>
          listAt(await read(cluster, "/apis/events.k8s.io/v1/namespaces/default/events"), "items")
            .filter((item) => stringAt(item, "reason") === "Contested").map((item) => stringAt(item, "note") ?? "");
        const podLabel = async () =>
          stringAt(await read(cluster, DEPLOYMENT), "spec", "template", "metadata", "labels", "edited");
        try {
          const found = await eventually("it is contested", contested);
          // One more where two of them came to the operator as one.
          ok([3, 4].includes(overwrites), `${overwrites} overwrites`);
          const message = stringAt(found, "message") ?? "";
          ok(message.includes('Deployment my: metadata.labels["app.kubernetes.io/part-of"]'), message);
          ok(message.includes('field manager "robot"'), message);
          await apply(cluster, manifest(spec({ overrides: { podLabels: { edited: "meanwhile" } } })));
          await eventually("an edit is served", async () => await podLabel() === "meanwhile" || undefined);
          await patch(cluster, DEPLOYMENT, "merge", {
            spec: { template: { metadata: { labels: { edited: "by-hand" } } } },
          });
          await eventually("another field is repaired", async () => await podLabel() === "meanwhile" || undefined);
          await aWhile(5);
        } finally {
          going = false;
          await actor;
        }
        // Until it is contested, with the edit and what follows it, and with the other repair. Without a pause, it would be hundreds.
        ok(overwrites <= 12, `${overwrites} overwrites`);
        const events = await told();
        strictEqual(events.length, 1, events.join("\n"));
        ok(events.join().includes('"robot"'), events.join());
        await eventually("it is repaired", async () => await label() === "llama-stack" || undefined);
        await eventually("it is over", async () => await contested() === undefined || undefined);
      });
      await t.step("fields without conflict are kept", async () => {
        await patch(cluster, DEPLOYMENT, "merge", {
          spec: { template: { metadata: { annotations: { "example.com/kept": "yes" } } } },
        });
        await apply(cluster, manifest(spec({ overrides: { podLabels: { edited: "again" } } })));
        await eventually(
          "the edit is there",
          async () =>
            stringAt(await read(cluster, DEPLOYMENT), "spec", "template", "metadata", "labels", "edited") === "again" ||
            undefined,
        );
        deepStrictEqual(
          stringAt(await read(cluster, DEPLOYMENT), "spec", "template", "metadata", "annotations", "example.com/kept"),
          "yes",
        );
      });
      await t.step("an edit is applied that comes while all annotations of the Deployment are gone", async () => {
        await ready(cluster, "my");
        await running.stop();
        const names = Object.keys(objectAt(await read(cluster, DEPLOYMENT), "metadata", "annotations"));
        await patch(cluster, DEPLOYMENT, "merge", {
          metadata: { annotations: Object.fromEntries(names.map((name) => [name, null])) },
        });
        await apply(cluster, manifest(spec({ overrides: { podLabels: { edited: "without" } } })));
        running = await startOperator(cluster);
        await eventually(
          "the edit is there",
          async () =>
            stringAt(await read(cluster, DEPLOYMENT), "spec", "template", "metadata", "labels", "edited") ===
              "without" || undefined,
        );
        await ready(cluster, "my");
        strictEqual(stringAt(condition(await read(cluster, RESOURCE), "DeploymentUpdated"), "status"), "True");
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});
