/**
 * Fields of other managers in the operator's objects are kept, with two exceptions that would otherwise persist: the
 * other half of an either-or field that the operator sets, which makes every later apply invalid, and fields of an
 * earlier template that `kubectl rollout undo` restored, its record included. The operator takes ownership of these, so that
 * the following apply removes them in the same write that repairs the rest.
 */
import { at, isObject, type Json, type JsonObject, member, objectAt } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { liveDeployment } from "../snapshot/live_deployment.ts";
import type { LiveReplicaSet } from "../snapshot/live_replica_set.ts";
import { RECORD_ANNOTATIONS, recordIn } from "../snapshot/record.ts";
import { type FieldStep, type FieldSteps, ownsField } from "../snapshot/field_set.ts";
import { liveObject, textsIn } from "../snapshot/live_object.ts";
import { itemWith, keyedItems } from "../snapshot/list_keys.ts";

/** At most one field of each group may be set. Source: the API validation of pods and PodDisruptionBudgets. */
const EITHER_OR: ReadonlyArray<ReadonlyArray<string>> = [
  ["value", "valueFrom"],
  ["secretKeyRef", "configMapKeyRef", "fieldRef", "resourceFieldRef"],
  ["httpGet", "exec", "tcpSocket", "grpc"],
  ["minAvailable", "maxUnavailable"],
  [
    "emptyDir",
    "configMap",
    "secret",
    "persistentVolumeClaim",
    "projected",
    "downwardAPI",
    "ephemeral",
    "csi",
    "hostPath",
  ],
];

/**
 * Fields to remove with the apply of the manifest; `replicaSets` are those of the Deployment. `isAnswered`: the object
 * is the API server's response to an apply of the operator; remaining conflicts were set by a policy, which would set
 * them again.
 */
export const foreignFields = (
  manifest: Manifest,
  live: JsonObject | undefined,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
  isAnswered: boolean,
): ReadonlyArray<FieldSteps> => {
  if (live === undefined) return [];
  const spec = isAnswered ? [] : contradictions(manifest.spec ?? {}, live.spec, ["spec"]);
  if (manifest.kind !== "Deployment") return spec;
  const isRecreate = !isAnswered && at(manifest, "spec", "strategy", "type") === "Recreate" &&
    at(live, "spec", "strategy", "rollingUpdate") !== undefined;
  return [
    ...spec,
    ...(isRecreate ? [["spec", "strategy", "rollingUpdate"]] : []),
    ...restoredFields(manifest, live, replicaSets),
    ...recordsOfOthers(manifest, live),
  ];
};

/** `kubectl rollout undo` copies the annotations of a ReplicaSet to the Deployment: records of a template that it has no more. */
const recordsOfOthers = (manifest: Manifest, live: JsonObject): ReadonlyArray<FieldSteps> => {
  const { annotations, fieldSets } = liveObject(live);
  const own = fieldSets.find(({ isOwnApply }) => isOwnApply);
  return Object.values(RECORD_ANNOTATIONS).filter((name) =>
    annotations[name] !== undefined &&
    textsIn(manifest.metadata.annotations)[name] === undefined &&
    !ownsField(own, "f:metadata", "f:annotations", `f:${name}`)
  ).map((name) => ["metadata", "annotations", name]);
};

const contradictions = (wanted: Json, live: Json | undefined, path: FieldSteps): ReadonlyArray<FieldSteps> => {
  if (isObject(wanted) && isObject(live)) {
    const other = EITHER_OR.flatMap((group) =>
      group.filter((field) => Object.hasOwn(live, field) && !Object.hasOwn(wanted, field))
        .filter(() => group.some((field) => Object.hasOwn(wanted, field)))
    ).map((field) => [...path, field]);
    return [
      ...other,
      ...Object.entries(wanted).flatMap(([key, value]) => contradictions(value, member(live, key), [...path, key])),
    ];
  }
  return (keyedItems(path.at(-1), wanted) ?? []).flatMap(({ keys, item }) =>
    contradictions(item, itemWith(keys, live), [...path, keys])
  );
};

/**
 * Fields that a Deployment got back by `kubectl rollout undo`, which restores the template of an earlier ReplicaSet:
 * those that neither the manifest nor the template before the undo has.
 *
 * The undo also restores the record annotations of the earlier template. Until the operator has repaired them, two
 * differences apply: a field also counts if the template before had it with another value (which may be a default),
 * and if the ReplicaSet of that template is not in the cache yet, only the manifest is compared. Without these, undo and
 * operator would overwrite each other forever.
 */
const restoredFields = (
  manifest: Manifest,
  live: JsonObject,
  replicaSets: ReadonlyArray<LiveReplicaSet>,
): ReadonlyArray<FieldSteps> => {
  const { template: now, revision = 0, record: { template: recorded }, isObserved } = liveDeployment(live);
  const text = JSON.stringify(now);
  const earlier = replicaSets.find(({ template }) => JSON.stringify(template) === text);
  // A Deployment that only moves forward runs on a ReplicaSet that it has never used before, and may learn its revision later.
  if (earlier === undefined || !earlier.isReused && (earlier.revision ?? 0) >= revision) return [];
  const isRepaired = recorded === undefined || recorded === recordIn(manifest).template;
  const others = replicaSets.filter((replicaSet) => replicaSet !== earlier);
  const before = isRepaired
    ? others.toSorted((a, b) => (b.revision ?? 0) - (a.revision ?? 0))[0]
    // The Deployment controller counts on when it sees the undo.
    : others.find((replicaSet) => (replicaSet.revision ?? 0) === (isObserved ? revision - 1 : revision));
  if (isRepaired && before === undefined) return [];
  return extras(
    now,
    objectAt(manifest, "spec", "template"),
    before?.template,
    ["spec", "template"],
    !isRepaired,
  );
};

const extras = (
  live: Json,
  wanted: Json | undefined,
  before: Json | undefined,
  path: FieldSteps,
  changedToo: boolean,
): ReadonlyArray<FieldSteps> => {
  const within = (inner: Json, one: Json | undefined, other: Json | undefined, step: FieldStep) =>
    one === undefined && other === undefined
      ? [[...path, step]]
      : extras(inner, one, other, [...path, step], changedToo);
  if (isObject(live)) {
    return Object.entries(live).flatMap(([key, value]) =>
      within(value, member(wanted ?? null, key), member(before ?? null, key), key)
    );
  }
  const items = keyedItems(path.at(-1), live);
  if (items === undefined) {
    return changedToo && wanted === undefined && JSON.stringify(live) !== JSON.stringify(before) ? [path] : [];
  }
  return items.flatMap(({ item, keys }) => within(item, itemWith(keys, wanted), itemWith(keys, before), keys));
};
