import * as Redacted from "effect/Redacted";
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  after,
  converged,
  edited,
  OPERATOR,
  type Plan,
  planOf,
  secretsOf,
  snapshot,
} from "../../../tests/snapshots.ts";
import { secret, SURROUNDINGS } from "../../../tests/given.ts";
import { at, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { liveDeployment } from "../../snapshot/live_deployment.ts";
import { livePod } from "../../snapshot/live_pod.ts";
import { type LiveReplicaSet, liveReplicaSet } from "../../snapshot/live_replica_set.ts";
import type { RollingUpgrade } from "../../snapshot/rolling_upgrade.ts";
import { becomesLastGood, rolloutState, type Seen } from "./rollout_state.ts";
import { rollingUpgradeOf } from "./upgrade_slots.ts";
import { waitingIn } from "../decision.ts";
import { RECORD_ANNOTATIONS, recordIn, ROLLOUT_ANNOTATION } from "../../snapshot/record.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";

const GENERATED: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const ON_A_CLAIM: JsonObject = { ...GENERATED, workload: { replicas: 1, storage: { size: "1Gi" } } };

const rolling = (now: ClusterSnapshot, seen: Seen = { pods: [], replicaSets: [] }) =>
  rollingUpgradeOf(now.resource, liveDeployment(deployment(now)), () => seen, OPERATOR.hmacKey);
const deployment = (clusterSnapshot: ClusterSnapshot): JsonObject => clusterSnapshot.live.get("Deployment/my") ?? {};
const annotation = (clusterSnapshot: ClusterSnapshot, name: string) =>
  stringAt(deployment(clusterSnapshot), "metadata", "annotations", name);
const image = (clusterSnapshot: ClusterSnapshot) =>
  stringAt(listAt(deployment(clusterSnapshot), "spec", "template", "spec", "containers")[0], "image");
const rolls = (plan: Plan) => plan.steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment");
const condition = (clusterSnapshot: ClusterSnapshot, type: string): Json | undefined =>
  listAt(clusterSnapshot.resource.status, "conditions").find((found) => stringAt(found, "type") === type);
const word = (clusterSnapshot: ClusterSnapshot, type: string) => {
  const found = condition(clusterSnapshot, type);
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};
const withDeployment = (
  clusterSnapshot: ClusterSnapshot,
  path: ReadonlyArray<string>,
  value: Json | undefined,
): ClusterSnapshot => {
  const live = new Map(clusterSnapshot.live);
  live.set("Deployment/my", put(deployment(clusterSnapshot), path, value));
  return { ...clusterSnapshot, live };
};

/** The same snapshot under a release of the operator that pins another image. */
const upgraded = (before: ClusterSnapshot, away: ReadonlyArray<RollingUpgrade> = []): ClusterSnapshot => ({
  ...before,
  rollingUpgrades: away,
  operator: {
    ...before.operator,
    version: "0.2.0",
    surroundings: {
      ...SURROUNDINGS,
      overrides: {
        settings: new Map([["starter", "mirror.example/llamastack/distribution-starter:0.7.3"]]),
        related: new Map(),
      },
    },
  },
});

const away = (state: RollingUpgrade["state"], pins: string, more: Partial<RollingUpgrade> = {}): RollingUpgrade => ({
  key: "other/one",
  queue: "starter",
  pins,
  state,
  slotEndsMs: Date.UTC(2026, 0, 1) + 60_000,
  ...more,
});
/** Digest of the pins that the upgraded operator brings, as it records them. */
const newPins = (before: ClusterSnapshot): string => {
  const plan = planOf(upgraded(before));
  const manifests = plan.steps.flatMap((step) => step._tag === "Apply" ? [step.manifest] : []);
  return stringAt(
    manifests.find(({ kind }) => kind === "Deployment"),
    "metadata",
    "annotations",
    "llamastack.io/pins-digest",
  ) ?? "";
};

/** What a decision means for the upgrade slots. */
const slotUse = ({ decision }: Plan): string => {
  if (decision.kind !== "rollout") return "none";
  return decision.slot !== undefined ? "taken" : waitingIn(decision) === undefined ? "none" : "waiting";
};

Deno.test("decide() checks the other resources before new pins are rolled out, and reserves a slot", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const first = planOf({ ...upgraded(before), rollingUpgrades: undefined });
  deepStrictEqual([slotUse(first), rolls(first)], ["waiting", false]);
  const second = planOf(upgraded(before));
  deepStrictEqual([slotUse(second), rolls(second)], ["taken", true]);
  const rolled = after(upgraded(before), second);
  strictEqual(annotation(rolled, RECORD_ANNOTATIONS.cause), "upgrade");
  ok(image(rolled)?.endsWith(":0.7.3"));
});

Deno.test("decide() allows at most upgradeParallelism concurrent upgrades, and a failed one holds no slot", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const pins = newPins(before);
  const full = upgraded(before, Array.from({ length: 5 }, (_, index) => away("rolling", pins, { key: `n/${index}` })));
  const plan = planOf(full);
  deepStrictEqual([waitingIn(plan.decision), rolls(plan)], [
    { namespace: "default", queue: "starter", pins, stoppedAt: undefined },
    false,
  ]);
  const { snapshot: told } = converged(full);
  strictEqual(word(told, "DeploymentUpdated"), "False UpgradeQueued");
  strictEqual(word(told, "Ready"), "True Ready");
  strictEqual(image(told), image(before));
  const own = { ...upgraded(before, [away("rolling", "former pins", { key: "default/my" })]) };
  strictEqual(slotUse(planOf({ ...own, operator: { ...own.operator, upgradeParallelism: 1 } })), "taken");
  const failed = Array.from({ length: 9 }, (_, index) => away("failed", pins, { key: `n/${index}`, queue: "other" }));
  strictEqual(slotUse(planOf(upgraded(before, failed))), "taken");
});

Deno.test("decide() stops an upgrade at one that failed in its namespace or in three others, and names only its own", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const stopped = upgraded(before, [away("failed", newPins(before), { key: "default/broken" })]);
  const { snapshot: told } = converged(stopped);
  ok(stringAt(condition(told, "DeploymentUpdated"), "message")?.includes("default/broken"));
  const elsewhere = (...names: ReadonlyArray<string>) =>
    upgraded(before, names.map((name) => away("failed", newPins(before), { key: `${name}/broken` })));
  strictEqual(slotUse(planOf(elsewhere("secret-team", "b"))), "taken");
  const foreign = converged(elsewhere("secret-team", "b", "c")).snapshot;
  strictEqual(word(foreign, "DeploymentUpdated"), "False UpgradeQueued");
  ok(!JSON.stringify(foreign.resource.status).includes("secret-team"));
  strictEqual(slotUse(planOf(upgraded(before, [away("failed", "pins of last year")]))), "taken");
});

Deno.test("decide() rolls out at once what has nothing to lose, what was edited and what was requested", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const stopped = upgraded(before, [away("failed", newPins(before), { key: "default/one" })]);
  for (const path of [["status", "availableReplicas"], ["spec", "replicas"]]) {
    const plan = planOf(withDeployment(stopped, path, 0));
    deepStrictEqual([slotUse(plan), rolls(plan)], ["none", true]);
  }
  ok(rolls(planOf(edited(stopped, { ...GENERATED, resources: { models: [{ name: "m" }] } }))));
  const { snapshot: told } = converged(stopped);
  const digest = /[0-9a-f]{64}/.exec(stringAt(condition(told, "DeploymentUpdated"), "message") ?? "")?.[0] ?? "";
  const asked = { ...told, resource: put(told.resource, ["metadata", "annotations", ROLLOUT_ANNOTATION], digest) };
  const { snapshot: rolled } = converged(asked);
  deepStrictEqual([annotation(rolled, RECORD_ANNOTATIONS.cause), image(rolled)?.endsWith(":0.7.3")], ["asked", true]);
});

Deno.test("decide() renews Secret digests in the upgrade queue if the key of the operator was lost", () => {
  const spec = {
    providers: { inference: [{ provider: "vllm", endpoint: "http://v:1/v1", apiKey: secret("s", "k") }] },
  };
  const { snapshot: before } = converged(snapshot(spec, { secrets: secretsOf({ "s": { k: "value" } }) }));
  const lost = { ...before, operator: { ...OPERATOR, hmacKey: Redacted.make("another key") } };
  strictEqual(slotUse(planOf({ ...lost, rollingUpgrades: undefined })), "waiting");
  strictEqual(slotUse(planOf(lost)), "taken");
  strictEqual(slotUse(planOf({ ...before, secrets: secretsOf({ "s": { k: "other" } }) })), "none");
});

Deno.test("rollingUpgradeOf() distinguishes rolling, failed and complete, and ignores edits and suspended resources", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const rolled = after(upgraded(before), planOf(upgraded(before)));
  const state = (clusterSnapshot: ClusterSnapshot, pods: ReadonlyArray<JsonObject> = []) =>
    rolling(clusterSnapshot, { pods: pods.map(livePod), replicaSets: [] })?.state;
  strictEqual(state(rolled), "complete");
  const starting = withDeployment(rolled, ["status", "availableReplicas"], 0);
  strictEqual(state(starting), "rolling");
  strictEqual(state(withDeployment(rolled, ["metadata", "generation"], 2)), "rolling");
  const crashed = { status: { containerStatuses: [{ ready: false, restartCount: 3, state: { waiting: {} } }] } };
  strictEqual(state(starting, [crashed]), "failed");
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
  strictEqual(state(withDeployment(starting, ["status", "conditions"], [late])), "failed");
  strictEqual(
    state(withDeployment(starting, ["metadata", "annotations", RECORD_ANNOTATIONS.cause], "edit")),
    undefined,
  );
  strictEqual(state({ ...starting, resource: put(starting.resource, ["spec", "suspend"], true) }), undefined);
});

Deno.test("rollingUpgradeOf() counts only marks of the operator's own, since others may edit a Deployment too", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const rolled = after(upgraded(before), planOf(upgraded(before)));
  const starting = withDeployment(rolled, ["status", "availableReplicas"], 0);
  const away = (clusterSnapshot: ClusterSnapshot) => rolling(clusterSnapshot);
  strictEqual(away(starting)?.state, "rolling");
  const mark = (name: string, value: string) => withDeployment(starting, ["metadata", "annotations", name], value);
  strictEqual(away(mark("llamastack.io/upgrade-started", "2026-06-01T00:00:00.000Z")), undefined);
  strictEqual(away(mark(RECORD_ANNOTATIONS.rolledBack, "x")), undefined);
  strictEqual(away(mark("llamastack.io/pins-digest", "x")), undefined);
  const other = put(starting.resource, ["metadata", "name"], "another") as JsonObject;
  strictEqual(away({ ...starting, resource: other }), undefined, "copied from another resource");
  const forged = withDeployment(
    converged(snapshot(GENERATED)).snapshot,
    ["metadata", "annotations", RECORD_ANNOTATIONS.cause],
    "upgrade",
  );
  strictEqual(away(withDeployment(forged, ["status", "availableReplicas"], 0)), undefined);
});

Deno.test("decide() does not extend an upgrade whose marks were changed", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const rolled = after(upgraded(before), planOf(upgraded(before)));
  const starting = withDeployment(rolled, ["status", "availableReplicas"], 0);
  for (const started of ["2026-06-01T00:00:00.000Z", undefined]) {
    const changed = withDeployment(starting, ["metadata", "annotations", "llamastack.io/upgrade-started"], started);
    const later = { ...changed, nowMs: changed.nowMs + 60_000 };
    const now = after(later, planOf(later));
    const { slotEndsMs = 0 } = rolling(now) ?? {};
    ok(slotEndsMs < later.nowMs, String(started));
  }
});

Deno.test("decide() writes other digests of the same Secret values in another namespace", () => {
  const spec = {
    providers: { inference: [{ provider: "vllm", endpoint: "http://v:1/v1", apiKey: secret("s", "k") }] },
  };
  const digestIn = (namespace: string) => {
    const start = snapshot(spec, { secrets: secretsOf({ "s": { k: "value" } }) });
    const made = put(start.resource, ["metadata", "namespace"], namespace) as JsonObject;
    const { snapshot: now } = converged({ ...start, resource: made });
    return [
      annotation(now, "llamastack.io/secrets-input-digest"),
      stringAt(deployment(now), "spec", "template", "metadata", "annotations", "llamastack.io/secrets-digest"),
    ];
  };
  const [one, other] = [digestIn("a"), digestIn("b")];
  ok(one.every((digest, index) => digest !== undefined && digest !== other[index]), JSON.stringify([one, other]));
});

/** What the Deployment controller keeps of a Deployment: its template under the hash, with our annotations. */
const replicaSetOf = (clusterSnapshot: ClusterSnapshot, revision: string): LiveReplicaSet =>
  liveReplicaSet(rawReplicaSet(clusterSnapshot, revision));

const rawReplicaSet = (clusterSnapshot: ClusterSnapshot, revision: string): JsonObject => {
  const template = objectAt(deployment(clusterSnapshot), "spec", "template");
  const labels = { ...objectAt(template, "metadata", "labels"), "pod-template-hash": revision };
  return {
    kind: "ReplicaSet",
    metadata: {
      name: `my-${revision}`,
      labels,
      ownerReferences: [{
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: "my",
        uid: stringAt(deployment(clusterSnapshot), "metadata", "uid") ?? "",
        controller: true,
      }],
      annotations: {
        ...objectAt(deployment(clusterSnapshot), "metadata", "annotations"),
        "deployment.kubernetes.io/revision": revision,
      },
    },
    spec: { template: { ...template, metadata: { ...objectAt(template, "metadata"), labels } } },
  };
};

/** The condition with which the Deployment controller reports a completed rollout. */
const COMPLETED: JsonObject = { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" };

Deno.test("decide() rolls back a server whose init container keeps failing, and does not count one that ended well", () => {
  const { snapshot: good } = converged(snapshot(ON_A_CLAIM));
  const changed = edited(good, { ...ON_A_CLAIM, resources: { models: [{ name: "m" }] } });
  const applied = after(changed, planOf(changed));
  const rolling = withDeployment(applied, ["status", "availableReplicas"], 0);
  const withInit = (status: JsonObject): ClusterSnapshot => ({
    ...rolling,
    replicaSets: [replicaSetOf(good, "1")],
    pods: [livePod({
      metadata: { name: "my-x" },
      status: { initContainerStatuses: [{ name: "prepare-providers", ...status }] },
    })],
  });
  const failing = { ready: false, restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } };
  const fine = { ready: false, restartCount: 3, state: { terminated: { exitCode: 0 } } };
  deepStrictEqual([failing, fine].map((status) => template(after(withInit(status), planOf(withInit(status))))), [
    template(good),
    template(applied),
  ]);
});

/** A server weeks after its last rollout: its pod was restarted three times and is not ready at the moment. */
const weeksLater = (done: ClusterSnapshot): ClusterSnapshot => {
  const revision = withDeployment(done, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "2");
  const told = withDeployment(revision, ["status", "conditions"], [COMPLETED]);
  const down = withDeployment(told, ["status", "availableReplicas"], 0);
  const pod = {
    metadata: { name: "my-2-x", labels: { "pod-template-hash": "2" } },
    status: { containerStatuses: [{ name: "llama-stack", ready: false, restartCount: 3, state: { waiting: {} } }] },
  };
  return { ...down, pods: [livePod(pod)] };
};

Deno.test("decide() never rolls back a server whose rollout completed, whatever happens to it weeks later", () => {
  const { snapshot: good } = converged(snapshot(ON_A_CLAIM));
  const changed = edited(good, { ...ON_A_CLAIM, resources: { models: [{ name: "m" }] } });
  const { snapshot: done } = converged({ ...changed, replicaSets: [replicaSetOf(good, "1")] });
  const later = weeksLater(done);
  const now: ClusterSnapshot = { ...later, replicaSets: [replicaSetOf(good, "1"), replicaSetOf(later, "2")] };
  strictEqual(at(deployment(now), "spec", "strategy", "type"), "Recreate");
  ok(!rolls(planOf(now)));
  const { snapshot: told } = converged(now);
  deepStrictEqual([word(told, "DeploymentUpdated"), template(told)], [
    "True DeploymentUpdateSucceeded",
    template(done),
  ]);
  // The next edit fails: the rollback restores the template that ran for weeks, though it was down at that moment.
  const next = edited(told, { ...ON_A_CLAIM, resources: { models: [{ name: "n" }] } });
  strictEqual(
    stringAt(deployment(after(next, planOf(next))), "metadata", "annotations", "llamastack.io/last-good-template"),
    annotation(done, "llamastack.io/template-digest"),
  );
});

Deno.test("decide() applies the edit of a resource whose Deployment lost its record", () => {
  const { snapshot: good } = converged(snapshot(GENERATED));
  const before = withDeployment(good, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "1");
  const lost = {
    ...withDeployment(before, ["metadata", "annotations"], { "deployment.kubernetes.io/revision": "1" }),
    replicaSets: [replicaSetOf(before, "1")],
  };
  const repaired = after(lost, planOf(lost));
  deepStrictEqual(recordIn(deployment(repaired)), recordIn(deployment(good)));
  strictEqual(template(repaired), template(good));
  const changed = edited(lost, { ...GENERATED, resources: { models: [{ name: "m" }] } });
  const { snapshot: done } = converged(changed);
  notStrictEqual(template(done), template(good));
  strictEqual(image(done), image(good));
  // The ReplicaSet of another Deployment of that name says nothing.
  const others = { ...lost, replicaSets: lost.replicaSets.map((one) => ({ ...one, controller: "another" })) };
  const changedToo = edited(others, { ...GENERATED, resources: { models: [{ name: "m" }] } });
  strictEqual(template(converged(changedToo).snapshot), template(good));
});

Deno.test("decide() records that a rollout completed where the Deployment went back to a ReplicaSet that existed", () => {
  const { snapshot: good } = converged(snapshot(ON_A_CLAIM));
  const revision = withDeployment(good, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "2");
  const reused: LiveReplicaSet = { ...replicaSetOf(revision, "2"), isReused: true };
  const { snapshot: recorded } = converged({ ...revision, replicaSets: [reused] });
  const digest = annotation(recorded, "llamastack.io/template-digest") ?? "";
  strictEqual(annotation(recorded, "llamastack.io/last-good-template"), digest);
  // Under RollingUpdate, Kubernetes remembers it itself as soon as the ReplicaSet has a pod, and nothing is written.
  const rolling = { type: "RollingUpdate" };
  const alone = withDeployment(revision, ["spec", "strategy"], rolling);
  strictEqual(
    becomesLastGood(liveDeployment(deployment(alone)), { pods: [], replicaSets: [reused] }, {
      digest,
      template: objectAt(deployment(alone), "spec", "template"),
    }),
    false,
  );
  const stateOf = (strategy: JsonObject, updatedReplicas: number) =>
    rolloutState(
      liveDeployment(put(put(deployment(revision), ["spec", "strategy"], strategy), ["status"], {
        observedGeneration: 1,
        replicas: 1,
        updatedReplicas,
        conditions: [COMPLETED],
      })),
      { pods: [], replicaSets: [reused] },
    );
  deepStrictEqual(
    [[rolling, 1], [rolling, 0], [{ type: "Recreate" }, 1]].map(([strategy, updated]) =>
      stateOf(strategy as JsonObject, updated as number)
    ),
    ["disrupted", "progressing", "progressing"],
  );
  // A template that another client changed is repaired, and never becomes the one to roll back to.
  const foreign = withDeployment(revision, ["spec", "template", "spec", "serviceAccountName"], "other");
  const repair = planOf({ ...foreign, replicaSets: [reused] });
  strictEqual(
    annotation(after({ ...foreign, replicaSets: [reused] }, repair), "llamastack.io/last-good-proof"),
    undefined,
  );
  // Until then the condition of the former rollout does not apply to this one.
  const starting = withDeployment(withDeployment(revision, ["status", "availableReplicas"], 0), [
    "status",
    "conditions",
  ], [
    COMPLETED,
  ]);
  const { snapshot: waiting } = converged({ ...starting, replicaSets: [reused] });
  strictEqual(annotation(waiting, "llamastack.io/last-good-template"), undefined);
});

Deno.test("an upgrade that completed is over: later crashes neither stop its queue nor mark it as failed", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const { snapshot: done } = converged(upgraded(before));
  strictEqual(annotation(done, RECORD_ANNOTATIONS.cause), "upgrade");
  const later = weeksLater(done);
  const now: ClusterSnapshot = { ...later, replicaSets: [replicaSetOf(later, "2")] };
  strictEqual(
    rolling(now, now)?.state,
    "complete",
  );
  const { snapshot: told } = converged(now);
  deepStrictEqual([word(told, "DeploymentUpdated"), word(told, "Stalled")], [
    "True DeploymentUpdateSucceeded",
    "undefined undefined",
  ]);
});

/**
 * An edit under Recreate that the Deployment controller has observed, while the former pods end: it makes the ReplicaSet of the
 * template only when they are gone, and until then revision, pods and conditions are those of the former one.
 */
const whilePodsEnd = (
  clusterSnapshot: ClusterSnapshot,
  former: LiveReplicaSet,
  progressing: JsonObject,
): ClusterSnapshot => {
  const revision = withDeployment(
    clusterSnapshot,
    ["metadata", "annotations", "deployment.kubernetes.io/revision"],
    "1",
  );
  const ending = withDeployment(revision, ["status"], {
    ...objectAt(deployment(revision), "status"),
    replicas: 1,
    updatedReplicas: 0,
    availableReplicas: 0,
    conditions: [progressing],
  });
  const pod = {
    metadata: { name: "my-1-x", labels: { "pod-template-hash": "1" } },
    status: { containerStatuses: [{ name: "llama-stack", ready: false, restartCount: 3, state: { waiting: {} } }] },
  };
  return { ...ending, replicaSets: [former], pods: [livePod(pod)] };
};

Deno.test("decide() does not record a template as good while the pods of the former one terminate", () => {
  const { snapshot: good } = converged(snapshot(ON_A_CLAIM));
  const former = replicaSetOf(good, "1");
  const changed = edited(good, { ...ON_A_CLAIM, resources: { models: [{ name: "bad" }] } });
  const applied = after(changed, planOf({ ...changed, replicaSets: [former] }));
  const next = edited(whilePodsEnd(applied, former, COMPLETED), {
    ...ON_A_CLAIM,
    resources: { models: [{ name: "worse" }] },
  });
  strictEqual(
    annotation(after(next, planOf(next)), "llamastack.io/last-good-template"),
    annotation(good, "llamastack.io/template-digest"),
  );
});

Deno.test("an upgrade keeps its slot while the pods of the former template end", () => {
  const { snapshot: before } = converged(snapshot(GENERATED));
  const rolled = after(upgraded(before), planOf(upgraded(before)));
  const now = whilePodsEnd(rolled, replicaSetOf(before, "1"), COMPLETED);
  strictEqual(
    rolling(now, now)?.state,
    "rolling",
  );
});

Deno.test("decide() does not blame the fix of a failed rollout for the pods and the deadline of that rollout", () => {
  const { broken } = brokenEdit(ON_A_CLAIM);
  const former = replicaSetOf(broken, "1");
  const fixed = edited(broken, { ...ON_A_CLAIM, resources: { models: [{ name: "right" }] } });
  const applied = after(fixed, planOf(fixed));
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
  const now = whilePodsEnd(applied, former, late);
  const [good] = broken.replicaSets;
  ok(good !== undefined);
  ok(!rolls(planOf({ ...now, replicaSets: [good, former] })));
  // Nor for a quota that refused the former pods.
  const refused: LiveReplicaSet = { ...former, createFailure: "exceeded quota" };
  ok(!rolls(planOf({ ...whilePodsEnd(applied, refused, COMPLETED), replicaSets: [good, refused], pods: [] })));
});

Deno.test("rollingUpgradeOf() ends a slot after the startup budget, half an hour at most, counted from the write", () => {
  const slotOf = (startupSeconds: number) => {
    const { snapshot: before } = converged(snapshot({ ...GENERATED, workload: { probes: { startupSeconds } } }));
    const rolled = after(upgraded(before), planOf(upgraded(before)));
    const starting = withDeployment(rolled, ["status", "availableReplicas"], 0);
    const { slotEndsMs = 0 } = rolling(starting) ?? {};
    const later = { ...starting, nowMs: starting.nowMs + 1_000_000 };
    strictEqual(rolls(planOf(later)), false, "a later look does not restart the clock");
    return slotEndsMs - before.nowMs;
  };
  deepStrictEqual([slotOf(300), slotOf(86_400)], [420_000, 1_800_000]);
});

/** A settled server, then an edit whose pod ends three times. */
const brokenEdit = (
  spec: JsonObject,
  more: Partial<ClusterSnapshot> = {},
  edit: JsonObject = { resources: { models: [{ name: "m" }] } },
): { readonly good: ClusterSnapshot; readonly broken: ClusterSnapshot } => {
  const { snapshot: good } = converged(snapshot(spec, more));
  const changed = edited(good, { ...spec, ...edit });
  const applied = after(changed, planOf({ ...changed, replicaSets: [replicaSetOf(good, "1")] }));
  const revision = withDeployment(applied, ["metadata", "annotations", "deployment.kubernetes.io/revision"], "2");
  const broken = withDeployment(revision, ["status", "availableReplicas"], 0);
  const pod = {
    metadata: { name: "my-2-x", labels: { "pod-template-hash": "2" } },
    status: {
      containerStatuses: [{
        name: "llama-stack",
        ready: false,
        restartCount: 3,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 1, message: "ValueError: Model m is not available from provider p" } },
      }],
    },
  };
  return {
    good,
    broken: { ...broken, replicaSets: [replicaSetOf(good, "1"), replicaSetOf(broken, "2")], pods: [livePod(pod)] },
  };
};

const template = (clusterSnapshot: ClusterSnapshot) =>
  JSON.stringify(at(deployment(clusterSnapshot), "spec", "template"));

Deno.test("decide() restores the last good template once under Recreate, reports the reason, and waits for an edit", () => {
  const { good, broken } = brokenEdit(ON_A_CLAIM);
  strictEqual(at(deployment(broken), "spec", "strategy", "type"), "Recreate");
  const plan = planOf(broken);
  ok(
    plan.steps.some((step) =>
      step._tag === "Announce" && step.note.reason === "RolledBack" &&
      step.note.note.includes("does not have the model")
    ),
  );
  const undone = { ...after(broken, plan), pods: [] };
  strictEqual(template(undone), template(good));
  strictEqual(word(undone, "DeploymentUpdated"), "False RolledBack");
  ok(stringAt(condition(undone, "DeploymentUpdated"), "message")?.includes("does not have the model"));
  const { snapshot: settled } = converged(undone);
  deepStrictEqual([word(settled, "Available"), word(settled, "DeploymentUpdated"), word(settled, "Stalled")], [
    "True MinimumReplicasAvailable",
    "False RolledBack",
    "True RolledBack",
  ]);
  strictEqual(at(settled.resource, "status", "phase"), "Ready");
  deepStrictEqual(planOf(settled).steps, []);
  const retried = converged(edited(settled, { ...ON_A_CLAIM, resources: { models: [{ name: "n" }] } })).snapshot;
  strictEqual(annotation(retried, RECORD_ANNOTATIONS.rolledBack), undefined);
  strictEqual(word(retried, "Ready"), "True Ready");
});

for (const availableReplicas of [0, 1]) {
  Deno.test(`decide() forgets the image of an edit that never served and is taken back, with ${availableReplicas} former pods`, () => {
    // Nobody publishes it any more, so what runs would stay.
    const named = { distribution: { name: "starter", serverVersion: "0.7.1" } };
    const mine = { distribution: { image: "docker.io/llamastack/distribution-starter:0.7.1-mine" } };
    const { good, broken } = brokenEdit(named, {}, mine);
    ok(image(broken)?.endsWith("-mine"));
    const counts = { ...objectAt(deployment(broken), "status"), availableReplicas, replicas: 1 + availableReplicas };
    const back = edited(withDeployment(broken, ["status"], counts), named);
    strictEqual(template(after(back, planOf(back))), template(good));
  });
}

Deno.test("decide() makes a bundle again that the restored template mounts and somebody deleted, with the rollback", () => {
  const spec = { ...ON_A_CLAIM, networking: { tls: { caBundle: { configMapName: "ca" } } } };
  const configMaps = new Map([["default/ca", { data: { "ca-bundle.crt": "" }, binaryData: {} }]]);
  const { broken } = brokenEdit(spec, { configMaps });
  const live = new Map(broken.live);
  const bundle = [...live.keys()].find((key) => key.startsWith("ConfigMap/my-ca-bundle-")) ?? "";
  live.delete(bundle);
  const applied = planOf({ ...broken, live }).steps.flatMap((step) =>
    step._tag === "Apply" ? [`${step.manifest.kind} ${step.manifest.metadata.name}`] : []
  );
  deepStrictEqual(applied, [bundle.replace("/", " "), "Deployment my"]);
});

Deno.test("decide() rolls back at once if Kubernetes rejects the new pods under Recreate", () => {
  const { good, broken } = brokenEdit(ON_A_CLAIM);
  const why = 'pods "my-1" is forbidden: maximum memory usage per Container is 1500Mi, but limit is 2Gi';
  const refused = (replicaSet: JsonObject) =>
    liveReplicaSet(put(replicaSet, ["status"], {
      replicas: 0,
      conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: why }],
    }));
  const [before, newest] = [rawReplicaSet(good, "1"), rawReplicaSet(broken, "2")];
  const now: ClusterSnapshot = { ...broken, pods: [], replicaSets: [liveReplicaSet(before), refused(newest)] };
  const plan = planOf(now);
  ok(plan.steps.some((step) => step._tag === "Announce" && step.note.note.includes("maximum memory usage")));
  const undone = after(now, plan);
  strictEqual(template(undone), template(good));
  ok(stringAt(condition(undone, "DeploymentUpdated"), "message")?.includes("maximum memory usage"));
  // Conditions of the former template do not apply to this one.
  ok(!rolls(planOf({ ...broken, pods: [], replicaSets: [refused(before), liveReplicaSet(newest)] })));
});

Deno.test("decide() reports a rolled back image of the operator, and requests no edit", () => {
  const { broken } = brokenEdit(ON_A_CLAIM);
  const upgraded = withDeployment(broken, ["metadata", "annotations", RECORD_ANNOTATIONS.cause], "upgrade");
  const message = stringAt(condition(after(upgraded, planOf(upgraded)), "DeploymentUpdated"), "message") ?? "";
  ok(message.includes("image-overrides") && message.includes("does not have the model"), message);
  ok(!message.includes("Edit the resource"), message);
});

Deno.test("decide() rolls back nothing twice, nothing without a good template, and nothing under RollingUpdate", () => {
  const { broken } = brokenEdit(ON_A_CLAIM);
  const undone = after(broken, planOf(broken));
  const again = withDeployment(undone, ["status", "availableReplicas"], 0);
  ok(!rolls(planOf(again)));
  ok(!rolls(planOf({ ...broken, replicaSets: [] })));
  const rolling = brokenEdit(GENERATED).broken;
  strictEqual(at(deployment(rolling), "spec", "strategy", "type"), "RollingUpdate");
  ok(!rolls(planOf(rolling)));
});

const FORGERIES: Readonly<Record<string, (replicaSet: JsonObject) => JsonObject>> = {
  "has no owner": (replicaSet) => put(replicaSet, ["metadata", "ownerReferences"], undefined),
  "belongs to another Deployment": (replicaSet) =>
    put(replicaSet, ["metadata", "ownerReferences"], [{ kind: "Deployment", name: "my", uid: "x", controller: true }]),
  "is not controlled by its owner": (replicaSet) =>
    put(replicaSet, ["metadata", "ownerReferences"], [{ kind: "Deployment", name: "my", uid: "uid-of-Deployment/my" }]),
  "mounts the host": (replicaSet) => {
    const path = ["spec", "template", "spec", "volumes"];
    return put(replicaSet, path, [...listAt(replicaSet, ...path), { name: "h", hostPath: { path: "/" } }]);
  },
  "has another ServiceAccount": (replicaSet) =>
    put(replicaSet, ["spec", "template", "spec", "serviceAccountName"], "boss"),
  "has another image": (replicaSet) => put(replicaSet, ["spec", "template", "spec", "containers"], [{ image: "evil" }]),
  "has one more label": (replicaSet) => put(replicaSet, ["spec", "template", "metadata", "labels", "x"], "y"),
};

for (const [what, forged] of Object.entries(FORGERIES)) {
  Deno.test(`decide() rolls back to no ReplicaSet that claims the last good template and ${what}`, () => {
    const { good, broken } = brokenEdit(ON_A_CLAIM);
    const [genuine, forgery] = [replicaSetOf(good, "1"), liveReplicaSet(forged(rawReplicaSet(good, "1")))];
    const others = broken.replicaSets.slice(1);
    ok(!rolls(planOf({ ...broken, replicaSets: [forgery, ...others] })));
    const undone = after(broken, planOf({ ...broken, replicaSets: [forgery, genuine, ...others] }));
    strictEqual(template(undone), template(good));
  });
}

Deno.test("decide() never rolls back to a template that requests more than the operator would write, with or without a proof", () => {
  const spec = ["spec", "template", "spec"];
  const excesses: ReadonlyArray<readonly [ReadonlyArray<string>, Json]> = [
    [[...spec, "hostNetwork"], true],
    [[...spec, "hostPID"], true],
    [[...spec, "serviceAccountName"], "boss"],
    [[...spec, "volumes"], [{ name: "h", hostPath: { path: "/" } }]],
    [[...spec, "containers"], [{ name: "llama-stack", securityContext: { privileged: true } }]],
    [[...spec, "initContainers"], [{ name: "more", securityContext: { capabilities: { add: ["SYS_ADMIN"] } } }]],
  ];
  for (const [path, value] of excesses) {
    // The Deployment itself is edited, just before the template of the resource changes.
    const { snapshot: good } = converged(snapshot(ON_A_CLAIM));
    const excessive = withDeployment(good, path, value);
    const changed = edited(excessive, { ...ON_A_CLAIM, resources: { models: [{ name: "m" }] } });
    const applied = after(changed, planOf({ ...changed, replicaSets: [replicaSetOf(excessive, "1")] }));
    const failed = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
    const broken = withDeployment(withDeployment(applied, ["status", "availableReplicas"], 0), [
      "status",
      "conditions",
    ], [failed]);
    ok(!rolls(planOf({ ...broken, replicaSets: [replicaSetOf(excessive, "1")] })), path.join("."));
    ok(annotation(broken, "llamastack.io/last-good-proof") !== undefined);
  }
});

Deno.test("decide() is not ready while pods of an older template answer for a change that does not start", () => {
  const { broken } = brokenEdit(GENERATED);
  // The surge: one old pod that is available, one new one that is not.
  const surge = { observedGeneration: 1, replicas: 2, updatedReplicas: 1, availableReplicas: 1 };
  const { snapshot: told } = converged(withDeployment(broken, ["status"], surge));
  deepStrictEqual([word(told, "Available"), word(told, "Ready")], ["False CrashLoop", "False CrashLoop"]);
});
