/** Deletions: objects that the resource no longer requires, and configs that no workload uses. */
import { FORMER_CONFIGS_KEPT } from "../data/limits.ts";
import { type JsonObject } from "../data/json.ts";
import { WRITTEN_KINDS } from "../snapshot/kinds.ts";
import { exposedUntilRouted } from "./kept_exposure.ts";
import { isOurs } from "./ownership.ts";
import type { Blueprint } from "../resources/blueprint.ts";
import { type Pruning, Step } from "./step.ts";
import { CA_BUNDLE_COMPONENT } from "../resources/config_map.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { rolloutState } from "./rollout/rollout_state.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { liveObject } from "../snapshot/live_object.ts";

const PRUNABLE = new Set(WRITTEN_KINDS.filter(({ prunable }) => prunable).map(({ kind }) => kind));

/**
 * `wanted` are the keys `Kind/name` of the objects that the resource requires. What pods of a former template, and a rollback to it,
 * need goes once the rollout is complete; until then, what no template has any more, so that edits of a rollout that never ends do not
 * add up.
 */
export const pruned = (
  snapshot: ClusterSnapshot,
  wanted: ReadonlySet<string>,
  blueprint: Blueprint,
  isRolledOut: boolean,
): ReadonlyArray<Pruning> => {
  const { uid, configFile } = blueprint;
  const kept = exposedUntilRouted(snapshot, blueprint);
  const isDeletable = (object: JsonObject) => isOurs(object, uid) && !liveObject(object).isGoing;
  const isLeft = (object: JsonObject) =>
    !wanted.has(liveKey(liveObject(object).kind, nameOf(object))) && object !== kept && isDeletable(object);
  const left = [...snapshot.live.values()].filter(isLeft);
  const inPods = snapshot.pods.flatMap(({ configMaps }) => configMaps);
  return [
    ...[
      ...left.filter((object) => isPrunable(object) && (isRolledOut || !isSecretOfTemplate(snapshot, object))),
      ...leftBundles(snapshot, [...left, ...snapshot.largeBundles.filter(isLeft)], inPods),
    ].map((object) => prune(object, "no longer required by the resource")),
    ...leftConfigs(snapshot, snapshot.configs.filter(isDeletable), configFile?.configMapName, inPods)
      .map((config) => prune(config, "no longer used by a Deployment, ReplicaSet or Pod")),
  ];
};

const isPrunable = (object: JsonObject): boolean => PRUNABLE.has(liveObject(object).kind);

const nameOf = (object: JsonObject): string => liveObject(object).name;

/** Whether a template of the Deployment, the present or a former one, has this Secret; so too while no ReplicaSet is known. */
const isSecretOfTemplate = (snapshot: ClusterSnapshot, object: JsonObject): boolean =>
  liveObject(object).kind === "Secret" &&
  (snapshot.replicaSets.length === 0 ||
    [...snapshot.replicaSets, deploymentIn(snapshot)].some((one) => one?.secrets.includes(nameOf(object))));

/**
 * Copies of CA bundles that the resource no longer requires. Pods of an older template, and a rollback to it, need theirs
 * until the rollout is complete.
 */
const leftBundles = (
  snapshot: ClusterSnapshot,
  left: ReadonlyArray<JsonObject>,
  inPods: ReadonlyArray<string>,
): ReadonlyArray<JsonObject> => {
  const { replicaSets } = snapshot;
  const deployment = deploymentIn(snapshot);
  const isSettled = deployment === undefined ||
    ["complete", "disrupted"].includes(rolloutState(deployment, snapshot));
  if (!isSettled && replicaSets.length === 0) return [];
  const former = isSettled ? [] : replicaSets.flatMap(({ configMaps }) => configMaps);
  const mounted = new Set([...deployment?.configMaps ?? [], ...former, ...inPods]);
  return left.filter((object) => {
    const { kind, name, labels } = liveObject(object);
    return kind === "ConfigMap" && !mounted.has(name) && labels["app.kubernetes.io/component"] === CA_BUNDLE_COMPONENT;
  });
};

/**
 * Generated ConfigMaps that are neither among the newest nor used by a Deployment, ReplicaSet or Pod. `current` is the
 * desired one of this reconciliation; it is never pruned, even if the cluster does not show it yet, and it is not
 * always the newest: reverting an edit returns to a former one, and configs of one second have no order.
 */
const leftConfigs = (
  snapshot: ClusterSnapshot,
  configs: ReadonlyArray<JsonObject>,
  current: string | undefined,
  inPods: ReadonlyArray<string>,
): ReadonlyArray<JsonObject> => {
  const used = new Set([
    ...deploymentIn(snapshot)?.configMaps ?? [],
    ...snapshot.replicaSets.flatMap(({ configMaps }) => configMaps),
    ...inPods,
  ]);
  return configs.filter((config) => nameOf(config) !== current).slice(FORMER_CONFIGS_KEPT)
    .filter((config) => !used.has(nameOf(config)));
};

const prune = (live: JsonObject, why: string): Pruning => {
  const { apiVersion, kind, namespace, name, uid = "", version } = liveObject(live);
  return Step.Prune({ key: { apiVersion, kind, namespace, name }, uid, version, why });
};
