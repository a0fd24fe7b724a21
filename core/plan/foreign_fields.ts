/**
 * Fields of other managers in the operator's objects are kept, with two exceptions that would otherwise persist: the
 * other half of an either-or field that the operator sets, which makes every later apply invalid, and fields of an
 * earlier template that `kubectl rollout undo` restored, its record included. The operator takes ownership of these, so that
 * the following apply removes them in the same write that repairs the rest.
 */
import { at, isList, isObject, type Json, type JsonObject, member, objectAt, omit } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { liveDeployment } from "../snapshot/live_deployment.ts";
import type { LiveReplicaSet } from "../snapshot/live_replica_set.ts";
import { RECORD_ANNOTATIONS, recordIn } from "../snapshot/record.ts";
import { liveObject, ownsField, textsIn } from "../snapshot/live_object.ts";

/** A member of a map, or the keys of a list item. */
export type FieldStep = string | Readonly<Record<string, Json>>;
export type ClaimedField = ReadonlyArray<FieldStep>;

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
): ReadonlyArray<ClaimedField> => {
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
const recordsOfOthers = (manifest: Manifest, live: JsonObject): ReadonlyArray<ClaimedField> => {
  const { annotations, fieldSets } = liveObject(live);
  const own = fieldSets.find(({ isOwnApply }) => isOwnApply);
  return Object.values(RECORD_ANNOTATIONS).filter((name) =>
    annotations[name] !== undefined &&
    textsIn(manifest.metadata.annotations)[name] === undefined &&
    !ownsField(own, "f:metadata", "f:annotations", `f:${name}`)
  ).map((name) => ["metadata", "annotations", name]);
};

const contradictions = (wanted: Json, live: Json | undefined, path: ClaimedField): ReadonlyArray<ClaimedField> => {
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
  return itemsOf(path.at(-1), wanted, live).flatMap(({ keys, item, other }) =>
    contradictions(item, other, [...path, keys])
  );
};

/**
 * The keys by which the API server merges the lists of a pod, by the name of the list; other lists are replaced as a whole.
 * Source: the `x-kubernetes-list-map-keys` of its OpenAPI.
 */
export const LIST_KEYS = new Map<FieldStep | undefined, ReadonlyArray<string>>([
  ...["containers", "initContainers", "env", "volumes", "imagePullSecrets", "resourceClaims", "claims"]
    .map((list) => [list, ["name"]] satisfies [string, ReadonlyArray<string>]),
  ["volumeMounts", ["mountPath"]],
  ["volumeDevices", ["devicePath"]],
  ["ports", ["containerPort", "protocol"]],
  ["topologySpreadConstraints", ["topologyKey", "whenUnsatisfiable"]],
  ["hostAliases", ["ip"]],
]);

/** Items of two lists that the API server takes for the same. */
const itemsOf = (list: FieldStep | undefined, wanted: Json, live: Json | undefined) => {
  if (!isList(wanted) || !isList(live)) return [];
  const names = LIST_KEYS.get(list);
  return names === undefined ? [] : wanted.flatMap((item) => {
    const keys = Object.fromEntries(names.map((name) => [name, member(item, name) ?? null]));
    const other = live.find((value) => names.every((name) => member(value, name) === keys[name]));
    return other === undefined ? [] : [{ keys, item, other }];
  });
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
): ReadonlyArray<ClaimedField> => {
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
  path: ClaimedField,
  changedToo: boolean,
): ReadonlyArray<ClaimedField> => {
  const within = (inner: Json, one: Json | undefined, other: Json | undefined, step: FieldStep) =>
    one === undefined && other === undefined
      ? [[...path, step]]
      : extras(inner, one, other, [...path, step], changedToo);
  if (isObject(live)) {
    return Object.entries(live).flatMap(([key, value]) =>
      within(value, member(wanted ?? null, key), member(before ?? null, key), key)
    );
  }
  const names = LIST_KEYS.get(path.at(-1));
  if (!isList(live) || names === undefined) {
    return changedToo && wanted === undefined && JSON.stringify(live) !== JSON.stringify(before) ? [path] : [];
  }
  return live.flatMap((item) => {
    const keys = Object.fromEntries(names.map((name) => [name, member(item, name) ?? null]));
    const same = (list: Json | undefined) =>
      isList(list ?? null)
        ? (list as ReadonlyArray<Json>).find((entry) => names.every((name) => member(entry, name) === keys[name]))
        : undefined;
    return within(item, same(wanted), same(before), keys);
  });
};

/** FieldsV1 of a manager without the claimed field, and the part that was taken out. */
export const withoutField = (fields: JsonObject, path: ClaimedField): readonly [JsonObject, JsonObject] => {
  const [step, ...rest] = path;
  if (step === undefined) return [{}, fields];
  const name = Object.keys(fields).find((key) => isStep(key, step));
  if (name === undefined) return [fields, {}];
  const inner = objectAt(fields, name);
  if (rest.length === 0) return [omit(fields, name), { [name]: inner }];
  const [kept, taken] = withoutField(inner, rest);
  const isEmpty = Object.keys(kept).every((key) => key === ".");
  const left = isEmpty && Object.keys(taken).length > 0 && !Object.hasOwn(kept, ".")
    ? omit(fields, name)
    : { ...fields, [name]: kept };
  return [left, Object.keys(taken).length === 0 ? {} : { [name]: taken }];
};

const isStep = (key: string, step: FieldStep): boolean => {
  if (typeof step === "string") return key === `f:${step}`;
  if (!key.startsWith("k:")) return false;
  const keys = JSON.parse(key.slice(2)) as JsonObject;
  return Object.entries(step).every(([name, value]) => keys[name] === value);
};

/** The claimed field as FieldsV1. */
export const fieldsOf = (path: ClaimedField): JsonObject =>
  path.reduceRight<JsonObject>(
    (inner, step) => ({ [typeof step === "string" ? `f:${step}` : `k:${JSON.stringify(step)}`]: inner }),
    {},
  );
