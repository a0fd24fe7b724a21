/**
 * Fields that one version has and the other lacks, as differences between the plain conversion and the original object.
 * `applied(made, differences(made, wanted))` is `wanted`.
 *
 * A difference is bound to the value in its place, and a sub-field to the value that it belongs to: if that is edited
 * in the other version, the difference no longer applies.
 */
import { isList, isObject, type Json, type JsonObject, member, putAll } from "../../data/json.ts";

/** The version that the leftovers belong to; they are stored on an object of the other one. */
export type Of = "v1alpha1" | "v1alpha2";

/** One difference: at this place belongs `to`; without `to` nothing belongs there. */
export interface Leftover {
  readonly at: ReadonlyArray<string>;
  readonly to?: Json;
  /** What conversion alone puts there; absent: nothing. */
  readonly was?: Json;
  /** Values that the field belongs to, by dotted path; null: absent. */
  readonly while?: JsonObject;
}

/** Which objects of a version are looked into, and what their fields belong to. */
export interface Shape {
  /** Objects of which both versions have some fields: looked into even where one side lacks them. */
  readonly open: ReadonlySet<string>;
  /** Objects whose other fields mean nothing without them: their fields come back only into an object that is there. */
  readonly closed: ReadonlySet<string>;
  /** Field → the values that it belongs to. */
  readonly boundTo: Readonly<Record<string, ReadonlyArray<string>>>;
  /** Fields that the other version lacks, though conversion fills them: always restored. */
  readonly ownFields: ReadonlySet<string>;
}

export const V1ALPHA2_SHAPE: Shape = {
  open: new Set([
    "",
    "spec",
    "spec.networking",
    "spec.networking.tls",
    "spec.workload",
    "spec.workload.overrides",
    "spec.workload.probes",
    // Of v1alpha2 alone, but each of their fields may have a manager of its own.
    "spec.providers",
    "spec.resources",
    "spec.vectorStores",
    "spec.storage",
    "spec.storage.kv",
    "spec.storage.sql",
    "spec.externalProviders",
    "status",
    "status.distributionConfig",
    "status.version",
  ]),
  closed: new Set([
    "spec.distribution",
    "spec.baseConfig",
    "spec.overrideConfig",
    "spec.networking.expose",
    "spec.networking.tls.caBundle",
    "spec.workload.storage",
  ]),
  boundTo: {
    "spec.distribution.serverVersion": ["spec.distribution.name", "spec.distribution.image"],
    "spec.distribution.config": ["spec.distribution.name", "spec.distribution.image"],
    "spec.overrideConfig.key": ["spec.overrideConfig.configMapName"],
    "spec.networking.tls.caBundle.exclusive": ["spec.networking.tls.caBundle.configMapName"],
  },
  ownFields: new Set(),
};

export const V1ALPHA1_SHAPE: Shape = {
  open: new Set([
    "",
    "spec",
    "spec.server",
    "spec.server.containerSpec",
    "spec.server.podOverrides",
    "spec.server.tlsConfig",
    "spec.network",
    "status",
    "status.distributionConfig",
    "status.version",
  ]),
  closed: new Set([
    "spec.server.distribution",
    "spec.server.userConfig",
    "spec.server.storage",
    "spec.server.tlsConfig.caBundle",
  ]),
  boundTo: { "spec.server.userConfig.configMapNamespace": ["spec.server.userConfig.configMapName"] },
  ownFields: new Set(["spec.server.containerSpec.name"]),
};

/** What has to be done to `made` to get `wanted`. */
export const differences = (made: JsonObject, wanted: JsonObject, shape: Shape): ReadonlyArray<Leftover> => {
  const found: Array<Leftover> = [];
  /** `name` is the path with dots. */
  const compare = (was: Json | undefined, to: Json | undefined, path: ReadonlyArray<string>, name: string): void => {
    if (same(was, to)) return;
    const looked = isObject(to) &&
      (shape.open.has(name) && (was === undefined || isObject(was)) || shape.closed.has(name) && isObject(was));
    if (looked) {
      const before = found.length;
      const inner = isObject(was) ? was : {};
      const visit = (key: string): void =>
        compare(member(inner, key), member(to, key), [...path, key], path.length === 0 ? key : `${name}.${key}`);
      Object.keys(inner).forEach(visit);
      for (const key of Object.keys(to)) if (!Object.hasOwn(inner, key)) visit(key);
      // An empty block is a difference of its own; one with fields comes back with them.
      if (was === undefined && found.length === before) found.push({ at: path, to: {} });
      return;
    }
    const owners = shape.boundTo[name];
    found.push({
      at: path,
      ...(to === undefined ? {} : { to }),
      ...(was === undefined || shape.ownFields.has(name) ? {} : { was }),
      ...(owners === undefined ? {} : { while: valuesOf(made, owners) }),
    });
  };
  compare(made, wanted, [], "");
  return found;
};

/** `made` with every difference that still belongs to it. */
export const applied = (made: JsonObject, leftovers: ReadonlyArray<Leftover>, shape: Shape): JsonObject => {
  const keyCount = rememberedKeyCounts();
  const kept = leftovers.filter((leftover) => belongs(made, leftover, shape, keyCount));
  return kept.length === 0 ? made : putAll(made, kept.map(({ at: path, to }) => [path, to]));
};

/** Costs what the leftover is long, however large `made` is: annotations can carry thousands of them. */
const belongs = (made: JsonObject, leftover: Leftover, shape: Shape, keyCount: KeyCount): boolean => {
  let found: Json | undefined = made;
  let name = "";
  for (const [depth, key] of leftover.at.entries()) {
    // A field cannot be set in a value that is not an object, nor in a missing object with a fixed set of fields.
    if (depth > 0 && (found === undefined ? shape.closed.has(name) : !isObject(found))) return false;
    name = depth === 0 ? key : `${name}.${key}`;
    found = member(found, key);
  }
  if (!shape.ownFields.has(name) && !same(leftover.was, found, keyCount)) return false;
  return leftover.while === undefined ||
    Object.entries(leftover.while).every(([owner, value]) => same(value, valueOf(made, owner), keyCount));
};

const valuesOf = (made: JsonObject, owners: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(owners.map((owner): [string, Json] => [owner, valueOf(made, owner)]));

/** By dotted path; null: absent. */
const valueOf = (made: JsonObject, owner: string): Json => {
  let found: Json | undefined = made;
  for (const key of owner.split(".")) found = member(found, key);
  return found ?? null;
};

type KeyCount = (value: JsonObject) => number;

const countKeys: KeyCount = (value) => Object.keys(value).length;

/** A large object that is compared with thousands of small ones is counted once. */
const rememberedKeyCounts = (): KeyCount => {
  const known = new Map<JsonObject, number>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const count = countKeys(value);
    known.set(value, count);
    return count;
  };
};

/** Equal as JSON, whatever the order of keys. Costs what `one` is large, where `keyCount` costs nothing. */
export const same = (one: Json | undefined, other: Json | undefined, keyCount: KeyCount = countKeys): boolean => {
  if (one === other) return true;
  if (isList(one)) {
    return isList(other) && one.length === other.length &&
      one.every((item, index) => same(item, other[index], keyCount));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return keys.length === keyCount(other) &&
    keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key], keyCount));
};
