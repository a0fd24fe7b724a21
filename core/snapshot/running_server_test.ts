import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { converged, edited, OPERATOR, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { templateSpec } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "./cluster_snapshot.ts";
import { liveDeployment } from "./live_deployment.ts";
import { runningServer } from "./running_server.ts";

const VLLM = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const IMAGE = "docker.io/ogxai/distribution-starter:1.4.1";
const BY_NAME: JsonObject = { distribution: { name: "starter" } };
const on = (distribution: JsonObject, storage: JsonObject | undefined, more: JsonObject = {}): JsonObject => ({
  ...distribution,
  workload: { replicas: 1, ...(storage === undefined ? {} : { storage }), ...more },
});
const folderIn = ({ live }: ClusterSnapshot) => {
  const [container] = listAt(templateSpec(live.get("Deployment/my")), "containers");
  return stringAt(listAt(container, "env").find((item) => stringAt(item, "name") === "SQLITE_STORE_DIR"), "value");
};
const after = (...specs: ReadonlyArray<JsonObject>) =>
  specs.slice(1).reduce(
    (state, spec) => converged(edited(state, spec)).snapshot,
    converged(snapshot(specs[0] ?? {}, { operator: OPERATOR })).snapshot,
  );

Deno.test("the same image has the same data folder by name and by image, also from a mirror", () => {
  for (const image of [IMAGE, "mirror.example.com/x/ogxai/distribution-starter:1.4.1"]) {
    strictEqual(folderIn(after({ distribution: { image } })), "/.llama/distributions/starter");
  }
  strictEqual(folderIn(after(BY_NAME)), "/.llama/distributions/starter");
  strictEqual(folderIn(after({ distribution: { image: "example.com/own:1" } })), "/.llama/distributions/image");
});

Deno.test("a server with a claim keeps its data folder, whatever its image is called afterwards", () => {
  const claim = { size: "20Gi" };
  const own = { distribution: { image: "example.com/own:1", serverVersion: "1.4.1" } };
  const named = on(BY_NAME, claim);
  strictEqual(folderIn(after(named, on(own, claim))), "/.llama/distributions/starter");
  strictEqual(folderIn(after(on(own, claim), named)), "/.llama/distributions/image");
  // In the config as well, and below another mount.
  const moved = after(on(own, claim), on({ ...BY_NAME, ...VLLM }, { ...claim, mountPath: "/data/" }));
  strictEqual(folderIn(moved), "/data/distributions/image");
  const [config] = moved.configs;
  deepStrictEqual(JSON.stringify(config?.data ?? "").includes("/data/distributions/starter"), false);
});

Deno.test("a server without a claim, or with another one, has the folder of its image", () => {
  const own = { distribution: { image: "example.com/own:1", serverVersion: "1.4.1" } };
  strictEqual(folderIn(after(on(own, undefined), on(BY_NAME, undefined))), "/.llama/distributions/starter");
  const other = after(on(own, { existingClaim: "a" }), on(BY_NAME, { existingClaim: "b" }));
  strictEqual(folderIn(other), "/.llama/distributions/starter");
});

Deno.test("a server of another operator without the variable keeps the folder that its base config names", () => {
  const image = "quay.io/example/distribution-remote-vllm:0.2.14";
  const folderOf = (mountPath: string, used = image, env: ReadonlyArray<JsonObject> = []) =>
    runningServer(
      { metadata: { name: "my" } },
      liveDeployment({
        spec: {
          template: {
            spec: {
              containers: [{ image: used, env, volumeMounts: [{ name: "data", mountPath }] }],
              volumes: [{ name: "data", persistentVolumeClaim: { claimName: "my-pvc" } }],
            },
          },
        },
      }),
    )?.dataFolder;
  strictEqual(folderOf("/.llama"), "distributions/remote-vllm");
  strictEqual(folderOf("/root/.llama/"), "distributions/remote-vllm");
  strictEqual(folderOf("/data"), undefined);
  strictEqual(folderOf("/.llama", "quay.io/example/server:1"), undefined);
  // Where a variable comes from elsewhere, nothing is known.
  strictEqual(folderOf("/.llama", image, [{ name: "SQLITE_STORE_DIR", valueFrom: {} }]), undefined);
});

Deno.test("a folder that the author sets outside of the claim is not kept", () => {
  const env = (value: string) => ({ overrides: { env: [{ name: "SQLITE_STORE_DIR", value }] } });
  const claim = { size: "1Gi" };
  for (const value of ["/elsewhere/x", "/.llama/../x", "/.llama/$(A)"]) {
    strictEqual(folderIn(after(on(BY_NAME, claim, env(value)), on(BY_NAME, claim))), "/.llama/distributions/starter");
  }
  strictEqual(folderIn(after(on(BY_NAME, claim, env("/.llama/mine")), on(BY_NAME, claim))), "/.llama/mine");
});

Deno.test("a server whose Deployment is deleted is known from its status, if its pods were ever available", () => {
  const resource = (available: string, image = "docker.io/llamastack/distribution-starter:0.7.1"): JsonObject => ({
    metadata: { name: "my" },
    status: {
      resolvedDistribution: { image },
      distributionConfig: { activeDistribution: "starter" },
      conditions: [{
        type: "Available",
        status: available,
        reason: "Any",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      }],
    },
  });
  deepStrictEqual(runningServer(resource("True"), undefined), {
    image: "docker.io/llamastack/distribution-starter:0.7.1",
    serverVersion: "0.7.1",
    distribution: "starter",
  });
  strictEqual(runningServer(resource("False"), undefined), undefined);
  strictEqual(runningServer(resource("True", "example.com/own:1"), undefined), undefined);
  strictEqual(runningServer({ metadata: { name: "my" } }, undefined), undefined);
});
