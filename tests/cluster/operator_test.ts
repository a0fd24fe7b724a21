/** The whole operator on a real API server with simulated nodes: observe, decide, perform, report. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { apply, RESOURCES } from "./settled.ts";
import { eventually, stays, unchanged } from "../waiting.ts";

const read = async (cluster: ControlPlane, path: string): Promise<JsonObject | undefined> => {
  const answer = await cluster.fetch(path);
  const body = await answer.json() as JsonObject;
  return answer.ok ? body : undefined;
};

const condition = (resource: Json | undefined, type: string): string | undefined => {
  const found = listAt(resource, "status", "conditions").find((value) => stringAt(value, "type") === type);
  return found === undefined ? undefined : `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};

const resourceWhen = (cluster: ControlPlane, name: string, type: string, want: string) => {
  let last: string | undefined;
  return eventually(`${name} ${type}=${want}`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    last = condition(resource, type);
    return last === want ? resource : undefined;
  }).catch((error) => Promise.reject(new Error(`${error.message}; last seen: ${last}`)));
};

const versions = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const kinds = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/services",
    "/api/v1/namespaces/default/secrets",
    "/apis/apps/v1/namespaces/default/deployments",
    RESOURCES,
  ];
  const lists = await Promise.all(kinds.map((path) => read(cluster, path)));
  return lists.flatMap((list) =>
    listAt(list, "items").map((item) =>
      `${stringAt(item, "metadata", "name")} ${stringAt(item, "metadata", "resourceVersion")}`
    )
  ).sort();
};

const WITH_KEY: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("vllm", "token") }] },
};
const SECRET: JsonObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "vllm" },
  data: { token: btoa("one-value") },
};

Deno.test("the operator on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    const running = await startOperator(cluster);
    try {
      await t.step("waits for a missing Secret, reports it once, and creates nothing", async () => {
        await apply(cluster, manifest(WITH_KEY, "one"));
        const waiting = await resourceWhen(cluster, "one", "SecretsResolved", "False SecretNotFound");
        strictEqual(at(waiting, "status", "phase"), "Failed");
        strictEqual(await read(cluster, "/apis/apps/v1/namespaces/default/deployments/one"), undefined);
        const events = await read(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
        strictEqual(
          listAt(events, "items").filter((item) => stringAt(item, "reason") === "SecretResolutionFailed").length,
          1,
        );
      });

      await t.step("continues when the Secret appears, until the server is Ready", async () => {
        await apply(cluster, SECRET);
        const ready = await resourceWhen(cluster, "one", "Ready", "True Ready");
        strictEqual(at(ready, "status", "phase"), "Ready");
        strictEqual(at(ready, "status", "serviceURL"), "http://one-service.default.svc.cluster.local:8321");
        const deployment = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/one");
        strictEqual(
          at(listAt(deployment, "spec", "template", "spec", "containers")[0], "image"),
          "docker.io/llamastack/distribution-starter:0.7.1",
        );
      });

      await t.step(
        "gives variables to the pod in the order of the author, also after an edit of the order",
        async () => {
          for (const order of [["ZONE", "ADDRESS", "B"], ["B", "ZONE", "ADDRESS"]]) {
            const env = order.map((name) => ({ name, value: name === "ADDRESS" ? "$(ZONE).example.com" : "x" }));
            await apply(cluster, manifest({ ...WITH_KEY, workload: { overrides: { env } } }, "one"));
            await eventually(`the order ${order}`, async () => {
              const deployment = await read(cluster, "/apis/apps/v1/namespaces/default/deployments/one");
              const [container] = listAt(deployment, "spec", "template", "spec", "containers");
              const names = listAt(container, "env").map((item) => stringAt(item, "name"));
              return names.slice(-3).join() === order.join() ? true : undefined;
            });
          }
          await apply(cluster, manifest(WITH_KEY, "one"));
          await resourceWhen(cluster, "one", "Ready", "True Ready");
        },
      );

      await t.step("writes nothing while nothing changes", async () => {
        await unchanged(() => versions(cluster));
        await stays(() => versions(cluster), { times: 2 });
      });

      await t.step("keeps the Deployment byte for byte when an edit fails, and recovers", async () => {
        const template = async () =>
          JSON.stringify(
            at(await read(cluster, "/apis/apps/v1/namespaces/default/deployments/one"), "spec", "template"),
          );
        const before = await template();
        await apply(cluster, manifest({ providers: { inference: [{ provider: "nope" }] } }, "one"));
        const failed = await resourceWhen(cluster, "one", "ConfigGenerated", "False UnknownProvider");
        strictEqual(at(failed, "status", "phase"), "Ready");
        strictEqual(await template(), before);
        await apply(cluster, manifest({ ...WITH_KEY, resources: { models: [{ name: "m" }] } }, "one"));
        await resourceWhen(cluster, "one", "Ready", "True Ready");
        ok(await template() !== before);
      });

      await t.step("restarts pods when a referenced key is rotated, whatever labels its Secret carries", async () => {
        const digest = async () =>
          stringAt(
            await read(cluster, "/apis/apps/v1/namespaces/default/deployments/one"),
            "spec",
            "template",
            "metadata",
            "annotations",
            "llamastack.io/secrets-digest",
          );
        // Objects with the operator's label are reported by another watch than those without.
        const labels = { "app.kubernetes.io/managed-by": "llama-stack-operator" };
        const seen = [await digest()];
        for (
          const [value, metadata] of [
            ["other-value", SECRET.metadata],
            ["third-value", { name: "vllm", labels }],
            ["fourth-value", { name: "vllm", labels }],
            ["fifth-value", SECRET.metadata],
          ] as const
        ) {
          await apply(cluster, { ...SECRET, metadata: metadata ?? {}, data: { token: btoa(value) } });
          seen.push(
            await eventually(`another digest for ${value}`, async () => {
              const now = await digest();
              return now === seen.at(-1) ? undefined : now;
            }),
          );
        }
        strictEqual(new Set(seen).size, seen.length);
      });

      await t.step("restores a deleted Service", async () => {
        await cluster.kubectl(["delete", "service", "one-service", "-n", "default"]);
        await eventually("the Service", () => read(cluster, "/api/v1/namespaces/default/services/one-service"));
      });

      await t.step("never changes an object of another owner", async () => {
        await apply(cluster, {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "two-service" },
          spec: { ports: [{ port: 1 }] },
        });
        await apply(cluster, manifest({}, "two"));
        await resourceWhen(cluster, "two", "ServiceReady", "False OwnershipConflict");
        const service = await read(cluster, "/api/v1/namespaces/default/services/two-service");
        strictEqual(at(listAt(service, "spec", "ports")[0], "port"), 1);
      });

      await t.step("leaves a claim unchanged that another owner created under its name", async () => {
        const claim = {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "five-pvc" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "7Gi" } } },
        };
        await apply(cluster, claim);
        const path = "/api/v1/namespaces/default/persistentvolumeclaims/five-pvc";
        await apply(cluster, manifest({ workload: { storage: { size: "1Gi" } } }, "five"));
        await resourceWhen(cluster, "five", "StorageReady", "False OwnershipConflict");
        const after = await read(cluster, path);
        strictEqual(at(after, "spec", "resources", "requests", "storage"), "7Gi");
        strictEqual(
          listAt(after, "metadata", "managedFields").some((managedField) =>
            stringAt(managedField, "manager") === "llama-stack-operator"
          ),
          false,
        );
        strictEqual(await read(cluster, "/apis/apps/v1/namespaces/default/deployments/five"), undefined);
      });

      await t.step("creates nothing if the Deployment belongs to another owner", async () => {
        await apply(cluster, {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "six" },
          spec: {
            replicas: 0,
            selector: { matchLabels: { a: "b" } },
            template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "x", image: "x" }] } },
          },
        });
        await apply(cluster, manifest({}, "six"));
        await resourceWhen(cluster, "six", "DeploymentUpdated", "False OwnershipConflict");
        strictEqual(await read(cluster, "/api/v1/namespaces/default/serviceaccounts/six-sa"), undefined);
        // Reconciliation continues when the name is free.
        await cluster.kubectl(["delete", "deployment", "six", "-n", "default"]);
        await eventually(
          "the ServiceAccount",
          () => read(cluster, "/api/v1/namespaces/default/serviceaccounts/six-sa"),
        );
      });

      await t.step(
        "stops before the Deployment if the API server rejects a prerequisite, and continues later",
        async () => {
          await cluster.kubectl(["create", "namespace", "tight"]);
          const quota = {
            apiVersion: "v1",
            kind: "ResourceQuota",
            metadata: { name: "q", namespace: "tight" },
            spec: { hard: { "count/configmaps": "1" } },
          };
          await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(quota));
          await eventually("the quota counts", async () => {
            const found = await read(cluster, "/api/v1/namespaces/tight/resourcequotas/q");
            return at(found, "status", "used", "count/configmaps") === "1" ? true : undefined;
          });
          const resource = manifest({ storage: { kv: {} } }, "four");
          await cluster.kubectl(
            ["apply", "-f", "-"],
            JSON.stringify({ ...resource, metadata: { name: "four", namespace: "tight" } }),
          );
          const path = RESOURCES.replace("default", "tight");
          const when = (type: string, want: string) =>
            eventually(`four ${type}=${want}`, async () => {
              const found = await read(cluster, `${path}/four`);
              return condition(found, type) === want ? found : undefined;
            });
          const refused = await when("DeploymentUpdated", "False DeploymentUpdateFailed");
          ok(JSON.stringify(refused.status).includes("exceeded quota"), JSON.stringify(refused.status));
          strictEqual(await read(cluster, "/apis/apps/v1/namespaces/tight/deployments/four"), undefined);
          await cluster.kubectl(["delete", "resourcequota", "q", "-n", "tight"]);
          await when("Ready", "True Ready");
        },
      );

      await t.step("deletes what it made with the resource, and keeps the claim", async () => {
        await apply(cluster, manifest({ workload: { storage: { size: "1Gi" } } }, "three"));
        await eventually(
          "the claim",
          () => read(cluster, "/api/v1/namespaces/default/persistentvolumeclaims/three-pvc"),
        );
        await eventually("the Deployment", () => read(cluster, "/apis/apps/v1/namespaces/default/deployments/three"));
        await cluster.kubectl(["delete", "llsd", "three", "-n", "default"]);
        await eventually(
          "no Deployment",
          async () =>
            await read(cluster, "/apis/apps/v1/namespaces/default/deployments/three") === undefined ? true : undefined,
        );
        const claim = await read(cluster, "/api/v1/namespaces/default/persistentvolumeclaims/three-pvc");
        // The garbage collector may be about to delete what has an owner.
        ok(claim !== undefined);
        deepStrictEqual(listAt(claim, "metadata", "ownerReferences"), []);
      });
    } finally {
      await running.stop();
    }
  } finally {
    await cluster.stop();
  }
});
