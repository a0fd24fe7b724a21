/** What the cache holds for a resource, and where in it an object belongs. */
import { sha256Hex } from "../../core/data/digest.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { KEPT_RESOURCE_MAX } from "../limits.ts";
import { essential } from "./cached_fields.ts";
import { type Packed, plain, textOf, unpacked } from "./packed.ts";

export interface CachedResource {
  /** By `Kind/name`. */
  readonly objects: Map<string, CacheEntry>;
  readonly pods: Map<string, CacheEntry>;
  readonly replicaSets: Map<string, CacheEntry>;
  resource: CacheEntry | undefined;
  isStale: boolean;
  /** The resource was reported by a watch, so that objects from before it are not here; or there was no room for one. */
  mayBeIncomplete: boolean;
}

export interface CacheEntry extends Packed {
  /** Its resourceVersion as a number; of one kind, the larger is the newer. */
  readonly version: number;
  /** False: only the essential part of it, since the whole is too large. */
  readonly whole: boolean;
  /** For a resource that is not cached completely: digest of the fields whose change triggers a reconciliation. */
  readonly asks: string | undefined;
  /** Of a resource (`standingOf`), else undefined. */
  readonly standing: string | undefined;
}

export interface Place {
  readonly key: string;
  readonly kind: string;
  readonly part: Exclude<keyof CachedResource, "isStale" | "mayBeIncomplete">;
  /** In its part of the cache. */
  readonly name: string;
}

export const placeOf = (object: JsonObject): Place | undefined => {
  const kind = stringAt(object, "kind") ?? "";
  const name = stringAt(object, "metadata", "name") ?? "";
  if (kind === "LlamaStackDistribution") {
    return { key: `${stringAt(object, "metadata", "namespace") ?? ""}/${name}`, kind, part: "resource", name };
  }
  const key = ownerOf(object);
  if (key === undefined) return undefined;
  const part = partOf(kind);
  return { key, kind, part, name: part === "objects" ? liveKey(kind, name) : name };
};

export const nameOfPlace = ({ key, part, name }: Place): string => `${key} ${part} ${name}`;

export const partOf = (kind: string): "pods" | "replicaSets" | "objects" =>
  kind === "Pod" ? "pods" : kind === "ReplicaSet" ? "replicaSets" : "objects";

/** The resource that an object belongs to, by its label; `namespace/name`. */
export const ownerOf = (object: JsonObject): string | undefined => {
  const instance = stringAt(object, "metadata", "labels", "app.kubernetes.io/instance");
  // The Go operators leave it empty on some objects.
  return instance === undefined || instance === ""
    ? undefined
    : `${stringAt(object, "metadata", "namespace") ?? ""}/${instance}`;
};

/** What remains of a resource or ConfigMap without room for the whole of it; nothing of other objects. */
export const partialOf = (
  { part, kind }: Place,
  { version, standing }: Pick<CacheEntry, "version" | "standing">,
  object: JsonObject,
): CacheEntry | undefined => {
  const isResource = part === "resource";
  if (!isResource && kind !== "ConfigMap") return undefined;
  const text = plain(JSON.stringify(essential(object)));
  return { version, whole: false, asks: isResource ? asksOf(object) : undefined, standing, ...text };
};

/**
 * The part of a resource whose change triggers a reconciliation: the operator's own status writes come back as changes,
 * and trigger none.
 */
const asking = (resource: JsonObject) => [
  uidOf(resource),
  resource.spec ?? null,
  (resource.metadata as JsonObject | undefined)?.annotations ?? null,
  stringAt(resource, "metadata", "deletionTimestamp") ?? "",
  // Somebody may remove the status; the operator never writes one without conditions.
  listAt(resource, "status", "conditions").length > 0,
];

export const asksSame = (before: JsonObject, now: JsonObject): boolean =>
  uidOf(before) === uidOf(now) && asksOf(before) === asksOf(now);

/**
 * A change that cannot be serialized is detected by the generation, which the API server increments with each change of
 * the spec.
 */
export const asksOf = (resource: JsonObject): string => {
  const text = textOf({ asking: asking(resource) });
  if (text === undefined) return `${uidOf(resource)} ${Number(objectAt(resource, "metadata").generation)}`;
  return text.length > KEPT_RESOURCE_MAX ? sha256Hex(text) : text;
};

export const all = (map: ReadonlyMap<string, CacheEntry>): ReadonlyArray<JsonObject> => [...map.values()].map(unpacked);

export const entryAt = (record: CachedResource, { part, name }: Place): CacheEntry | undefined =>
  part === "resource" ? record.resource : record[part].get(name);

/** A version that is not a number is never newer, and accepted as it is. */
export const newerThan = (version: number, kept: CacheEntry | undefined): boolean =>
  kept !== undefined && kept.version > version;

export const uidOf = (object: JsonObject): string => stringAt(object, "metadata", "uid") ?? "";
