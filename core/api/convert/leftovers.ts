/**
 * What one version holds and the other has no place for: as differences between what conversion alone gives back and what
 * was there. `applied(made, differences(made, wanted))` is `wanted`.
 *
 * A difference is bound to what stood in its place, and a sub-field to the value that it belongs to: when somebody edits
 * that in the other version, the difference has nothing to say any more (R50).
 */
import { at, isList, isObject, type Json, type JsonObject, member, put } from "../../data/json.ts";

/** Which version the leftovers are of; they stand on an object of the other one. */
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
    "spec.overrideConfig",
    "spec.networking.expose",
    "spec.networking.tls.caBundle",
    "spec.workload.storage",
  ]),
  boundTo: {
    "spec.distribution.serverVersion": ["spec.distribution.name", "spec.distribution.image"],
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
export const differences = (made: JsonObject, wanted: JsonObject, shape: Shape): ReadonlyArray<Leftover> =>
  within(made, wanted, [], made, shape);

const within = (
  made: Json | undefined,
  wanted: Json | undefined,
  path: ReadonlyArray<string>,
  all: JsonObject,
  shape: Shape,
): ReadonlyArray<Leftover> => {
  if (same(made, wanted)) return [];
  const name = path.join(".");
  const looked = isObject(wanted) &&
    (shape.open.has(name) && (made === undefined || isObject(made)) || shape.closed.has(name) && isObject(made));
  if (looked) {
    const inner = isObject(made) ? made : {};
    const found = [...new Set([...Object.keys(inner), ...Object.keys(wanted)])]
      .flatMap((key) => within(member(inner, key), member(wanted, key), [...path, key], all, shape));
    // An empty block is a difference of its own; one with fields comes back with them.
    return made === undefined && found.length === 0 ? [{ at: path, to: {} }] : found;
  }
  const owners = shape.boundTo[name];
  return [{
    at: path,
    ...(wanted === undefined ? {} : { to: wanted }),
    ...(made === undefined || shape.ownFields.has(name) ? {} : { was: made }),
    ...(owners === undefined ? {} : { while: valuesOf(all, owners) }),
  }];
};

/** `made` with every difference that still belongs to it. */
export const applied = (made: JsonObject, leftovers: ReadonlyArray<Leftover>, shape: Shape): JsonObject =>
  leftovers.filter((one) => belongs(made, one, shape))
    .reduce((changed, { at: path, to }) => put(changed, path, to), made);

const belongs = (made: JsonObject, leftover: Leftover, shape: Shape): boolean => {
  const path = leftover.at;
  const name = path.join(".");
  const parents = path.slice(0, -1).map((_, depth) => path.slice(0, depth + 1));
  // A field cannot be put into a value that is no object, and a field of a closed object not into none.
  const roomy = parents.every((parent) => {
    const found = at(made, ...parent);
    return found === undefined ? !shape.closed.has(parent.join(".")) : isObject(found);
  });
  if (!roomy) return false;
  if (!shape.ownFields.has(name) && !same(at(made, ...path), leftover.was)) return false;
  return leftover.while === undefined || same(valuesOf(made, Object.keys(leftover.while)), leftover.while);
};

const valuesOf = (made: JsonObject, owners: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(owners.map((owner): [string, Json] => [owner, at(made, ...owner.split(".")) ?? null]));

/** Equal as JSON, whatever the order of keys. */
export const same = (one: Json | undefined, other: Json | undefined): boolean => {
  if (one === other) return true;
  if (isList(one)) {
    return isList(other) && one.length === other.length && one.every((item, index) => same(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]));
};
