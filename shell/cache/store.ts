/**
 * The last observed state of resources and of their objects. Only objects of existing resources are cached, within the
 * limits (cache_budget.ts): the rest is read again when needed.
 *
 * It is over 300 lines because all of its functions change the same few maps.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import type * as Redacted from "effect/Redacted";
import { sha256Hex } from "../../core/data/digest.ts";
import { type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { versionOf } from "../../core/data/newest_first.ts";
import { type RollingUpgrade, rollingUpgradeOf } from "../../core/plan/rollout/upgrade_slots.ts";
import { liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { bytesOf, cacheBudget } from "./cache_budget.ts";
import { essential, trimmed } from "./cached_fields.ts";
import { DELETED_REMEMBERED, KEPT_OBJECT_MAX, KEPT_OBJECTS_MAX, KEPT_RESOURCE_MAX } from "../limits.ts";
import { namespaceOf } from "../controller/namespace_rotation.ts";
import { OperatorFacts } from "../controller/operator_facts.ts";
import { type Packed, plain, textOf, unpacked } from "./packed.ts";
import { type PackedLater, packedLater } from "./packed_later.ts";

interface ResourceEntry {
  /** By `Kind/name`. */
  readonly objects: Map<string, CacheEntry>;
  readonly pods: Map<string, CacheEntry>;
  readonly replicaSets: Map<string, CacheEntry>;
  resource: CacheEntry | undefined;
  doubted: boolean;
  /** The resource was reported by a watch: objects that existed before it were not cached. */
  mayLack: boolean;
}

interface CacheEntry extends Packed {
  /** Its resourceVersion as a number; of one kind, the larger is the newer. */
  readonly version: number;
  /** False: only the essential part of it, since the whole is too large. */
  readonly whole: boolean;
  /** For a resource that is not cached completely: digest of the fields whose change triggers a reconciliation. */
  readonly asks: string | undefined;
  /** Of a resource, else undefined. */
  readonly phase: string | undefined;
}

export interface StoreShape {
  /**
   * Whether it was a change. A list is always believed. Watch events and responses to the operator's own writes
   * overtake each other, so only the newer one is cached, and neither if the object was deleted meanwhile: otherwise
   * the cache would be wrong until the next change. So the watch event of an own write is not a change.
   */
  readonly put: (object: JsonObject, from: "list" | "watch") => Effect.Effect<boolean>;
  /**
   * Performs a write of the object `target` and caches the API server's response. Watch events of the object meanwhile
   * are deferred until the response arrives: most often they are the echo of this very write. Changes by others are
   * reported by `disturbed`.
   */
  readonly writing: <E, R>(
    target: JsonObject,
    write: Effect.Effect<JsonObject, E, R>,
  ) => Effect.Effect<JsonObject, E, R>;
  /** Defers a resource `namespace/name` of which another client wrote an object during a write of the operator. */
  readonly conflictingWrites: Effect.Effect<string>;
  /** An object to be created already existed, or was another one: the cache of this resource is incomplete. */
  readonly markStale: (resource: JsonObject) => Effect.Effect<void>;
  readonly isStale: (key: string) => Effect.Effect<boolean>;
  /** Whether objects of the resource may have been there before the store knew it. */
  readonly mayBeIncomplete: (key: string) => Effect.Effect<boolean>;
  /** They were not, or have been put here since. */
  readonly markComplete: (key: string) => Effect.Effect<void>;
  readonly drop: (object: JsonObject) => Effect.Effect<void>;
  /**
   * Removes an object whose labels no longer match, because they were changed. Returns the resources that lost it. Free
   * of cost for an object whose labels match.
   */
  readonly moved: (object: JsonObject) => Effect.Effect<ReadonlyArray<string>>;
  /**
   * Removes objects of a kind that were missing in a complete list; `inScope` is which resources (`namespace/name`) the
   * list covers, `seen` are the keys `namespace/name` of its items. Returns the resources that lost an object.
   */
  readonly retain: (
    kind: string,
    inScope: (key: string) => boolean,
    seen: ReadonlySet<string>,
  ) => Effect.Effect<ReadonlyArray<string>>;
  /** The resource of `namespace/name`, as last observed; incomplete if it is too large for the cache. */
  readonly resource: (
    key: string,
  ) => Effect.Effect<{ readonly object: JsonObject; readonly whole: boolean } | undefined>;
  /** The same, evaluated later, at no cost until then: whether its desired state equals that of `now`. */
  readonly resourceNow: (key: string) => Effect.Effect<(now: JsonObject) => boolean>;
  readonly resources: Effect.Effect<ReadonlyArray<JsonObject>>;
  /**
   * Number of resources in each phase; counted incrementally, because iterating over every resource for each scrape
   * would not scale.
   */
  readonly phases: Effect.Effect<ReadonlyMap<string, number>>;
  /** The same as names, `namespace/name`. */
  readonly keys: Effect.Effect<ReadonlyArray<string>>;
  readonly knows: (key: string) => Effect.Effect<boolean>;
  /** Resources that are being upgraded or whose upgrade failed, and a number that grows with every change of that list. */
  readonly rollingUpgrades: Effect.Effect<{ readonly list: ReadonlyArray<RollingUpgrade>; readonly version: number }>;
  /**
   * Decides with that list, in one step: a slot that the decision takes is held until `releaseSlot`, so that the next decision
   * sees it before its Deployment is written, and no decision waits for the writes of another.
   */
  readonly decideWithSlots: <A>(
    key: string,
    decision: (away: ReadonlyArray<RollingUpgrade>) => { readonly value: A; readonly slot: RollingUpgrade | undefined },
  ) => Effect.Effect<A>;
  readonly releaseSlot: (key: string) => Effect.Effect<void>;
  /**
   * Objects with the label of the resource, by `Kind/name`; pods and ReplicaSets separately. `partial` are ConfigMaps
   * of which only the essential part is cached.
   */
  readonly objectsOf: (key: string) => Effect.Effect<{
    readonly objects: ReadonlyMap<string, JsonObject>;
    readonly partial: ReadonlyArray<JsonObject>;
    readonly pods: ReadonlyArray<JsonObject>;
    readonly replicaSets: ReadonlyArray<JsonObject>;
  }>;
}

export class Store extends Context.Service<Store, StoreShape>()("llama-stack-operator/shell/Store") {
  static readonly layerWith = (newLater: () => PackedLater) =>
    Layer.effect(
      Store,
      Effect.gen(function* () {
        const later = newLater();
        const { hmacKey } = yield* OperatorFacts;
        yield* Effect.forkScoped(later.packing);
        return Store.of(make(yield* Queue.unbounded<string>(), later, hmacKey));
      }),
    );
  static readonly layer = Store.layerWith(packedLater);
}

/** The resource that an object belongs to, by its label; `namespace/name`. */
export const ownerOf = (object: JsonObject): string | undefined => {
  const instance = stringAt(object, "metadata", "labels", "app.kubernetes.io/instance");
  // The Go operators leave it empty on some objects.
  return instance === undefined || instance === ""
    ? undefined
    : `${stringAt(object, "metadata", "namespace") ?? ""}/${instance}`;
};

const make = (disturbed: Queue.Queue<string>, later: PackedLater, hmacKey: Redacted.Redacted<string>): StoreShape => {
  const shelves = new Map<string, ResourceEntry>();
  const away = new Map<string, RollingUpgrade>();
  // The version of each deletion, by uid. An object that left the selection of a watch is reported as deleted as well;
  // any later event shows that it exists.
  const gone = new Map<string, number>();
  // Objects with a write in progress, with the newest watch event since; bounded by the number of workers.
  const underWay = new Map<string, JsonObject | undefined>();
  let awayVersion = 0;
  // Slots of upgrades that are decided and whose Deployment is not written yet.
  const taken = new Map<string, RollingUpgrade>();
  const awayNow = (): ReadonlyArray<RollingUpgrade> => [
    ...away.values(),
    ...[...taken.values()].filter(({ key }) => away.get(key)?.state !== "rolling"),
  ];
  const bytes = cacheBudget();
  const phases = new Map<string, number>();
  const shelfOf = (key: string): ResourceEntry => {
    const known = shelves.get(key);
    if (known !== undefined) return known;
    const made: ResourceEntry = {
      objects: new Map(),
      pods: new Map(),
      replicaSets: new Map(),
      resource: undefined,
      doubted: false,
      mayLack: true,
    };
    shelves.set(key, made);
    return made;
  };
  const removeIfEmpty = (key: string, shelf: ResourceEntry): void => {
    if (shelf.resource === undefined && shelf.objects.size + shelf.pods.size + shelf.replicaSets.size === 0) {
      shelves.delete(key);
    }
  };
  /** Updated with each change, because iterating over every resource for every decision would not scale. */
  const noteAway = (key: string, shelf: ResourceEntry, deployment: JsonObject | undefined): void => {
    const now = shelf.resource === undefined || deployment === undefined
      ? undefined
      : rollingUpgradeOf(unpacked(shelf.resource), deployment, all(shelf.pods), all(shelf.replicaSets), hmacKey);
    const before = away.get(key);
    if (now?.state === before?.state && now?.pins === before?.pins && now?.queue === before?.queue) return;
    if (now === undefined) away.delete(key);
    else away.set(key, now);
    awayVersion++;
  };
  /** Only a Deployment can begin to hold a slot; while it does, every change of related objects counts. */
  const changed = (key: string, shelf: ResourceEntry, kind: string, object: JsonObject | undefined): void => {
    if (kind === "Deployment") return noteAway(key, shelf, object);
    if (!away.has(key)) return;
    const kept = shelf.objects.get(liveKey("Deployment", key.slice(key.indexOf("/") + 1)));
    noteAway(key, shelf, kept === undefined ? undefined : unpacked(kept));
  };
  const keep = (object: JsonObject, from: "list" | "watch" | "write"): boolean => {
    const found = placeOf(object);
    if (found === undefined) return false;
    if (from === "watch" && underWay.has(nameOfPlace(found))) {
      underWay.set(nameOfPlace(found), object);
      return false;
    }
    const known = shelves.get(found.key);
    // Anyone can set labels: objects that belong to no resource are not cached.
    if (found.part !== "resource" && known?.resource === undefined) return false;
    const shelf = known ?? shelfOf(found.key);
    const version = versionOf(object);
    const before = entryAt(shelf, found);
    const isGone = version <= (gone.get(uidOf(object)) ?? -1);
    if (from !== "list" && (isGone || newerThan(version, before) || version === before?.version)) {
      return false;
    }
    // A list of resources comes before those of their objects.
    if (found.part === "resource" && from === "list") shelf.mayLack = false;
    const kept = trimmed(object);
    const entry = entryOf(found, shelf, kept, version);
    remove(shelf, found);
    if (entry !== undefined) insert(shelf, found, entry);
    changed(found.key, shelf, found.kind, kept);
    return true;
  };
  const forgetObjects = (key: string, shelf: ResourceEntry): void => {
    for (const part of ["objects", "pods", "replicaSets"] as const) {
      for (const name of [...shelf[part].keys()]) remove(shelf, { key, kind: "", part, name });
    }
    if (away.delete(key)) awayVersion++;
  };
  const remove = (shelf: ResourceEntry, place: Place): void => {
    const entry = entryAt(shelf, place);
    if (entry === undefined) return;
    later.forget(nameOfPlace(place));
    bytes.forget(namespaceOf(place.key), entry);
    if (entry.phase !== undefined) phases.set(entry.phase, (phases.get(entry.phase) ?? 0) - 1);
    if (place.part === "resource") shelf.resource = undefined;
    else shelf[place.part].delete(place.name);
  };
  const insert = (shelf: ResourceEntry, place: Place, entry: CacheEntry): void => {
    const giveUp = entry.whole || place.part !== "resource"
      ? () => {
        remove(shelf, place);
        const part = entry.whole ? partialOf(place, entry, unpacked(entry)) : undefined;
        if (part !== undefined) insert(shelf, place, part);
      }
      : undefined;
    const count = () => bytes.count(namespaceOf(place.key), entry, bytesOf(entry), giveUp);
    count();
    later.add(nameOfPlace(place), place.kind, entry, count);
    if (entry.phase !== undefined) phases.set(entry.phase, (phases.get(entry.phase) ?? 0) + 1);
    if (place.part === "resource") shelf.resource = entry;
    else shelf[place.part].set(place.name, entry);
  };
  /** Undefined: the limits do not allow it. For a resource and a ConfigMap the essential part is cached instead. */
  const entryOf = (place: Place, shelf: ResourceEntry, object: JsonObject, version: number): CacheEntry | undefined => {
    const isResource = place.part === "resource";
    const size = shelf.objects.size + shelf.pods.size + shelf.replicaSets.size;
    if (!isResource && size >= KEPT_OBJECTS_MAX && entryAt(shelf, place) === undefined) return undefined;
    const phase = isResource ? stringAt(object, "status", "phase") ?? "Pending" : undefined;
    const text = textOf(object);
    const whole = text === undefined || text.length > (isResource ? KEPT_RESOURCE_MAX : KEPT_OBJECT_MAX)
      ? undefined
      : { version, whole: true, asks: undefined, phase, ...plain(text) };
    if (whole !== undefined && bytes.makeRoom(namespaceOf(place.key), bytesOf(whole))) return whole;
    const partial = partialOf(place, { version, phase }, object);
    return partial === undefined || isResource || bytes.makeRoom(namespaceOf(place.key), bytesOf(partial))
      ? partial
      : undefined;
  };
  return {
    put: (object, from) => Effect.sync(() => keep(object, from)),
    writing: (target, write) =>
      Effect.suspend(() => {
        const found = placeOf(target);
        if (found === undefined) return write;
        const place = nameOfPlace(found);
        underWay.set(place, undefined);
        const told = (written: JsonObject | undefined) =>
          Effect.suspend(() => {
            const meanwhile = underWay.get(place);
            underWay.delete(place);
            if (written !== undefined) keep(written, "write");
            return meanwhile !== undefined && keep(meanwhile, "watch")
              ? Effect.asVoid(Queue.offer(disturbed, found.key))
              : Effect.void;
          });
        return Effect.onExit(write, (exit) => told(Exit.isSuccess(exit) ? exit.value : undefined));
      }),
    conflictingWrites: Queue.take(disturbed),
    markStale: (resource) =>
      Effect.sync(() => {
        const shelf = shelves.get(placeOf(resource)?.key ?? "");
        if (shelf !== undefined) shelf.doubted = true;
      }),
    mayBeIncomplete: (key) => Effect.sync(() => shelves.get(key)?.mayLack === true),
    markComplete: (key) =>
      Effect.sync(() => {
        const shelf = shelves.get(key);
        if (shelf !== undefined) shelf.mayLack = false;
      }),
    isStale: (key) => Effect.sync(() => shelves.get(key)?.doubted === true),
    drop: (object) =>
      Effect.sync(() => {
        const found = placeOf(object);
        remember(gone, uidOf(object), versionOf(object));
        if (found === undefined) return;
        if (underWay.has(nameOfPlace(found))) underWay.set(nameOfPlace(found), undefined);
        const shelf = shelves.get(found.key);
        if (shelf === undefined) return;
        // Created again under the same name before its deletion was reported.
        if (newerThan(versionOf(object), entryAt(shelf, found))) return;
        remove(shelf, found);
        // Its objects are deleted with it; until then they have no resource.
        if (found.part === "resource") forgetObjects(found.key, shelf);
        changed(found.key, shelf, found.kind, undefined);
        removeIfEmpty(found.key, shelf);
      }),
    moved: (object) =>
      Effect.sync(() => {
        const place = placeOf(object);
        const shelf = place === undefined ? undefined : shelves.get(place.key);
        if (place !== undefined && shelf !== undefined && entryAt(shelf, place) !== undefined) return [];
        const start = `${stringAt(object, "metadata", "namespace") ?? ""}/`;
        const [kind, name] = [stringAt(object, "kind") ?? "", stringAt(object, "metadata", "name") ?? ""];
        const part = partOf(kind);
        const former = { kind, part, name: part === "objects" ? liveKey(kind, name) : name };
        return [...shelves].filter(([key, shelf]) => {
          if (!key.startsWith(start) || key === place?.key || !shelf[part].has(former.name)) return false;
          remove(shelf, { key, ...former });
          changed(key, shelf, kind, undefined);
          removeIfEmpty(key, shelf);
          return shelf.resource !== undefined;
        }).map(([key]) => key);
      }),
    retain: (kind, inScope, seen) =>
      Effect.sync(() => {
        const part = partOf(kind);
        return [...shelves].filter(([key, shelf]) => {
          const namespace = namespaceOf(key);
          const gone = !inScope(key) ? [] : [...shelf[part].keys()].filter((name) => {
            const bare = part === "objects" ? name.slice(kind.length + 1) : name;
            return (part !== "objects" || name.startsWith(`${kind}/`)) && !seen.has(`${namespace}/${bare}`);
          });
          for (const name of gone) remove(shelf, { key, kind, part, name });
          if (gone.length > 0) changed(key, shelf, kind, undefined);
          removeIfEmpty(key, shelf);
          return gone.length > 0 && shelf.resource !== undefined;
        }).map(([key]) => key);
      }),
    knows: (key) => Effect.sync(() => shelves.get(key)?.resource !== undefined),
    resource: (key) =>
      Effect.sync(() => {
        const kept = shelves.get(key)?.resource;
        return kept === undefined ? undefined : { object: unpacked(kept), whole: kept.whole };
      }),
    resourceNow: (key) =>
      Effect.sync(() => {
        const before = shelves.get(key)?.resource;
        return (now) =>
          before !== undefined && (before.whole ? asksSame(unpacked(before), now) : before.asks === asksOf(now));
      }),
    resources: Effect.sync(() =>
      [...shelves.values()].flatMap(({ resource }) => resource === undefined ? [] : [unpacked(resource)])
    ),
    phases: Effect.sync(() => new Map(phases)),
    keys: Effect.sync(() => [...shelves].filter(([, { resource }]) => resource !== undefined).map(([key]) => key)),
    rollingUpgrades: Effect.sync(() => ({ list: awayNow(), version: awayVersion })),
    decideWithSlots: (key, decision) =>
      Effect.sync(() => {
        const { value, slot } = decision(awayNow());
        if (slot !== undefined) {
          taken.set(key, slot);
          awayVersion++;
        }
        return value;
      }),
    releaseSlot: (key) =>
      Effect.sync(() => {
        if (taken.delete(key)) awayVersion++;
      }),
    objectsOf: (key) =>
      Effect.sync(() => {
        const shelf = shelves.get(key);
        return {
          objects: new Map(
            [...shelf?.objects ?? []].filter(([, { whole }]) => whole).map(([name, kept]) => [name, unpacked(kept)]),
          ),
          partial: [...shelf?.objects.values() ?? []].filter(({ whole }) => !whole).map(unpacked),
          pods: shelf === undefined ? [] : all(shelf.pods),
          replicaSets: shelf === undefined ? [] : all(shelf.replicaSets),
        };
      }),
  };
};

/** What remains of a resource or ConfigMap without room for the whole of it; nothing of other objects. */
const partialOf = (
  { part, kind }: Place,
  { version, phase }: Pick<CacheEntry, "version" | "phase">,
  object: JsonObject,
): CacheEntry | undefined => {
  const isResource = part === "resource";
  if (!isResource && kind !== "ConfigMap") return undefined;
  const text = plain(JSON.stringify(essential(object)));
  return { version, whole: false, asks: isResource ? asksOf(object) : undefined, phase, ...text };
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
];

const asksSame = (before: JsonObject, now: JsonObject): boolean =>
  uidOf(before) === uidOf(now) && asksOf(before) === asksOf(now);

/**
 * A change that cannot be serialized is detected by the generation, which the API server increments with each change of
 * the spec.
 */
const asksOf = (resource: JsonObject): string => {
  const text = textOf({ asking: asking(resource) });
  if (text === undefined) return `${uidOf(resource)} ${Number(objectAt(resource, "metadata").generation)}`;
  return text.length > KEPT_RESOURCE_MAX ? sha256Hex(text) : text;
};

const all = (map: ReadonlyMap<string, CacheEntry>): ReadonlyArray<JsonObject> => [...map.values()].map(unpacked);

const entryAt = (shelf: ResourceEntry, { part, name }: Place): CacheEntry | undefined =>
  part === "resource" ? shelf.resource : shelf[part].get(name);

/** A version that is not a number is never newer, and accepted as it is. */
const newerThan = (version: number, kept: CacheEntry | undefined): boolean =>
  kept !== undefined && kept.version > version;

const uidOf = (object: JsonObject): string => stringAt(object, "metadata", "uid") ?? "";

/** The oldest is forgotten: no write takes that long. */
const remember = (gone: Map<string, number>, uid: string, version: number): void => {
  if (uid === "") return;
  gone.delete(uid);
  gone.set(uid, version);
  const [oldest] = gone.keys();
  if (gone.size > DELETED_REMEMBERED && oldest !== undefined) gone.delete(oldest);
};

interface Place {
  readonly key: string;
  readonly kind: string;
  readonly part: Exclude<keyof ResourceEntry, "doubted" | "mayLack">;
  /** In its part of the cache. */
  readonly name: string;
}

const placeOf = (object: JsonObject): Place | undefined => {
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

const nameOfPlace = ({ key, part, name }: Place): string => `${key} ${part} ${name}`;

const partOf = (kind: string): "pods" | "replicaSets" | "objects" =>
  kind === "Pod" ? "pods" : kind === "ReplicaSet" ? "replicaSets" : "objects";
