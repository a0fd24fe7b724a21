import { DEFAULT_SURROUNDINGS } from "../config/default_surroundings.ts";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { secret } from "../../tests/given.ts";
import { after, converged, edited, OPERATOR, planned, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, objectAt, put } from "../data/json.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { liveEvent } from "../snapshot/live_event.ts";
import { providerLabelsIn } from "../image/provider_labels.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { ObjectRefused } from "../failure/failures.ts";
import { decide } from "../plan/decide.ts";
import { report } from "../report/report.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { WITHHELD } from "../data/redaction.ts";
import { explainCommand, explanationOf, type Seen } from "./explain.ts";
import { PLAIN } from "./outcome.ts";

const CANARY = "canary-of-a-secret";
const WITH_KEY: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("vllm", "token") }] },
};
const SECRETS = secretsOf({ "vllm": { token: CANARY } });
const NOW = Date.UTC(2026, 0, 1, 0, 1);

const seen = (of: ClusterSnapshot, more: Partial<Seen> = {}): Seen => ({
  resource: of.resource,
  planned: planned(of),
  pods: of.pods,
  events: [],
  nowMs: NOW,
  ...more,
});
const text = (item: Seen) => explainCommand(item, { format: "text", style: PLAIN }).stdout;

/** The snapshot after one reconciliation: the status is written. */
const told = (before: ClusterSnapshot): ClusterSnapshot => after(before, planOf(before));

Deno.test("explainCommand() reports a ready resource with its address and its models", () => {
  const { snapshot: ready } = converged(
    snapshot({ ...WITH_KEY, resources: { models: [{ name: "m" }] } }, { secrets: SECRETS }),
  );
  const words = text(seen(ready));
  ok(words.startsWith("my in namespace default is ready.\n"), words);
  ok(words.includes("inside the cluster: http://my-service.default.svc.cluster.local:8321\n  models: m\n"), words);
  ok(!words.includes("What to do"), words);
});

Deno.test("explainCommand() lists the warnings of a resource, ready or not, as those of an image that is gone", () => {
  const { snapshot: ready } = converged(
    snapshot(WITH_KEY, { secrets: SECRETS, operator: { ...OPERATOR, surroundings: DEFAULT_SURROUNDINGS } }),
  );
  const words = text(seen(ready));
  ok(
    /\nWarnings\n[^]*spec\.distribution\.name: image \S+:0\.7\.1 has not been published since 2026-06/.test(words),
    words,
  );
});

Deno.test("explainCommand() names a missing Secret with the command that makes it", () => {
  const words = text(seen(told(snapshot(WITH_KEY))));
  ok(words.startsWith("my in namespace default is not ready: SecretNotFound.\n"), words);
  ok(
    words.includes(
      'Why\n  Secret "vllm" not found in namespace "default"; referenced by spec.providers.inference[0].apiKey\n\n',
    ),
    words,
  );
  ok(words.includes("kubectl create secret generic vllm -n default --from-literal=token=…"), words);
});

Deno.test("explainCommand() reports a crash with what the end of the log means, without secrets", () => {
  const { snapshot: ready } = converged(snapshot(WITH_KEY, { secrets: SECRETS }));
  const key = liveKey("Deployment", "my");
  const live = new Map(ready.live);
  live.set(key, put(live.get(key) ?? {}, ["status", "availableReplicas"], 0));
  const podWhose = (container: JsonObject) =>
    livePod({
      metadata: { name: "my-1", namespace: "default" },
      status: {
        phase: "Running",
        containerStatuses: [{ name: "llama-stack", restartCount: 4, ...container }],
      },
    });
  const pods = [podWhose({
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 1, message: `bad token ${CANARY}\n` } },
  })];
  const words = text(seen(told({ ...ready, live, pods }), { pods }));
  ok(words.startsWith("my in namespace default is not ready: CrashLoop.\n"), words);
  ok(words.includes("exit code 1 after 4 restarts. See kubectl logs"), words);
  ok(words.includes("Pod my-1: Running, not ready, CrashLoopBackOff, 4 restarts"), words);
  ok(words.includes("kubectl logs my-1 -n default --previous"), words);
  ok(!words.includes(CANARY), words);
  const known = podWhose({
    state: {
      terminated: { exitCode: 1, message: `ValueError: Model ${CANARY} is not available from provider vllm\n` },
    },
  });
  const meant = text(seen(told({ ...ready, live, pods: [known] }), { pods: [known] }));
  ok(meant.includes('(ValueError) after 4 restarts: the service behind the provider "vllm" does not have'), meant);
  ok(!meant.includes(CANARY), meant);
});

Deno.test("explainCommand() reports a provider that failed in a pod beside one whose labels do not fit", () => {
  const [one, two] = ["registry.example.com/one:1", "registry.example.com/two:1"];
  const externalProviders = {
    inference: [{ providerId: "one", image: one }],
    eval: [{ providerId: "two", image: two }],
  };
  const { snapshot: ready } = converged(snapshot({ externalProviders }));
  const pods = [livePod({
    metadata: { name: "my-1", namespace: "default" },
    status: {
      initContainerStatuses: [
        { name: "install-provider-one", state: { terminated: { exitCode: 0 } } },
        { name: "install-provider-two", state: { terminated: { exitCode: 1 } } },
      ],
    },
  })];
  const description =
    'apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nmetadata: {name: a, version: "1", vendor: v}\n' +
    'spec: {packageName: a, providerType: "remote::a", api: safety}\n';
  const labels = providerLabelsIn({
    "io.llamastack.provider.description": new TextEncoder().encode(description).toBase64(),
  });
  const surroundings = {
    ...OPERATOR.surroundings,
    providerLabels: ({ image }: { readonly image: string }) => image === one ? labels : undefined,
  };
  const { why: causes, next } = explanationOf(seen(told({ ...ready, pods, operator: { ...OPERATOR, surroundings } })));
  strictEqual(causes.length, 2);
  match(causes[0] ?? "", /"one" .* according to its labels/);
  match(causes[1] ?? "", /^External provider "two" .*exit code 1/);
  ok(next.some(({ command }) => command === "kubectl logs my-1 -n default --all-containers --prefix"));
});

Deno.test("explainCommand() reports that a failed edit leaves the server running", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const broken = told(edited(ready, { providers: { inference: [{ provider: "nope" }] } }));
  const words = text(seen(broken));
  ok(words.includes("is not ready: UnknownProvider. The previous revision is still serving."), words);
  ok(words.includes("kubectl edit llsd my -n default"), words);
});

Deno.test("explainCommand() reports a rejection by the API server, the advice, and the running config", () => {
  const { snapshot: ready } = converged(snapshot({ resources: { models: [{ name: "m" }] } }));
  const config = deploymentIn(ready)?.config ?? "none";
  const changed = edited(ready, { resources: { models: [{ name: "m" }, { name: "n" }] } });
  const refusal = new ObjectRefused({
    setBy: [],
    path: ["metadata"],
    kind: "ConfigMap",
    name: "my-config-0123abcd",
    detail: "exceeded quota: cq",
    blocks: true,
  });
  const { steps } = report(changed, decide(changed), { live: changed.live, rejectedWrites: [refusal] });
  const status = steps.find((step) => step._tag === "SetStatus")?.status;
  strictEqual(status?.configGeneration?.configMapName, config);
  const resource = put(changed.resource, ["status"], status as unknown as JsonObject);
  const words = text(seen({ ...changed, resource }));
  ok(words.includes("exceeded quota: cq"), words);
  ok(words.includes(`with config ${config}:`), words);
  ok(words.includes("kubectl get resourcequota,limitrange -n default"), words);
});

Deno.test("explainCommand() shows why a ready server lacks an object beside the advice about it", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const refusal = new ObjectRefused({
    setBy: [],
    path: ["metadata"],
    kind: "PodDisruptionBudget",
    name: "my-pdb",
    detail: "exceeded quota: cq",
    blocks: false,
  });
  const { steps } = report(ready, decide(ready), { live: ready.live, rejectedWrites: [refusal] });
  const status = steps.find((step) => step._tag === "SetStatus")?.status;
  const words = text(seen({ ...ready, resource: put(ready.resource, ["status"], status as unknown as JsonObject) }));
  ok(words.includes("is ready."), words);
  ok(words.includes("quota, policy or webhook that the message names"), words);
  match(words, /Problems\n.*The API server rejected PodDisruptionBudget "my-pdb": exceeded quota: cq/);
  ok(!text(seen(ready)).includes("Problems"));
});

Deno.test("explainCommand() reports a server without its Service as unreachable", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const broken = told(edited(ready, { providers: { inference: [{ provider: "nope" }] } }));
  const live = new Map([...broken.live].filter(([key]) => !key.startsWith("Service/")));
  const words = text(seen({ ...broken, live }));
  ok(!words.includes("still serving"), words);
  ok(words.includes("Service my-service not found"), words);
});

Deno.test("explainCommand() reports an edit that has not been reconciled", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const words = text(seen(edited(ready, { workload: { replicas: 2 } })));
  ok(words.includes("was edited and has not been reconciled since (generation 2, reconciled: 1)"), words);
  ok(words.includes("kubectl get lease -A"), words);
  strictEqual(explanationOf(seen(snapshot({}))).reason, "NotSeen");
});

Deno.test("explainCommand() shows Events, the newest first", () => {
  const event = (reason: string, seconds: number) =>
    liveEvent({
      type: "Warning",
      reason,
      message: `words with ${CANARY}`,
      lastTimestamp: new Date(NOW - seconds * 1000).toISOString(),
      count: 3,
      involvedObject: { kind: "ReplicaSet", name: "my-abc" },
    });
  const waiting = told(snapshot(WITH_KEY, { secrets: secretsOf({ "vllm": { other: CANARY } }) }));
  const { happened } = explanationOf(seen(waiting, { events: [event("Old", 90), event("FailedCreate", 5)] }));
  deepStrictEqual(happened.slice(1), [
    `5 s ago ReplicaSet my-abc: ${WITHHELD} (3 times)`,
    `90 s ago ReplicaSet my-abc: ${WITHHELD} (3 times)`,
  ]);
});

Deno.test("explainCommand() uses the status alone without permission to read more", () => {
  const item = seen(told(snapshot(WITH_KEY)), { planned: undefined });
  const { why, next } = explanationOf(item);
  deepStrictEqual(why, [
    'Secret "vllm" not found in namespace "default"; referenced by spec.providers.inference[0].apiKey',
  ]);
  ok(next.length > 0);
});

Deno.test("explainCommand() reports a suspended and a deleted resource", () => {
  const { snapshot: ready } = converged(snapshot({}));
  const suspended = told(edited(ready, { suspend: true }));
  ok(text(seen(suspended)).includes('-p \'{"spec":{"suspend":false}}\''), text(seen(suspended)));
  const metadata = {
    ...objectAt(ready.resource, "metadata"),
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: ["a/b"],
  };
  const going = text(seen({ ...ready, resource: { ...ready.resource, metadata } }));
  ok(going.includes("is being deleted; waiting for the finalizers a/b."), going);
});

Deno.test("explainCommand() prints one JSON object with stable keys for scripts", () => {
  const { stdout } = explainCommand(seen(told(snapshot(WITH_KEY))), { format: "json", style: PLAIN });
  deepStrictEqual(Object.keys(JSON.parse(stdout)), [
    "name",
    "namespace",
    "ready",
    "reason",
    "summary",
    "phase",
    "why",
    "happened",
    "warnings",
    "next",
    "serviceURL",
    "routeURL",
    "models",
  ]);
});

const NOT_READY = { status: { availableReplicas: 0, updatedReplicas: 1, observedGeneration: 1, replicas: 1 } };
const podWith = (status: JsonObject): JsonObject => ({ metadata: { name: "my-1", namespace: "default" }, status });
const container = (more: JsonObject): JsonObject =>
  podWith({ phase: "Pending", containerStatuses: [{ name: "llama-stack", image: "i", restartCount: 1, ...more }] });

/** A server that ran, whose pod is in this state now. */
const withPod = (pod: JsonObject): ClusterSnapshot => {
  const { snapshot: ready } = converged(snapshot({}));
  const key = liveKey("Deployment", "my");
  const live = new Map(ready.live).set(key, { ...ready.live.get(key), ...NOT_READY });
  return told({ ...ready, live, pods: [livePod(pod)] });
};
const broken = (spec: JsonObject, more: Partial<ClusterSnapshot> = {}): ClusterSnapshot => told(snapshot(spec, more));
const foreign = (kind: string, name: string) =>
  new Map([[liveKey(kind, name), { kind, metadata: { name } } as JsonObject]]);

for (
  const [reason, name, make, command] of [
    [
      "SecretNotFound",
      "a missing certificate",
      () => broken({ networking: { tls: { enabled: true, secretName: "tls" } } }),
      "kubectl create secret tls tls -n default --cert=… --key=…",
    ],
    ["SecretNotFound", "a missing Secret", () => broken(WITH_KEY), "kubectl create secret generic vllm"],
    [
      "SecretKeyMissing",
      "a missing key",
      () => broken(WITH_KEY, { secrets: secretsOf({ "vllm": {} }) }),
      `kubectl patch secret vllm -n default -p '{"stringData":{"token":"…"}}'`,
    ],
    [
      "ConfigMapNotFound",
      "a missing ConfigMap",
      () => broken({ overrideConfig: { configMapName: "mine" } }),
      "kubectl create configmap mine -n default --from-file=config.yaml=…",
    ],
    [
      "ConfigMapKeyMissing",
      "a missing key of a ConfigMap",
      () =>
        broken({ overrideConfig: { configMapName: "mine" } }, {
          configMaps: new Map([["default/mine", { data: {}, binaryData: {} }]]),
        }),
      "kubectl edit configmap mine -n default",
    ],
    [
      "OverrideConfigInvalid",
      "an own config that is no YAML",
      () =>
        broken({ overrideConfig: { configMapName: "mine" } }, {
          configMaps: new Map([["default/mine", { data: { "config.yaml": "a: [" }, binaryData: {} }]]),
        }),
      "kubectl edit configmap mine -n default",
    ],
    [
      "SecretValueUnusable",
      "a connection string that is none",
      () =>
        broken({ storage: { sql: { type: "postgres", connectionString: secret("pg", "url") } } }, {
          secrets: secretsOf({ "pg": { url: "nonsense" } }),
        }),
      "kubectl edit secret pg -n default",
    ],
    [
      "UnknownProvider",
      "a provider that no server has",
      () => broken({ providers: { inference: [{ provider: "nope" }] } }),
      "kubectl edit llsd my -n default",
    ],
    [
      "UnknownDistribution",
      "a distribution that nobody knows",
      () => broken({ distribution: { name: "nope" } }),
      "kubectl edit llsd my -n default",
    ],
    [
      "OwnershipConflict",
      "a Deployment of somebody else",
      () => broken({}, { live: foreign("Deployment", "my") }),
      "kubectl get deployment my -n default -o yaml",
    ],
    [
      "ImagePullFailed",
      "an image that cannot be pulled",
      () => withPod(container({ state: { waiting: { reason: "ImagePullBackOff", message: "not found" } } })),
      "kubectl describe pod my-1 -n default",
    ],
    [
      "CrashLoop",
      "a container that runs out of memory",
      () => withPod(container({ lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } })),
      "kubectl logs my-1 -n default --previous",
    ],
    [
      "CrashLoop",
      "a container that cannot be made",
      () => withPod(container({ state: { waiting: { reason: "CreateContainerConfigError", message: "no key" } } })),
      "kubectl logs my-1 -n default --previous",
    ],
    [
      "Unschedulable",
      "a pod that no node takes",
      () => withPod(podWith({ conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes" }] })),
      "kubectl describe pod my-1 -n default",
    ],
    [
      "RolloutInProgress",
      "a pod that is starting",
      () => withPod(container({ state: { running: {} } })),
      "kubectl logs my-1 -n default --follow",
    ],
    [
      "ScaledToZero",
      "no pods asked for",
      () => converged(snapshot({ workload: { replicas: 0 } })).snapshot,
      "kubectl scale llsd my -n default --replicas=1",
    ],
    ["Suspended", "a suspended resource", () => broken({ suspend: true }), "kubectl patch llsd my -n default"],
  ] as const
) {
  Deno.test(`explainCommand() answers ${name} with ${reason} and a next step`, () => {
    const of = make();
    const told = explanationOf(seen(of));
    strictEqual(told.reason, reason, JSON.stringify(told));
    ok(told.why.length > 0);
    ok(told.next.some((advice) => advice.command?.startsWith(command) === true), JSON.stringify(told.next));
  });
}
