/** What the API server and the machine need: the writes of a plan with nothing around them. */
import * as Redacted from "effect/Redacted";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { decide } from "../../core/plan/decide.ts";
import { report } from "../../core/report/report.ts";
import { FIELD_MANAGER } from "../../core/snapshot/field_manager.ts";
import type { Step } from "../../core/plan/step.ts";
import type { ClusterSnapshot } from "../../core/snapshot/cluster_snapshot.ts";
import { NOWHERE } from "../../core/resources/of_resource.ts";
import { SETTINGS_DEFAULT } from "../../core/operator/settings.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import type { ControlPlane } from "../cluster/control_plane.ts";
import { EMPTY_SNAPSHOT } from "../empty_snapshot.ts";
import { inParallel } from "../in_parallel.ts";
import { collection, IN_FLIGHT, post, send } from "./resources.ts";

export interface Planned {
  readonly resource: JsonObject;
  readonly steps: ReadonlyArray<Step>;
}

/** Everything that one reconciliation writes. */
const stepsOf = (resource: JsonObject): ReadonlyArray<Step> => {
  const snapshot = snapshotOf(resource);
  const decision = decide(snapshot);
  return [...decision.steps, ...report(snapshot, decision, { live: snapshot.live, rejectedWrites: [] }).steps];
};

/** What is to be written for each resource of a namespace. */
export const plannedWrites = async (cluster: ControlPlane, namespace: string): Promise<ReadonlyArray<Planned>> => {
  const found = await (await cluster.fetch(collection(namespace))).json();
  return (found.items as ReadonlyArray<JsonObject>).map((object) => {
    const resource = { ...TYPE, ...object };
    return { resource, steps: stepsOf(resource) };
  });
};

/** Milliseconds from the first request until the last Deployment. */
export const writeAll = async (cluster: ControlPlane, planned: ReadonlyArray<Planned>): Promise<number> => {
  let lastDeploymentMs = 0;
  const started = performance.now();
  await inParallel(planned.length, IN_FLIGHT, async (index) => {
    const { resource, steps } = planned[index] ?? NOTHING;
    for (const step of steps) {
      await writeStep(cluster, resource, step);
      if (isOf(step, "Deployment")) lastDeploymentMs = performance.now() - started;
    }
  });
  return lastDeploymentMs;
};

/** One resource up to its Deployment: what that needs at once, then the Deployment. */
export const bareOne = async (cluster: ControlPlane, namespace: string, name: string): Promise<void> => {
  const resource = await (await cluster.fetch(`${collection(namespace)}/${name}`)).json() as JsonObject;
  const steps = stepsOf(resource);
  const needed = steps.filter((step) =>
    ["ServiceAccount", "PersistentVolumeClaim", "ConfigMap"].some((kind) => isOf(step, kind))
  );
  await Promise.all(needed.map((step) => writeStep(cluster, resource, step)));
  for (const step of steps.filter((step) => isOf(step, "Deployment"))) await writeStep(cluster, resource, step);
};

const NOTHING: Planned = { resource: {}, steps: [] };
const TYPE = { apiVersion: API_VERSION, kind: KIND };
const isOf = (step: Step, kind: string): boolean => step._tag === "Apply" && step.manifest.kind === kind;

const writeStep = async (cluster: ControlPlane, resource: JsonObject, step: Step): Promise<void> => {
  const { name, namespace } = resource.metadata as { readonly name: string; readonly namespace: string };
  switch (step._tag) {
    case "Apply": {
      const { apiVersion, kind, metadata } = step.manifest;
      const path = pathOf({ apiVersion, kind, namespace, name: metadata.name });
      const query = `fieldManager=${FIELD_MANAGER}&force=true&fieldValidation=Ignore`;
      await send(cluster, "PATCH", `${path}?${query}`, step.manifest, "application/apply-patch+yaml");
      break;
    }
    case "Announce":
      await post(
        cluster,
        `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
        event(namespace, step.note.reason, step.note.note),
      );
      break;
    case "SetStatus":
      await send(cluster, "PUT", `${collection(namespace)}/${name}/status`, { ...resource, status: step.status });
      break;
  }
};

const event = (namespace: string, reason: string, note: string): JsonObject => ({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { generateName: "bare-", namespace },
  eventTime: new Date().toISOString().replace("Z", "000Z"),
  reportingController: "bare",
  reportingInstance: "bare",
  type: "Normal",
  reason,
  action: "Apply",
  note,
  regarding: { kind: "LlamaStackDistribution", namespace, name: "bare" },
});

const snapshotOf = (object: JsonObject): ClusterSnapshot => ({
  ...EMPTY_SNAPSHOT,
  nowMs: Date.now(),
  resource: object,
  operator: {
    version: "bench",
    surroundings: DEFAULT_SURROUNDINGS,
    platform: NOWHERE.platform,
    hmacKey: Redacted.make("bench"),
    rolloutOnUpgrade: SETTINGS_DEFAULT.rolloutOnUpgrade,
    namespaceCaBundle: SETTINGS_DEFAULT.namespaceCaBundle,
    upgradeParallelism: SETTINGS_DEFAULT.upgradeParallelism,
  },
});
