/** External providers on a real API server: what the status makes of the init containers of pods, and what keeps running. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { isObject, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, isObserved, list, read, ready, RESOURCES } from "./settled.ts";
import { aWhile, eventually, unchanged } from "../waiting.ts";

const PODS = "/api/v1/namespaces/default/pods";
const IMAGE = "registry.example.com/own:1";
const BEFORE: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] } };
const EXTERNAL: JsonObject = {
  ...BEFORE,
  externalProviders: { eval: [{ providerId: "own", image: IMAGE }] },
  resources: { models: [{ name: "m", provider: "vllm" }] },
};

const podsWith = async (cluster: ControlPlane, container: string) =>
  (await list(cluster, PODS)).filter(isObject).filter((pod) =>
    listAt(pod, "spec", "initContainers").some((item) => stringAt(item, "name") === container)
  );

/** As the kubelet would: the pods here are simulated, and know nothing of init containers. */
const report = async (cluster: ControlPlane, pod: JsonObject, initContainerStatuses: ReadonlyArray<JsonObject>) => {
  const answer = await cluster.fetch(`${PODS}/${stringAt(pod, "metadata", "name")}/status`, {
    method: "PATCH",
    headers: { "content-type": "application/strategic-merge-patch+json" },
    body: JSON.stringify({
      status: { initContainerStatuses, conditions: [{ type: "PodScheduled", status: "True" }] },
    }),
  });
  strictEqual(answer.status, 200, await answer.text());
};

const status = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  image: IMAGE,
  imageID: `${IMAGE}@sha256:1`,
  ready: false,
  restartCount: 0,
  state,
  ...more,
});
const ended = (exitCode: number, message: JsonObject): JsonObject => ({
  terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", message: JSON.stringify(message) },
});

const whenProvider = (cluster: ControlPlane, phase: string) =>
  eventually(`own is ${phase}`, async () => {
    const resource = await read(cluster, `${RESOURCES}/my`);
    const [state] = listAt(resource, "status", "externalProviders");
    return isObserved(resource) && stringAt(state, "phase") === phase ? resource : undefined;
  });

Deno.test("an external provider is installed or reported, and pods of the former template keep running meanwhile", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    const operator = await startOperator(cluster);
    try {
      await apply(cluster, manifest(BEFORE, "my"));
      await ready(cluster, "my");
      const [old] = (await list(cluster, PODS)).map((pod) => stringAt(pod, "metadata", "name"));

      // No node takes the new pod: its status is that of the test alone.
      const held = { ...EXTERNAL, workload: { overrides: { nodeSelector: { nowhere: "yes" } } } };
      await apply(cluster, manifest(held, "my"));
      await whenProvider(cluster, "Pending");
      const [pod] = await eventually("a pod with the provider", async () => {
        const found = await podsWith(cluster, "install-provider-own");
        return found.length > 0 ? found : undefined;
      });
      ok(pod !== undefined);
      const copied = status("install-provider-own", ended(0, {}), { ready: true });
      await report(cluster, pod, [copied, status("prepare-providers", { running: {} })]);
      await whenProvider(cluster, "Installing");
      const message = `External provider "own" (image ${IMAGE}): it requires llama-stack<0.7`;
      const failure = { ok: false, id: "own", reason: "ProviderServerMismatch", message };
      await report(cluster, pod, [
        copied,
        status("prepare-providers", { waiting: { reason: "CrashLoopBackOff" } }, { lastState: ended(1, failure) }),
      ]);
      const failed = await whenProvider(cluster, "Failed");
      deepStrictEqual(listAt(failed, "status", "externalProviders"), [{
        providerId: "own",
        image: IMAGE,
        imageID: `${IMAGE}@sha256:1`,
        phase: "Failed",
        reason: "ProviderServerMismatch",
        message,
      }]);
      strictEqual(stringAt(condition(failed, "ExternalProvidersReady"), "reason"), "ExternalProviderFailed");
      strictEqual(stringAt(condition(failed, "Ready"), "reason"), "ExternalProviderFailed");
      match(stringAt(condition(failed, "Available"), "message") ?? "", /it requires llama-stack<0\.7/);
      strictEqual(stringAt(failed, "status", "phase"), "Ready");
      ok((await list(cluster, PODS)).some((item) => stringAt(item, "metadata", "name") === old));
      const events = await list(cluster, "/apis/events.k8s.io/v1/namespaces/default/events");
      deepStrictEqual(
        events.filter((event) => stringAt(event, "reason") === "ExternalProviderFailed")
          .map((event) => stringAt(event, "note")),
        [message],
      );

      // The same failure once more is no news, and nothing is written.
      const version = async () => stringAt(await read(cluster, `${RESOURCES}/my`), "metadata", "resourceVersion");
      const written = await unchanged(version);
      const again = status("prepare-providers", { running: {} }, { restartCount: 2, lastState: ended(1, failure) });
      await report(cluster, pod, [copied, again]);
      await aWhile();
      strictEqual(await version(), written);

      await apply(cluster, manifest(EXTERNAL, "my"));
      await eventually("only pods of the last edit", async () => {
        const all = await list(cluster, PODS);
        const fresh = all.filter((item) => stringAt(item, "spec", "nodeSelector", "nowhere") === undefined);
        return all.length === 1 && fresh.length === 1 && stringAt(fresh[0], "metadata", "name") !== old
          ? true
          : undefined;
      });
      const [fresh] = await podsWith(cluster, "install-provider-own");
      ok(fresh !== undefined);
      const providers = [{ id: "own", version: "1.2", type: "remote::own" }];
      await report(cluster, fresh, [
        copied,
        status("prepare-providers", ended(0, { ok: true, providers, warnings: [] }), { ready: true }),
      ]);
      const installed = await whenProvider(cluster, "Ready");
      strictEqual(stringAt(listAt(installed, "status", "externalProviders")[0], "version"), "1.2");
      strictEqual(stringAt(condition(installed, "ExternalProvidersReady"), "status"), "True");
    } finally {
      await operator.stop();
    }
  } finally {
    await cluster.stop();
  }
});
