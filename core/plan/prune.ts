/** Deletions: objects that the resource no longer requires, and configs that no workload uses. */
import { FORMER_CONFIGS_KEPT } from "../data/limits.ts";
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { OWN_KINDS, ROUTES } from "../snapshot/kinds.ts";
import { isGoing, isOurs } from "./ownership.ts";
import type { ObjectKey } from "../snapshot/object_key.ts";
import { type Pruning, Step } from "./step.ts";
import { CA_BUNDLE_COMPONENT } from "../resources/config_map.ts";
import { rolloutState } from "./rollout/rollout_state.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const PRUNABLE = new Set([...OWN_KINDS, ROUTES].filter(({ prunable }) => prunable).map(({ kind }) => kind));

/** `wanted` are the keys `Kind/name` of the desired objects. */
export const prunedObjects = (
  snapshot: ClusterSnapshot,
  wanted: ReadonlySet<string>,
  uid: string | undefined,
): ReadonlyArray<Pruning> =>
  [...snapshot.live].filter(([key, live]) =>
    PRUNABLE.has(key.split("/")[0] ?? "") && !wanted.has(key) && isOurs(live, uid) && !isGoing(live)
  ).map(([, live]) => prune(live, "no longer required by the resource"));

/**
 * The copy of a CA bundle that the resource no longer requires. Pods of an older template, and a rollback to it, need
 * it until the rollout is complete.
 */
export const prunedBundles = (
  snapshot: ClusterSnapshot,
  wanted: ReadonlySet<string>,
  uid: string | undefined,
): ReadonlyArray<Pruning> => {
  const deployment = [...snapshot.live.values()].find(({ kind }) => kind === "Deployment");
  const isSettled = deployment === undefined ||
    ["complete", "disrupted"].includes(rolloutState(deployment, snapshot.pods, snapshot.replicaSets));
  if (!isSettled) return [];
  const mounted = new Set([
    ...configMapsOf(templateSpec(deployment)),
    ...snapshot.pods.flatMap((pod) => configMapsOf(objectAt(pod, "spec"))),
  ]);
  return [...snapshot.live].filter(([key, live]) =>
    live.kind === "ConfigMap" && !wanted.has(key) && isOurs(live, uid) && !isGoing(live) &&
    stringAt(live, "metadata", "labels", "app.kubernetes.io/component") === CA_BUNDLE_COMPONENT &&
    !mounted.has(stringAt(live, "metadata", "name") ?? "")
  ).map(([, live]) => prune(live, "no longer required by the resource"));
};

/**
 * Generated ConfigMaps that are neither among the newest nor used by a Deployment, ReplicaSet or Pod. `current` is the
 * desired one of this reconciliation; it is never pruned, even if the cluster does not show it yet, and it is not
 * always the newest: reverting an edit returns to a former one, and configs of one second have no order.
 */
export const prunedConfigs = (
  snapshot: ClusterSnapshot,
  current: string | undefined,
  uid: string | undefined,
): ReadonlyArray<Pruning> => {
  const named = new Set([
    ...(current === undefined ? [] : [current]),
    ...[...snapshot.live.values()].filter((object) => object.kind === "Deployment").flatMap((object) =>
      configMapsOf(templateSpec(object))
    ),
    ...snapshot.replicaSets.flatMap((replicaSet) => configMapsOf(templateSpec(replicaSet))),
    ...snapshot.pods.flatMap((pod) => configMapsOf(objectAt(pod, "spec"))),
  ]);
  const nameIn = (object: JsonObject): string => stringAt(object, "metadata", "name") ?? "";
  return snapshot.configs.filter((config) => isOurs(config, uid) && !isGoing(config) && nameIn(config) !== current)
    .slice(
      FORMER_CONFIGS_KEPT,
    )
    .filter((config) => !named.has(nameIn(config)))
    .map((config) => prune(config, "no longer used by a Deployment, ReplicaSet or Pod"));
};

const prune = (live: JsonObject, why: string): Pruning =>
  Step.Prune({
    key: keyOfLive(live),
    uid: stringAt(live, "metadata", "uid") ?? "",
    version: stringAt(live, "metadata", "resourceVersion") ?? "",
    why,
  });

const keyOfLive = (live: JsonObject): ObjectKey => ({
  apiVersion: stringAt(live, "apiVersion") ?? "",
  kind: stringAt(live, "kind") ?? "",
  namespace: stringAt(live, "metadata", "namespace") ?? "",
  name: stringAt(live, "metadata", "name") ?? "",
});
