/** Snapshots for tests of decisions, and a cluster that is a value: it takes a plan and is the next snapshot. */
import * as Redacted from "effect/Redacted";
import { type JsonObject, member, objectAt, put, stringAt } from "../core/data/json.ts";
import { decide } from "../core/plan/decide.ts";
import { prepare } from "../core/plan/prepare.ts";
import type { Decision } from "../core/plan/decision.ts";
import { type Outcomes, report } from "../core/report/report.ts";
import type { Planned } from "../core/plan/plan.ts";
import { redacted } from "../core/plan/secret_values.ts";
import type { Step } from "../core/plan/step.ts";
import { takenOver } from "../core/plan/takeover.ts";
import type { Operator } from "../core/snapshot/operator.ts";
import { type ClusterSnapshot, liveKey, type SecretValues } from "../core/snapshot/cluster_snapshot.ts";
import { NOWHERE } from "../core/resources/of_resource.ts";
import { EMPTY_SNAPSHOT } from "../tools/empty_snapshot.ts";
import { manifest, SURROUNDINGS } from "./given.ts";

export const OPERATOR: Operator = {
  version: "0.1.0",
  surroundings: SURROUNDINGS,
  platform: NOWHERE.platform,
  hmacKey: Redacted.make("a key of tests"),
  rolloutOnUpgrade: "Held",
  namespaceCaBundle: "Use",
  upgradeParallelism: 5,
};

/** Values of Secrets by name and key. */
export const secretsOf = (
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): ReadonlyMap<string, SecretValues> =>
  new Map(Object.entries(secrets).map(([name, values]) => [name, redacted(values)]));

export const UID = "11111111-1111-1111-1111-111111111111";

/** A resource that was just created, in an empty namespace. */
export const snapshot = (spec: JsonObject, more: Partial<ClusterSnapshot> = {}): ClusterSnapshot => ({
  ...EMPTY_SNAPSHOT,
  nowMs: Date.UTC(2026, 0, 1),
  resource: resource(spec),
  operator: OPERATOR,
  ...more,
});

export const resource = (spec: JsonObject, generation = 1): JsonObject => {
  const made = manifest({ workload: { replicas: 1 }, ...spec });
  return {
    ...made,
    metadata: { ...objectAt(made, "metadata"), uid: UID, generation },
    status: { observedGeneration: -1 },
  };
};

/** The same snapshot after an edit of the spec. */
export const edited = (before: ClusterSnapshot, spec: JsonObject): ClusterSnapshot => {
  const generation = Number(member(objectAt(before.resource, "metadata"), "generation") ?? 0) + 1;
  const status = objectAt(before.resource, "status");
  return { ...before, resource: { ...resource(spec, generation), status } };
};

/** A reconciliation: the decision, and the report about what a cluster makes of it in which every write succeeds. */
export interface Plan {
  readonly decision: Decision;
  readonly steps: ReadonlyArray<Step>;
  readonly failures: ReturnType<typeof report>["failures"];
  readonly lookAgainMs: number | undefined;
}

/** `outcomes` of the writes, where the API server does not make all of them. */
export const planOf = (snapshot: ClusterSnapshot, outcomes?: Outcomes): Plan => {
  const decision = decide(snapshot);
  const done = decision.steps.reduce(perform, snapshot);
  const { steps, failures, lookAgainMs } = report(
    snapshot,
    decision,
    outcomes ?? { live: done.live, rejectedWrites: [] },
  );
  return { decision, steps: [...decision.steps, ...steps], failures, lookAgainMs };
};

/** What the commands take. */
export const planned = (snapshot: ClusterSnapshot): Planned => ({
  _tag: "Planned",
  snapshot,
  prepared: prepare(snapshot),
  decision: decide(snapshot),
});

/** What the cluster looks like after the steps of a plan, with every pod of the Deployment ready. */
export const after = (before: ClusterSnapshot, plan: Plan): ClusterSnapshot => plan.steps.reduce(perform, before);

/** Passes until a plan is empty, at most `max`; the number of passes that had steps. */
export const converged = (
  start: ClusterSnapshot,
  max = 5,
): { readonly snapshot: ClusterSnapshot; readonly passes: number } => {
  let current = start;
  for (let passes = 0; passes <= max; passes++) {
    const plan = planOf(current);
    if (plan.steps.length === 0) return { snapshot: current, passes };
    current = after(current, plan);
  }
  throw new Error(`still steps after ${max} passes: ${planOf(current).steps.map(({ _tag }) => _tag).join(", ")}`);
};

const perform = (before: ClusterSnapshot, step: Step): ClusterSnapshot => {
  switch (step._tag) {
    case "Apply": {
      const { kind, metadata } = step.manifest;
      const live = new Map(before.live);
      const key = liveKey(kind, metadata.name);
      live.set(key, ready({ ...step.manifest, metadata: { ...metadata, uid: `uid-of-${key}` } }));
      const configs = kind === "ConfigMap" &&
          stringAt(step.manifest, "metadata", "labels", "app.kubernetes.io/component") === "generated-config"
        ? [
          live.get(key) ?? {},
          ...before.configs.filter((config) => stringAt(config, "metadata", "name") !== metadata.name),
        ]
        : before.configs;
      return { ...before, live, configs };
    }
    case "TakeOver": {
      const live = new Map(before.live);
      const key = liveKey(step.key.kind, step.key.name);
      const old = live.get(key) ?? {};
      live.set(
        key,
        put(old, ["metadata", "managedFields"], takenOver(old, before.resource, step.claims)) as JsonObject,
      );
      return { ...before, live };
    }
    case "Prune": {
      const live = new Map(before.live);
      live.delete(liveKey(step.key.kind, step.key.name));
      return {
        ...before,
        live,
        configs: before.configs.filter((config) => stringAt(config, "metadata", "name") !== step.key.name),
      };
    }
    case "Scale": {
      const live = new Map(before.live);
      const key = liveKey("Deployment", step.key.name);
      const old = live.get(key) ?? {};
      live.set(key, ready({ ...old, spec: { ...objectAt(old, "spec"), replicas: step.replicas } }));
      return { ...before, live };
    }
    case "Announce":
      return before;
    case "SetStatus":
      return { ...before, resource: { ...before.resource, status: step.status as unknown as JsonObject } };
  }
};

const ready = (object: JsonObject): JsonObject => {
  if (object.kind === "PersistentVolumeClaim") return { ...object, status: { phase: "Bound" } };
  if (object.kind !== "Deployment") return object;
  const replicas = Number(member(objectAt(object, "spec"), "replicas") ?? 1);
  const metadata = { ...objectAt(object, "metadata"), generation: 1 };
  return {
    ...object,
    metadata,
    status: { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: replicas },
  };
};
