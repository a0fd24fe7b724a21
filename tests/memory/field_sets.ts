/**
 * Which manager owns which fields of an object, in the format of the API server (FieldsV1), and what a server-side apply makes of
 * it. Only what the operator's kinds need; tests/cluster/memory_cluster_test.ts compares it with the real API server.
 */
import { isList, isObject, type Json, type JsonObject, member, objectAt, omit } from "../../core/data/json.ts";

/** The keys by which the API server merges a list, by the name of the list and what its items have; other lists are values. */
const keysOf = (list: string, item: Json): ReadonlyArray<string> | undefined => {
  if (!isObject(item)) return undefined;
  switch (list) {
    case "containers":
    case "initContainers":
    case "env":
    case "volumes":
    case "imagePullSecrets":
      return ["name"];
    case "volumeMounts":
      return ["mountPath"];
    case "topologySpreadConstraints":
      return ["topologyKey", "whenUnsatisfiable"];
    case "ownerReferences":
      return ["uid"];
    case "conditions":
      return ["type"];
    case "ports":
      return Object.hasOwn(item, "containerPort") ? ["containerPort", "protocol"] : ["port", "protocol"];
    default:
      return undefined;
  }
};

const KEY_DEFAULTS: JsonObject = { protocol: "TCP" };

/** Maps that the API server treats as one value. */
const VALUES: ReadonlySet<string> = new Set([
  "selector",
  "podSelector",
  "namespaceSelector",
  "labelSelector",
  "nodeSelector",
  "secretKeyRef",
  "configMapKeyRef",
  "fieldRef",
  "resourceFieldRef",
  "scaleTargetRef",
]);

/** Fields that belong to no manager. */
const OF_NO_MANAGER = ["apiVersion", "kind"];
const METADATA_OF_NO_MANAGER = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "managedFields",
  "generateName",
  "selfLink",
];

export const ownable = (object: JsonObject): JsonObject => ({
  ...omit(object, ...OF_NO_MANAGER),
  metadata: omit(objectAt(object, "metadata"), ...METADATA_OF_NO_MANAGER),
});

/** The fields of a value as FieldsV1. */
export const fieldsOf = (value: Json, name = ""): JsonObject => {
  if (isObject(value) && !VALUES.has(name)) {
    return Object.fromEntries(
      Object.entries(value).filter(([key, inner]) => !(key === "metadata" && name === "" && isEmpty(inner)))
        .map(([key, inner]) => [`f:${key}`, fieldsOf(inner, key)]),
    );
  }
  if (!isList(value) || value.length === 0 || keysOf(name, value[0] ?? null) === undefined) return {};
  return Object.fromEntries(
    value.map((item) => [itemKey(name, item), { ".": {}, ...fieldsOf(item) }]),
  );
};

const isEmpty = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

const itemKey = (list: string, item: Json): string => {
  const keys = keysOf(list, item) ?? [];
  return `k:${
    JSON.stringify(Object.fromEntries(keys.map((key) => [key, member(item, key) ?? KEY_DEFAULTS[key] ?? null])))
  }`;
};

/** The fields of `a` that are not in `b`. */
export const without = (a: JsonObject, b: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(a).flatMap(([key, inner]) => {
      const other = b[key];
      if (!isObject(other ?? null)) return [[key, inner]];
      const left = without(inner as JsonObject, other as JsonObject);
      return Object.keys(left).length > 0 ? [[key, left]] : [];
    }),
  );

/** The value without these fields; what is left of an object or list that lost all of its fields goes as well. */
export const removed = (value: Json, fields: JsonObject, name = ""): Json | undefined => {
  if (Object.keys(fields).length === 0) return undefined;
  if (isObject(value)) {
    const left = Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        const gone = fields[`f:${key}`];
        if (!isObject(gone ?? null)) return [[key, inner]];
        const kept = removed(inner, gone as JsonObject, key);
        return kept === undefined ? [] : [[key, kept]];
      }),
    );
    return Object.keys(left).length === 0 ? undefined : left;
  }
  if (!isList(value)) return undefined;
  const left = value.flatMap((item) => {
    const gone = fields[itemKey(name, item)];
    if (!isObject(gone ?? null)) return [item];
    // Its own mark says that the item as a whole was applied; what others own of it stays, with its keys.
    const { ".": mark, ...inner } = gone as JsonObject;
    const kept = removed(item, mark === undefined ? inner : { ...inner }, "");
    const keys = keysOf(name, item) ?? [];
    const isLeft = isObject(kept ?? null) &&
      Object.keys(kept as JsonObject).some((key) => !keys.includes(key) && key !== "protocol");
    return isLeft
      ? [{ ...Object.fromEntries(keys.map((key) => [key, member(item, key) ?? null])), ...(kept as JsonObject) }]
      : [];
  });
  return left.length === 0 ? undefined : left;
};

/** The value after an apply of `part`. */
export const merged = (value: Json | undefined, part: Json, name = ""): Json => {
  if (isObject(part) && isObject(value ?? null) && !VALUES.has(name)) {
    const base = value as JsonObject;
    return {
      ...base,
      ...Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, merged(base[key], inner, key)])),
    };
  }
  if (isList(part) && isList(value ?? null) && part.length > 0 && keysOf(name, part[0] ?? null) !== undefined) {
    const base = value as ReadonlyArray<Json>;
    const applied = new Map(part.map((item) => [itemKey(name, item), item]));
    const known = new Map(base.map((item) => [itemKey(name, item), item]));
    // What the apply names comes in its order; what others added, after it.
    return [
      ...[...applied].map(([key, item]) => known.has(key) ? merged(known.get(key), item) : item),
      ...[...known].filter(([key]) => !applied.has(key)).map(([, item]) => item),
    ];
  }
  return part;
};

/** Fields of which the two values differ, among those of `fields`. */
export const changedAmong = (fields: JsonObject, before: Json, after: Json): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, inner]) => {
      const [one, other] = [valueAt(before, key), valueAt(after, key)];
      if (!isObject(inner) || isEmpty(inner)) {
        return key !== "." && JSON.stringify(one) !== JSON.stringify(other) ? [[key, {}]] : [];
      }
      const left = changedAmong(inner, one ?? null, other ?? null);
      return Object.keys(left).length > 0 ? [[key, left]] : [];
    }),
  );

const valueAt = (value: Json, key: string): Json | undefined => {
  if (key.startsWith("f:")) return member(value, key.slice(2));
  if (!key.startsWith("k:") || !isList(value)) return undefined;
  const wanted = JSON.parse(key.slice(2)) as JsonObject;
  return value.find((item) =>
    Object.entries(wanted).every(([name, it]) => (member(item, name) ?? KEY_DEFAULTS[name]) === it)
  );
};
