/** A policy of the cluster rewrites what the operator applies, on a real API server: what was answered is what is wanted. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import {
  installPolicies,
  jsonPatch,
  labelMutation,
  type PolicyRule,
  refuseNetworkPolicies,
  refuseScaling,
} from "./admission_policy.ts";
import { openDoor } from "./faulty_door.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, imageOf, isSettled, list, read, RESOURCES, settled, withModels } from "./settled.ts";
import { aMoment, aWhile, eventually, unchanged } from "../waiting.ts";

const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/my";

const PART_OF = "app.kubernetes.io/part-of";

const RULES: ReadonlyArray<PolicyRule> = [
  {
    name: "registry-mirror",
    group: "apps",
    version: "v1",
    resources: ["deployments"],
    mutation: {
      patchType: "ApplyConfiguration",
      applyConfiguration: {
        expression: `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
          containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{
            name: c.name,
            image: c.image.startsWith("mirror.example/") ? c.image : "mirror.example/" + c.image})}}}}`,
      },
    },
  },
  {
    name: "label-replaced",
    group: "",
    version: "v1",
    resources: ["configmaps", "serviceaccounts"],
    mutation: labelMutation(PART_OF, "platform"),
  },
  {
    name: "label-removed",
    group: "",
    version: "v1",
    resources: ["services"],
    mutation: labelMutation(PART_OF, undefined),
  },
  {
    name: "annotations-removed",
    group: "apps",
    version: "v1",
    resources: ["deployments"],
    mutation: jsonPatch(
      `object.metadata.name == 'bare' && has(object.metadata.annotations) ? [JSONPatch{op: "remove", path: "/metadata/annotations"}] : []`,
    ),
  },
];

const image = async (cluster: ControlPlane): Promise<string> => imageOf(await read(cluster, DEPLOYMENT));

const events = async (cluster: ControlPlane): Promise<number> =>
  (await list(cluster, "/apis/events.k8s.io/v1/namespaces/default/events"))
    .filter((value) => stringAt(value, "reportingController") === "llama-stack-operator").length;

Deno.test("fields that a policy of the cluster rewrites are accepted as the API server returned them", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  const door = openDoor(cluster);
  try {
    await installPolicies(cluster, RULES);
    const start = () => startOperator(cluster, { url: door.url });
    let running = await start();
    const quiet = async (what: string, act: () => Promise<unknown>) => {
      const writes = await unchanged(door.writes);
      const told = await events(cluster);
      await act();
      await aWhile();
      deepStrictEqual([door.writes() - writes, await events(cluster) - told], [0, 0], what);
    };
    const woken = async () => {
      for (let round = 0; round < 5; round++) {
        await cluster.kubectl(["annotate", "llsd", "my", `example.com/round=${Date.now()}`, "--overwrite"]);
        await aMoment();
      }
    };
    try {
      await apply(cluster, manifest(withModels(1)));
      await settled(cluster, "my", 1);
      ok((await image(cluster)).startsWith("mirror.example/"), await image(cluster));
      await t.step("nothing is written in further reconciliations", () => quiet("woken", woken));
      await t.step("nor after a restart of the operator", () =>
        quiet("restarted", async () => {
          await running.stop();
          running = await start();
          await aWhile();
          await woken();
        }));
      await t.step("the status names the fields, without values", async () => {
        const found = condition(await read(cluster, `${RESOURCES}/my`), "ChangedByPolicy");
        const message = stringAt(found, "message") ?? "";
        strictEqual(stringAt(found, "status"), "True");
        ok(message.includes("Deployment my: spec.template.spec.containers[llama-stack].image"), message);
        ok(message.includes('Service my-service: metadata.labels["app.kubernetes.io/part-of"]'), message);
        ok(!message.includes("mirror.example") && !message.includes("platform"), message);
      });
      await t.step("an edit goes through, with one Event and nothing afterwards", async () => {
        await apply(cluster, manifest(withModels(2)));
        await settled(cluster, "my", 2);
        await quiet("edited", woken);
      });
      await t.step("an edit by another manager of the same field is still repaired, once", async () => {
        const before = await image(cluster);
        await cluster.kubectl(["set", "image", "deployment/my", "llama-stack=mirror.example/by-hand"]);
        await eventually("it is repaired", async () => await image(cluster) === before || undefined);
        // The pods of a repaired template are replaced, which the status reports.
        await eventually("it is settled", async () => {
          await unchanged(door.writes);
          return await isSettled(cluster, "my", 2);
        });
        await quiet("repaired", woken);
      });
      await t.step("a removed label is restored", async () => {
        await cluster.kubectl(["label", "deployment", "my", "app.kubernetes.io/part-of-"]);
        await eventually(
          "it is there",
          async () =>
            stringAt(await read(cluster, DEPLOYMENT), "metadata", "labels", "app.kubernetes.io/part-of") ===
              "llama-stack" || undefined,
        );
      });
      await t.step(
        "an object that the API server does not let go is reported, and the edit is carried out",
        async () => {
          const restricted = { ...withModels(2), networking: { allowedFrom: { namespaces: ["apps"] } } };
          await apply(cluster, manifest(restricted));
          await settled(cluster, "my", 2);
          const policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
          strictEqual(stringAt(await read(cluster, `${policies}/my-network-policy`), "kind"), "NetworkPolicy");
          const letGo = await refuseNetworkPolicies(cluster, "DELETE");
          await apply(cluster, manifest(withModels(3)));
          const refused = await eventually("the status says so", async () => {
            const found = condition(await read(cluster, `${RESOURCES}/my`), "ObjectRefused");
            return stringAt(found, "status") === "True" ? found : undefined;
          });
          strictEqual(stringAt(refused, "reason"), "DeletionRefused");
          ok((stringAt(refused, "message") ?? "").includes("network rules are kept for the audit"));
          await settled(cluster, "my", 3);
          await letGo();
          await eventually(
            "it is deleted",
            async () =>
              !(await list(cluster, policies)).some((one) =>
                stringAt(one, "metadata", "name") === "my-network-policy"
              ) ||
              undefined,
          );
          await eventually(
            "the condition is gone",
            async () => condition(await read(cluster, `${RESOURCES}/my`), "ObjectRefused") === undefined || undefined,
          );
        },
      );
      await t.step("a refused number of pods is reported beside the error of the resource, and set later", async () => {
        const spec = { ...withModels(3), workload: { replicas: 3 } };
        const unfreeze = await refuseScaling(cluster, "my");
        await apply(cluster, manifest({ ...spec, distribution: { name: "unknown" } }));
        await eventually("the status says both", async () => {
          const resource = await read(cluster, `${RESOURCES}/my`);
          const message = (type: string) => stringAt(condition(resource, type), "message") ?? "";
          return message("ConfigGenerated").includes("unknown") &&
              message("DeploymentUpdated").includes("the number of pods is frozen") || undefined;
        });
        await unfreeze();
        await eventually(
          "there are three pods",
          async () => at(await read(cluster, DEPLOYMENT), "spec", "replicas") === 3 || undefined,
        );
        await apply(cluster, manifest(withModels(3)));
        await settled(cluster, "my", 3);
      });
      await t.step("a server that believes its gateway starts when its NetworkPolicy may be made", async () => {
        const allow = await refuseNetworkPolicies(cluster, "CREATE");
        const spec = {
          distribution: { name: "ogx-starter" },
          auth: { upstreamHeader: { principalHeader: "x-user" } },
          networking: { allowedFrom: { namespaces: ["gateway"] } },
        };
        await apply(cluster, manifest(spec, "guarded"));
        await eventually("the status says so", async () => {
          const found = condition(await read(cluster, `${RESOURCES}/guarded`), "DeploymentUpdated");
          return (stringAt(found, "message") ?? "").includes("network rules are kept for the audit") || undefined;
        });
        const deployments = async () =>
          (await list(cluster, "/apis/apps/v1/namespaces/default/deployments"))
            .map((one) => stringAt(one, "metadata", "name"));
        ok(!(await deployments()).includes("guarded"));
        await allow();
        await eventually("it starts", async () => (await deployments()).includes("guarded") || undefined);
      });
      await t.step(
        "a Deployment that loses its annotations is written ever more rarely, and its server is Ready",
        async () => {
          await apply(cluster, manifest(withModels(1), "bare"));
          const others = door.written().length;
          const contested = await eventually("the status says so", async () => {
            const found = condition(await read(cluster, `${RESOURCES}/bare`), "Contested");
            return stringAt(found, "status") === "True" ? found : undefined;
          });
          const message = stringAt(contested, "message") ?? "";
          ok(message.includes("Deployment bare (deleted, its annotations are removed, or"), message);
          await settled(cluster, "bare", 1);
          await unchanged(door.writes);
          const own = door.written().slice(others).filter((one) => one.endsWith("/deployments/bare"));
          ok(own.length < 20, `${own.length} writes`);
        },
      );
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await door.close();
    await cluster.stop();
  }
});
