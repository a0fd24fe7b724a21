import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { KUBECTL_LIMIT } from "../waiting.ts";

Deno.test("startControlPlane() starts a real API server that supports server-side apply", async () => {
  const controlPlane = await startControlPlane();
  try {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "here" } };
    const configMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "here" },
      data: { key: "value" },
    };
    for (const manifest of [namespace, configMap]) {
      await controlPlane.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(manifest));
    }
    const response = await controlPlane.fetch("/api/v1/namespaces/here/configmaps/settings");
    const stored = await response.json();
    deepStrictEqual(stored.data, { key: "value" });
    strictEqual(stored.metadata.managedFields[0].operation, "Apply");
    strictEqual((await (await controlPlane.fetch("/version")).json()).major, "1");
    await rejects(controlPlane.kubectl(["get", "configmap", "absent"]), /exited with 1: .*"absent" not found/);
  } finally {
    await controlPlane.stop();
  }
});

Deno.test("startControlPlane() with a simulated node runs a pod that claims a volume", async () => {
  const controlPlane = await startControlPlane({ node: "Scheduled" });
  try {
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    const labels = { app: "server" };
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "server", namespace: "default" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [{
              name: "server",
              image: "none",
              resources: { requests: { cpu: "1" } },
              volumeMounts: [{ name: "data", mountPath: "/data" }],
            }],
            volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
          },
        },
      },
    };
    const manifests = manifestList([claim, deployment]);
    await controlPlane.kubectl(["apply", "--server-side", "-f", "-"], manifests);
    match(
      await controlPlane.kubectl(["rollout", "status", "deployment/server", KUBECTL_LIMIT]),
      /successfully rolled out/,
    );
  } finally {
    await controlPlane.stop();
  }
});
