import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { converted } from "../api/convert.ts";
import { after, converged, planOf, snapshot, UID } from "../../tests/snapshots.ts";
import { listAt, objectAt, put, stringAt } from "../data/json.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { liveReplicaSet } from "../snapshot/live_replica_set.ts";

const KEY = liveKey("Deployment", "my");
const REVISION = "deployment.kubernetes.io/revision";

/** A Deployment of four pods in the middle of a rollout; `fresh` pods of its new template are ready. */
const rollingOut = (available: number, fresh: number): ClusterSnapshot => {
  const before = converged(snapshot({ workload: { replicas: 4 } })).snapshot;
  const deployment = before.live.get(KEY) ?? {};
  const counted = put(deployment, ["status"], {
    ...objectAt(deployment, "status"),
    replicas: 5,
    updatedReplicas: 2,
    availableReplicas: available,
  });
  const marked = put(counted, ["metadata", "annotations", REVISION], "2");
  // What was ready once is another template.
  const live = new Map([...before.live, [
    KEY,
    put(marked, ["metadata", "annotations", "llamastack.io/last-good-template"], undefined),
  ]]);
  const pod = (index: number) =>
    livePod({
      metadata: { name: `my-${index}`, labels: { "pod-template-hash": "new" } },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
  return {
    ...before,
    live,
    replicaSets: [
      liveReplicaSet({ metadata: { annotations: { [REVISION]: "2" }, labels: { "pod-template-hash": "new" } } }),
    ],
    pods: Array.from({ length: fresh }, (_, index) => pod(index)),
  };
};

const status = (of: ClusterSnapshot) => objectAt(after(of, planOf(of)).resource, "status");
const told = (of: ClusterSnapshot, type: string) => {
  const found = listAt(status(of), "conditions").find((condition) => stringAt(condition, "type") === type);
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};

Deno.test("a rollout is Available with its first pod, and Ready with its last", () => {
  const half = rollingOut(4, 1);
  deepStrictEqual(
    [told(half, "Available"), told(half, "Ready"), told(half, "DeploymentReady"), status(half).phase],
    ["True MinimumReplicasAvailable", "False RolloutInProgress", "True MinimumReplicasAvailable", "Ready"],
  );
});

Deno.test("HealthCheck says why a server that authenticates its callers lists no models", () => {
  const of = { ...rollingOut(1, 1), server: { version: "1.5.0", providers: [], models: [] } };
  const messageOf = (seen: ClusterSnapshot) =>
    stringAt(listAt(status(seen), "conditions").find((one) => stringAt(one, "type") === "HealthCheck"), "message");
  strictEqual(messageOf(of), "The server reports version 1.5.0");
  const resource = put(of.resource, ["spec", "auth"], { webhook: { endpoint: "http://who" } });
  match(messageOf({ ...of, resource }) ?? "", /not listed: with spec\.auth/);
});

Deno.test("the phase stays Ready while pods of the former template serve", () => {
  const begun = rollingOut(4, 0);
  deepStrictEqual([told(begun, "Available"), status(begun).phase], ["False RolloutInProgress", "Ready"]);
  deepStrictEqual(status(rollingOut(0, 0)).phase, "Initializing");
});

Deno.test("pods of a Deployment of another owner do not count, and those beside a Service of another owner do", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const taken = (key: string) => {
    const object = objectAt(Object.fromEntries(ready.live), key);
    const metadata = { ...objectAt(object, "metadata"), labels: {}, ownerReferences: [], uid: "other" };
    const seen = { ...ready, live: new Map([...ready.live, [key, { ...object, metadata }] as const]) };
    const next = after(seen, planOf(seen));
    return [told(next, "Ready"), told(next, "Available"), status(next).phase];
  };
  deepStrictEqual(taken("Deployment/my"), ["False OwnershipConflict", "False ReplicasUnavailable", "Failed"]);
  deepStrictEqual(taken("Service/my-service"), ["False OwnershipConflict", "True MinimumReplicasAvailable", "Ready"]);
});

Deno.test("a server that is scaled to zero is Ready, and not Available", () => {
  const none = converged(snapshot({ workload: { replicas: 0 } })).snapshot;
  deepStrictEqual(
    [told(none, "Ready"), told(none, "Available"), status(none).phase],
    ["True ScaledToZero", "False ScaledToZero", "Ready"],
  );
});

Deno.test("the status names the distribution in use and those that there are", () => {
  const shown = objectAt(status(converged(snapshot({})).snapshot), "distributionConfig");
  strictEqual(shown.activeDistribution, "starter");
  strictEqual(stringAt(shown, "availableDistributions", "ogx-starter"), "docker.io/ogxai/distribution-starter:1.4.1");
});

Deno.test("the version of the config is a number", () => {
  const made = status(converged(snapshot({ storage: { kv: {} } })).snapshot);
  strictEqual(objectAt(made, "configGeneration").configVersion, 2);
});

Deno.test("the status warns of a container name of v1alpha1, which has no effect", () => {
  const old = {
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: { name: "my", namespace: "default", uid: UID },
    spec: { server: { distribution: { image: "example.com/own:1" }, containerSpec: { name: "server" } } },
  };
  const named = converted(old, "llamastack.io/v1alpha2");
  const { snapshot: reported } = converged({ ...snapshot({}), resource: named });
  const conditions = listAt(reported.resource, "status", "conditions");
  const message = stringAt(conditions.find((item) => stringAt(item, "type") === "ConfigGenerated"), "message");
  strictEqual(
    message,
    "Using the config built into the image. spec.server.containerSpec.name: the container is always called llama-stack; " +
      "adapt what refers to it",
  );
});

Deno.test("the status names the copy of an own config, and its hash", () => {
  const own = { data: { "config.yaml": "version: 2" }, binaryData: {} };
  const made = status(
    converged(
      snapshot({ overrideConfig: { configMapName: "own" } }, { configMaps: new Map([["default/own", own]]) }),
    ).snapshot,
  );
  const { configMapName, providerCount } = objectAt(made, "configGeneration");
  const { configHash } = objectAt(made, "resolvedDistribution");
  ok(/^my-config-[0-9a-f]{8}$/.test(String(configMapName)), String(configMapName));
  ok(String(configHash).startsWith(String(configMapName).slice(-8)), String(configHash));
  strictEqual(providerCount, undefined);
});

Deno.test("the status lists warnings of a server with the config of its image", () => {
  const made = status(converged(snapshot({ workload: { replicas: 2, storage: {} } })).snapshot);
  strictEqual(stringAt(made, "resolvedDistribution", "configSource"), "distribution-default");
  const warnings = listAt(objectAt(made, "configGeneration"), "warnings").join("\n");
  ok(warnings.includes("spec.workload.storage.accessMode"), warnings);
});

Deno.test("a resource that is being deleted says so, once, and nothing else of its status changes", () => {
  const { snapshot: before } = converged(snapshot({}));
  const resource = put(before.resource, ["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
  const { snapshot: going, passes } = converged({ ...before, resource });
  strictEqual(passes, 1);
  deepStrictEqual(status(going), { ...status(before), phase: "Terminating" });
});

Deno.test("the number of available pods is not less than those that are seen ready", () => {
  const shown = listAt(status(rollingOut(0, 1)), "conditions").find((item) => stringAt(item, "type") === "Available");
  strictEqual(stringAt(shown, "message"), "1/4 replicas available with current config");
});
