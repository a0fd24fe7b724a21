/** What must not happen to a healthy server: decisions on values, one test for each way in which it was disturbed once. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, converged, edited, type Plan, planOf, snapshot, UID } from "../../tests/snapshots.ts";
import { at, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { livePod } from "../snapshot/live_pod.ts";
import { type LiveReplicaSet, liveReplicaSet } from "../snapshot/live_replica_set.ts";

const GENERATED: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const onClaim = (storage: JsonObject): JsonObject => ({ ...GENERATED, workload: { replicas: 1, storage } });

const withLive = (
  clusterSnapshot: ClusterSnapshot,
  key: string,
  change: (object: JsonObject) => JsonObject,
): ClusterSnapshot => {
  const live = new Map(clusterSnapshot.live);
  live.set(key, change(live.get(key) ?? {}));
  return { ...clusterSnapshot, live };
};
const applied = (plan: Plan): ReadonlyArray<string> =>
  plan.steps.flatMap((step) => step._tag === "Apply" ? [step.manifest.kind] : []);
const events = (plan: Plan): ReadonlyArray<string> =>
  plan.steps.flatMap((step) => step._tag === "Announce" ? [step.note.reason] : []);
const condition = (clusterSnapshot: ClusterSnapshot, type: string): Json | undefined =>
  listAt(clusterSnapshot.resource.status, "conditions").find((found) => stringAt(found, "type") === type);
const word = (clusterSnapshot: ClusterSnapshot, type: string): string =>
  `${stringAt(condition(clusterSnapshot, type), "status")} ${stringAt(condition(clusterSnapshot, type), "reason")}`;
const owner = (uid: string, name = "my"): JsonObject => ({
  apiVersion: "llamastack.io/v1alpha2",
  kind: "LlamaStackDistribution",
  name,
  uid,
  controller: true,
});
const ownedBy = (object: JsonObject, ...owners: ReadonlyArray<JsonObject>): JsonObject =>
  put(object, ["metadata", "ownerReferences"], owners) as JsonObject;

for (const [what, storage] of [["unset", {}], ["Retain", { retentionPolicy: "Retain" }]] as const) {
  Deno.test(`a claim loses its owner when retentionPolicy changes from Delete to ${what}, so that its data is kept`, () => {
    const { snapshot: before } = converged(snapshot(onClaim({ retentionPolicy: "Delete" })));
    ok(at(before.live.get("PersistentVolumeClaim/my-pvc"), "metadata", "ownerReferences") !== undefined);
    const { snapshot: kept } = converged(edited(before, onClaim(storage)));
    strictEqual(at(kept.live.get("PersistentVolumeClaim/my-pvc"), "metadata", "ownerReferences"), undefined);
  });
}

Deno.test("the copy of a CA bundle is deleted when no pod mounts it and the rollout is complete", () => {
  const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const { snapshot: plain } = converged(snapshot(GENERATED));
  const bundle: JsonObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "my-ca-bundle",
      namespace: "default",
      uid: "b",
      labels: { "app.kubernetes.io/component": "ca-bundle", "app.kubernetes.io/managed-by": "llama-stack-operator" },
      ownerReferences: [owner(UID)],
    },
    data: { "ca-bundle.crt": pem },
  };
  const left = withLive(plain, "ConfigMap/my-ca-bundle", () => bundle);
  const pruned = (clusterSnapshot: ClusterSnapshot) =>
    planOf(clusterSnapshot).steps.flatMap((step) => step._tag === "Prune" ? [step.key.name] : []);
  deepStrictEqual(pruned(left), ["my-ca-bundle"]);
  const pod = livePod({
    metadata: { name: "old" },
    spec: { volumes: [{ name: "ca", configMap: { name: "my-ca-bundle" } }] },
  });
  deepStrictEqual(pruned({ ...left, pods: [pod] }), []);
  deepStrictEqual(
    pruned(withLive(left, "Deployment/my", (object) => put(object, ["status", "availableReplicas"], 0) as JsonObject)),
    [],
  );
});

Deno.test("a record that `kubectl rollout undo` brought back from an earlier template goes", () => {
  const { snapshot: before } = converged(snapshot({ distribution: { image: "registry.example/own:1" } }));
  const name = "llamastack.io/server-version";
  const annotations = (clusterSnapshot: ClusterSnapshot) =>
    objectAt(clusterSnapshot.live.get("Deployment/my"), "metadata", "annotations");
  ok(!Object.hasOwn(annotations(before), name));
  const undone = withLive(
    before,
    "Deployment/my",
    (object) => put(object, ["metadata", "annotations", name], "0.7.1") as JsonObject,
  );
  const plan = planOf(undone);
  deepStrictEqual(
    plan.steps.flatMap((step) => step._tag === "TakeOver" ? step.claims : []),
    [["metadata", "annotations", name]],
  );
  const repaired = converged(undone).snapshot;
  ok(!Object.hasOwn(annotations(repaired), name));
  deepStrictEqual(planOf(repaired).steps, []);
});

const replicaSet = (from: ClusterSnapshot, revision: string, more: JsonObject = {}): LiveReplicaSet =>
  liveReplicaSet({
    metadata: { name: `my-${revision}`, annotations: { "deployment.kubernetes.io/revision": revision, ...more } },
    spec: { template: at(from.live.get("Deployment/my"), "spec", "template") ?? {} },
  });

Deno.test("mounts that `kubectl rollout undo` brought back go by their path, as the API server knows them", () => {
  const { snapshot: generated } = converged(snapshot(GENERATED));
  const { snapshot: bare } = converged(edited(generated, { distribution: { image: "registry.example/own:1" } }));
  const undone = withLive(
    { ...bare, replicaSets: [replicaSet(generated, "3", REUSED), replicaSet(bare, "2")] },
    "Deployment/my",
    (object) =>
      put(
        object,
        ["spec", "template"],
        at(generated.live.get("Deployment/my"), "spec", "template") ?? {},
      ) as JsonObject,
  );
  const claims = planOf(undone).steps.flatMap((step) => step._tag === "TakeOver" ? step.claims : []);
  const mount = claims.find((claim) => claim.includes("volumeMounts"));
  deepStrictEqual(Object.keys(mount?.at(-1) ?? {}), ["mountPath"]);
});

Deno.test("a default that `kubectl rollout undo` replaced by the value of an earlier template comes back, once", () => {
  const short = { ...GENERATED, workload: { overrides: { terminationGracePeriodSeconds: 5 } } };
  const grace = ["spec", "template", "spec", "terminationGracePeriodSeconds"];
  const before = converged(snapshot(short)).snapshot;
  const { snapshot: bare } = converged(edited(before, GENERATED));
  // As the API server has it.
  const defaulted = withLive(bare, "Deployment/my", (object) => put(object, grace, 30) as JsonObject);
  const replicaSets = [replicaSet(before, "3", REUSED), replicaSet(defaulted, "2")];
  const revision = ["metadata", "annotations", "deployment.kubernetes.io/revision"];
  const claimed = (clusterSnapshot: ClusterSnapshot) =>
    planOf(clusterSnapshot).steps.flatMap((step) => step._tag === "TakeOver" ? step.claims.map(String) : []);
  const undone = withLive(
    { ...defaulted, replicaSets },
    "Deployment/my",
    () => put(before.live.get("Deployment/my") ?? {}, revision, "3") as JsonObject,
  );
  ok(claimed(undone).includes(String(grace)), claimed(undone).join("; "));
  // The same templates where the resource itself went back to the earlier one: nothing is to be repaired.
  const back = converged(edited({ ...defaulted, replicaSets }, short)).snapshot;
  deepStrictEqual(
    claimed(withLive({ ...back, replicaSets }, "Deployment/my", (object) => put(object, revision, "3") as JsonObject)),
    [],
  );
});

Deno.test("an annotation added by another client is kept, although its ReplicaSet is seen before the revision of the Deployment", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const revision = "deployment.kubernetes.io/revision";
  const first = withLive(
    before,
    "Deployment/my",
    (object) => put(object, ["metadata", "annotations", revision], "1") as JsonObject,
  );
  const added = withLive(
    first,
    "Deployment/my",
    (object) => put(object, ["spec", "template", "metadata", "annotations", "example.com/kept"], "yes") as JsonObject,
  );
  const now = { ...added, replicaSets: [replicaSet(first, "1"), replicaSet(added, "2")] };
  const next = edited(now, { ...GENERATED, workload: { replicas: 1, overrides: { podLabels: { edited: "yes" } } } });
  deepStrictEqual(planOf(next).steps.flatMap((step) => step._tag === "TakeOver" ? step.claims : []), []);
});

const REUSED: JsonObject = { "deployment.kubernetes.io/revision-history": "1" };

Deno.test("drift of a value that looks like a number is repaired", () => {
  const spec = { ...GENERATED, workload: { overrides: { env: [{ name: "ACCOUNT", value: "10000000001" }] } } };
  const { snapshot: before } = converged(snapshot(spec));
  const changed = withLive(
    before,
    "Deployment/my",
    (object) =>
      JSON.parse(JSON.stringify(object).replace('"value":"10000000001"', '"value":"10000000002"')) as JsonObject,
  );
  ok(applied(planOf(changed)).includes("Deployment"));
});

Deno.test("sixty failures make a handful of Events, once", () => {
  const inference = Array.from({ length: 60 }, (_, index) => ({ id: `p${index}`, provider: `nonsense-${index}` }));
  const broken = snapshot({ providers: { inference } });
  const first = planOf(broken);
  ok(events(first).length >= 1 && events(first).length <= 8, events(first).join());
  deepStrictEqual(events(planOf(after(broken, first))), []);
});

Deno.test("every conflict is reported in a condition, and none is announced again", () => {
  const foreign = (kind: string, name: string): JsonObject => ({
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "default" },
  });
  const live = new Map([["ServiceAccount/my-sa", foreign("ServiceAccount", "my-sa")], [
    "Deployment/my",
    foreign("Deployment", "my"),
  ]]);
  const taken = snapshot(GENERATED, { live });
  const first = planOf(taken);
  strictEqual(events(first).filter((reason) => reason === "OwnershipConflict").length, 2);
  const told = after(taken, first);
  deepStrictEqual(events(planOf(told)), []);
  const message = stringAt(condition(told, "DeploymentUpdated"), "message") ?? "";
  ok(message.includes("ServiceAccount") && message.includes("Deployment"), message);
});

Deno.test("objects of a deleted resource of the same name are waited for, without advice to rename", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const remnants = new Map([...before.live].map(([key, object]) => [key, ownedBy(object, owner("an earlier uid"))]));
  const anew = snapshot(GENERATED, { live: remnants });
  const plan = planOf(anew);
  deepStrictEqual([applied(plan), events(plan)], [[], []]);
  const told = after(anew, plan);
  deepStrictEqual([word(told, "DeploymentUpdated"), word(told, "Stalled")], [
    "False DeletionPending",
    "undefined undefined",
  ]);
  ok(!JSON.stringify(told.resource.status).includes("rename"));
  const others = new Map([...before.live].map(([key, object]) => [key, ownedBy(object, owner("u", "other"))]));
  strictEqual(
    word(after(anew, planOf(snapshot(GENERATED, { live: others }))), "DeploymentUpdated"),
    "False OwnershipConflict",
  );
});

Deno.test("own objects without an owner, as after a restore, are adopted without a restart and reported once", () => {
  const { snapshot: before } = converged(snapshot(onClaim({})));
  const restored = new Map([...before.live].map(([key, object]) => [key, ownedBy(object)]));
  const back: ClusterSnapshot = { ...before, live: restored };
  const plan = planOf(back);
  const deployment = plan.steps.find((step) => step._tag === "Apply" && step.manifest.kind === "Deployment");
  ok(deployment?._tag === "Apply");
  deepStrictEqual(
    objectAt(deployment.manifest, "spec", "template"),
    objectAt(before.live.get("Deployment/my") ?? null, "spec", "template"),
  );
  deepStrictEqual(events(plan), ["Adopted"]);
  deepStrictEqual(planOf(after(back, plan)).steps, []);
});

const EXCESSES: ReadonlyArray<readonly [what: string, path: ReadonlyArray<string>, value: Json]> = [
  ["a volume of the node", ["volumes"], [{ name: "h", hostPath: { path: "/" } }]],
  ["the network of the node", ["hostNetwork"], true],
  ["a port of the node", ["containers"], [{ name: "llama-stack", ports: [{ containerPort: 1, hostPort: 1 }] }]],
  ["a privileged container", ["containers"], [{ name: "llama-stack", securityContext: { privileged: true } }]],
  ["a root user in another container", ["initContainers"], [{ name: "more", securityContext: { runAsUser: 0 } }]],
  ["another ServiceAccount", ["serviceAccountName"], "boss"],
];

for (const [what, path, value] of EXCESSES) {
  Deno.test(`a prepared Deployment with our labels and ${what} is not adopted, scaled or changed`, () => {
    const { snapshot: before } = converged(snapshot(onClaim({})));
    const prepared = put(ownedBy(before.live.get("Deployment/my") ?? {}), ["spec", "template", "spec", ...path], value);
    for (const record of ["x", undefined]) {
      const live = new Map(before.live);
      const annotation = ["metadata", "annotations", "llamastack.io/template-digest"];
      live.set("Deployment/my", put(put(prepared, annotation, record), ["spec", "replicas"], 3));
      const { snapshot: told } = converged({ ...before, live });
      deepStrictEqual(told.live.get("Deployment/my"), live.get("Deployment/my"));
      strictEqual(word(told, "DeploymentUpdated"), "False OwnershipConflict");
      ok(
        stringAt(condition(told, "DeploymentUpdated"), "message")?.includes(
          "has more privileges than this resource allows",
        ),
      );
    }
  });
}

Deno.test("the template of an owned Deployment without a record is replaced if it requests more than desired", () => {
  const { snapshot: before } = converged(snapshot(onClaim({})));
  const deployment = before.live.get("Deployment/my") ?? {};
  const unrecorded = put(deployment, ["metadata", "annotations", "llamastack.io/template-digest"], undefined);
  const live = new Map(before.live);
  live.set("Deployment/my", put(unrecorded, ["spec", "template", "spec", "serviceAccountName"], "boss"));
  const { snapshot: after } = converged({ ...before, live });
  deepStrictEqual(
    objectAt(after.live.get("Deployment/my") ?? null, "spec", "template"),
    objectAt(deployment, "spec", "template"),
  );
});

Deno.test("pods rejected by a quota are reported with the message of the quota", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const failure = {
    type: "ReplicaFailure",
    status: "True",
    reason: "FailedCreate",
    message: 'pods "my-1" is forbidden: exceeded quota: small',
  };
  const { snapshot: told } = converged(withLive(before, "Deployment/my", (object) => ({
    ...object,
    status: { ...objectAt(object, "status"), availableReplicas: 0, conditions: [failure] },
  })));
  strictEqual(word(told, "Available"), "False PodsRejected");
  ok(stringAt(condition(told, "Available"), "message")?.includes("exceeded quota: small"));
});

Deno.test("conditions of other controllers are kept in the status", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const foreign = {
    type: "example.com/Scanned",
    status: "True",
    reason: "Clean",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const conditions = [...listAt(before.resource.status, "conditions"), foreign];
  const seen: ClusterSnapshot = {
    ...before,
    resource: put(before.resource, ["status", "conditions"], conditions) as JsonObject,
  };
  deepStrictEqual(planOf(seen).steps, []);
  const { snapshot: next } = converged(edited(seen, { ...GENERATED, resources: { models: [{ name: "m" }] } }));
  deepStrictEqual(condition(next, "example.com/Scanned"), foreign);
});

Deno.test("an autoscaler that replaces zero replicas starts with its minimum", () => {
  const owned = { manager: "llama-stack-operator", operation: "Apply", fieldsV1: { "f:spec": { "f:replicas": {} } } };
  const from = (replicas: number, autoscaling: JsonObject) => {
    const { snapshot: before } = converged(snapshot({ ...GENERATED, workload: { replicas } }));
    const seen = withLive(
      before,
      "Deployment/my",
      (object) => put(object, ["metadata", "managedFields"], [owned]) as JsonObject,
    );
    return planOf(edited(seen, { ...GENERATED, workload: { replicas, autoscaling } })).steps
      .flatMap((step) => step._tag === "Scale" ? [step.replicas] : []);
  };
  deepStrictEqual([
    from(3, { minReplicas: 1, maxReplicas: 5 }),
    from(0, { minReplicas: 2, maxReplicas: 5 }),
    from(0, { maxReplicas: 5 }),
  ], [
    [3],
    [2],
    [1],
  ]);
});

/** A Deployment of the Go operator with this image; all of its pods are ready. */
const byGoOperator = (image: string, spec: JsonObject): ClusterSnapshot => {
  const { snapshot: before } = converged(snapshot(spec));
  return withLive(before, "Deployment/my", (object) => {
    const annotations = objectAt(object, "metadata", "annotations");
    const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith("llamastack.io/")));
    const plain = put(object, ["metadata", "annotations"], kept) as JsonObject;
    const containers = listAt(plain, "spec", "template", "spec", "containers")
      .map((container) => put(container as JsonObject, ["image"], image));
    return put(plain, ["spec", "template", "spec", "containers"], containers) as JsonObject;
  });
};
const NAMED: JsonObject = { distribution: { name: "starter" } };
const NEWER = "docker.io/ogxai/distribution-starter:1.5.0";

Deno.test("a server of the Go operator that is newer than ours is held, and remains ready", () => {
  const { snapshot: adopted } = converged(byGoOperator(NEWER, NAMED));
  ok(JSON.stringify(adopted.live.get("Deployment/my")).includes(NEWER));
  strictEqual(word(adopted, "Ready"), "True Ready");
  strictEqual(word(adopted, "TemplateHeld"), "True OperatorChanged");
  const message = stringAt(condition(adopted, "TemplateHeld"), "message") ?? "";
  ok(message.includes(`set spec.distribution.image to "${NEWER}"`));
  // Another edit is refused, as the next case shows.
  ok(message.includes("other edits are refused") && !message.includes("until the resource changes"), message);
});

Deno.test("an edit replaces a newer server of the Go operator only if it chooses the older version", () => {
  const { snapshot: adopted } = converged(byGoOperator(NEWER, NAMED));
  const { snapshot: rejected } = converged(edited(adopted, { ...NAMED, networking: { port: 9000 } }));
  ok(JSON.stringify(rejected.live.get("Deployment/my")).includes(NEWER));
  strictEqual(word(rejected, "DeploymentUpdated"), "False OlderServer");
  const named = { distribution: { image: NEWER }, networking: { port: 9000 } };
  const { snapshot: kept } = converged(edited(rejected, named));
  strictEqual(word(kept, "DeploymentUpdated"), "True DeploymentUpdateSucceeded");
  const older = { distribution: { name: "starter", serverVersion: "1.4.1" } };
  const { snapshot: chosen } = converged(edited(rejected, older));
  ok(!JSON.stringify(chosen.live.get("Deployment/my")).includes(NEWER));
});

Deno.test("a floating tag of the Go operator is judged by the version that the server reported", () => {
  const floating = "docker.io/ogxai/distribution-starter:latest";
  const before = byGoOperator(floating, NAMED);
  const status = { version: { llamaStackServerVersion: "1.5.0" } };
  const { snapshot: held } = converged({ ...before, resource: put(before.resource, ["status"], status) as JsonObject });
  ok(JSON.stringify(held.live.get("Deployment/my")).includes(floating));
  strictEqual(word(held, "TemplateHeld"), "True OperatorChanged");
});

Deno.test("an autoscaler that comes to zero pods of another scaler starts with its minimum, and an old one leaves zero alone", () => {
  const scaledTo = (before: ReturnType<typeof snapshot>, autoscaling: JsonObject) => {
    const seen = withLive(
      converged(before).snapshot,
      "Deployment/my",
      (object) => put(object, ["spec", "replicas"], 0) as JsonObject,
    );
    return planOf(edited(seen, { ...GENERATED, workload: { autoscaling } })).steps
      .flatMap((step) => step._tag === "Scale" ? [step.replicas] : []);
  };
  const autoscaling = { minReplicas: 2, maxReplicas: 5 };
  deepStrictEqual(scaledTo(snapshot({ ...GENERATED, workload: { scaling: "External" } }), autoscaling), [2]);
  deepStrictEqual(
    scaledTo(snapshot({ ...GENERATED, workload: { autoscaling } }), { ...autoscaling, maxReplicas: 6 }),
    [],
  );
});
