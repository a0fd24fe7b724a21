/** The number of pods, which is updated even if the resource has errors, unless something else controls it. */
import { type JsonObject } from "../data/json.ts";
import { autoscalerMinimum, autoscales, isScaledElsewhere } from "../resources/autoscaler.ts";
import { isAdoptable, isOurs } from "./ownership.ts";
import type { Prepared } from "./prepare.ts";
import { keyOf } from "../snapshot/object_key.ts";
import { type Scaling, Step, type StepPrecondition } from "./step.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { liveDeployment } from "../snapshot/live_deployment.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { ownsField } from "../snapshot/field_set.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Scaling continues despite other failures. */
export const scaling = (snapshot: ClusterSnapshot): ReadonlyArray<Scaling> => {
  const { name, uid } = liveObject(snapshot.resource);
  const live = snapshot.live.get(liveKey("Deployment", name));
  const { replicas: wanted } = liveResource(snapshot.resource);
  if (live === undefined || typeof wanted !== "number" || wanted < 0) return [];
  if (!isOurs(live, uid) || !isAdoptable(live, snapshot)) return [];
  if (liveDeployment(live).wantedReplicas === wanted) return [];
  const { apiVersion, kind, namespace } = liveObject(live);
  const key = { apiVersion, kind, namespace, name };
  return [Step.Scale({ key, replicas: wanted, precondition: versionOf(live), why: "the number of pods changed" })];
};

/**
 * Where something else scales, our apply names no number of pods. Dropping the field while we alone own it would set it back
 * to one and stop pods; owning it under another manager first keeps it. From zero a HorizontalPodAutoscaler does nothing: it gets
 * its minimum.
 */
export const handOver = (
  prepared: Prepared,
  live: JsonObject | undefined,
  /** Whether there is an autoscaler already: where somebody set zero beside it, it stays. */
  hasAutoscaler: boolean,
): ReadonlyArray<Scaling> => {
  if (live === undefined || !isScaledElsewhere(prepared.blueprint)) return [];
  const { wantedReplicas: running } = liveDeployment(live);
  const starts = autoscales(prepared.blueprint) && !hasAutoscaler && running === 0;
  const ours = liveObject(live).fieldSets.some((set) => set.isOwnApply && ownsField(set, "f:spec", "f:replicas"));
  if (!ours && !starts) return [];
  return [
    Step.Scale({
      key: keyOf(prepared.objects.deployment),
      replicas: running === 0 && autoscales(prepared.blueprint) ? autoscalerMinimum(prepared.blueprint) : running,
      precondition: versionOf(live),
      why: "the operator no longer controls the number of pods",
    }),
  ];
};

const versionOf = (live: JsonObject): StepPrecondition => ({ version: liveObject(live).version });
