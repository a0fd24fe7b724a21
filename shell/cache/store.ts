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
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { versionOf } from "../../core/data/newest_first.ts";
import { liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { type LivePod, livePod } from "../../core/snapshot/live_pod.ts";
import { type LiveReplicaSet, liveReplicaSet } from "../../core/snapshot/live_replica_set.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import type { RollingUpgrade } from "../../core/snapshot/rolling_upgrade.ts";
import { KEPT_OBJECT_MAX, KEPT_OBJECTS_MAX, KEPT_RESOURCE_MAX } from "../limits.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { bytesOf, cacheBudget } from "./cache_budget.ts";
import {
  all,
  asksOf,
  asksSame,
  type CachedResource,
  type CacheEntry,
  entryAt,
  nameOfPlace,
  newerThan,
  partialOf,
  partOf,
  type Place,
  placeOf,
} from "./cache_entry.ts";
import { trimmed } from "./cached_fields.ts";
import { plain, textOf, unpacked } from "./packed.ts";
import { type PackedLater, packedLater } from "./packed_later.ts";
import { standingOf, type Standings } from "../../core/snapshot/standing.ts";
import { upgradeLedger } from "./upgrade_ledger.ts";
import { writeBarrier } from "./write_barrier.ts";

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
   * reported by `conflictingWrites`.
   */
  readonly writing: <E, R>(
    target: JsonObject,
    write: Effect.Effect<JsonObject, E, R>,
  ) => Effect.Effect<JsonObject, E, R>;
  /** Waits for a resource `namespace/name` of which another client wrote an object during a write of the operator. */
  readonly conflictingWrites: Effect.Effect<string>;
  /** An object to be created already existed, or was another one: the cache of this resource is incomplete. */
  readonly markStale: (resource: JsonObject) => Effect.Effect<void>;
  readonly isStale: (key: string) => Effect.Effect<boolean>;
  /** Whether the resource may have objects that are not here: from before the store knew it, or without room. */
  readonly mayBeIncomplete: (key: string) => Effect.Effect<boolean>;
  /** It has none, or all of them have been put here since. */
  readonly markComplete: (key: string) => Effect.Effect<void>;
  /** Whether an object that was just put here belongs to a known resource, and there was no room for it. */
  readonly lacks: (object: JsonObject) => Effect.Effect<boolean>;
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
  /**
   * Number of resources in each standing; counted incrementally, because iterating over every resource for each scrape
   * would not scale.
   */
  readonly standings: Effect.Effect<Standings>;
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
    decision: (
      holders: ReadonlyArray<RollingUpgrade>,
    ) => { readonly value: A; readonly slot: RollingUpgrade | undefined },
  ) => Effect.Effect<A>;
  readonly releaseSlot: (key: string) => Effect.Effect<void>;
  /**
   * Objects with the label of the resource, by `Kind/name`; pods and ReplicaSets separately. `partial` are ConfigMaps
   * of which only the essential part is cached.
   */
  readonly objectsOf: (key: string) => Effect.Effect<{
    readonly objects: ReadonlyMap<string, JsonObject>;
    readonly partial: ReadonlyArray<JsonObject>;
    readonly pods: ReadonlyArray<LivePod>;
    readonly replicaSets: ReadonlyArray<LiveReplicaSet>;
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

const make = (conflicts: Queue.Queue<string>, later: PackedLater, hmacKey: Redacted.Redacted<string>): StoreShape => {
  const records = new Map<string, CachedResource>();
  const upgrades = upgradeLedger(hmacKey);
  const barrier = writeBarrier();
  const bytes = cacheBudget();
  const standings = new Map<string, number>();
  const count = (standing: string | undefined, change: 1 | -1): void => {
    if (standing === undefined) return;
    const now = (standings.get(standing) ?? 0) + change;
    if (now === 0) standings.delete(standing);
    else standings.set(standing, now);
  };
  const recordOf = (key: string): CachedResource => {
    const known = records.get(key);
    if (known !== undefined) return known;
    const made: CachedResource = {
      objects: new Map(),
      pods: new Map(),
      replicaSets: new Map(),
      resource: undefined,
      isStale: false,
      mayBeIncomplete: true,
    };
    records.set(key, made);
    return made;
  };
  const removeIfEmpty = (key: string, record: CachedResource): void => {
    if (record.resource === undefined && record.objects.size + record.pods.size + record.replicaSets.size === 0) {
      records.delete(key);
    }
  };
  /** Only a Deployment can begin to hold a slot; while it does, every change of related objects counts. */
  const changed = (key: string, record: CachedResource, kind: string, object: JsonObject | undefined): void => {
    if (kind === "Deployment") return upgrades.update(key, record, object);
    if (!upgrades.has(key)) return;
    const kept = record.objects.get(liveKey("Deployment", key.slice(key.indexOf("/") + 1)));
    // There was no room for it: what is known of its upgrade counts until it is seen again.
    if (kept !== undefined) upgrades.update(key, record, unpacked(kept));
  };
  const keep = (object: JsonObject, from: "list" | "watch" | "write"): boolean => {
    const found = placeOf(object);
    if (found === undefined) return false;
    if (from === "watch" && barrier.defers(nameOfPlace(found), object)) return false;
    const known = records.get(found.key);
    // Anyone can set labels: objects that belong to no resource are not cached.
    if (found.part !== "resource" && known?.resource === undefined) return false;
    const record = known ?? recordOf(found.key);
    const version = versionOf(object);
    const before = entryAt(record, found);
    if (from !== "list" && (barrier.isDeleted(object) || newerThan(version, before) || version === before?.version)) {
      return false;
    }
    // The first list of resources comes before those of their objects.
    if (known === undefined && from === "list") record.mayBeIncomplete = false;
    const kept = trimmed(object);
    const entry = entryOf(found, record, kept, version);
    remove(record, found);
    if (entry === undefined) record.mayBeIncomplete = true;
    else insert(record, found, entry);
    changed(found.key, record, found.kind, kept);
    return true;
  };
  const forgetObjects = (key: string, record: CachedResource): void => {
    for (const part of ["objects", "pods", "replicaSets"] as const) {
      for (const name of [...record[part].keys()]) remove(record, { key, kind: "", part, name });
    }
    upgrades.forget(key);
  };
  const remove = (record: CachedResource, place: Place): void => {
    const entry = entryAt(record, place);
    if (entry === undefined) return;
    later.forget(nameOfPlace(place));
    bytes.forget(namespaceOf(place.key), entry);
    count(entry.standing, -1);
    if (place.part === "resource") record.resource = undefined;
    else record[place.part].delete(place.name);
  };
  const insert = (record: CachedResource, place: Place, entry: CacheEntry): void => {
    const giveUp = entry.whole || place.part !== "resource"
      ? () => {
        remove(record, place);
        const part = entry.whole ? partialOf(place, entry, unpacked(entry)) : undefined;
        if (part === undefined) record.mayBeIncomplete = true;
        else insert(record, place, part);
      }
      : undefined;
    const countBytes = () => bytes.count(namespaceOf(place.key), entry, bytesOf(entry), giveUp);
    countBytes();
    later.add(nameOfPlace(place), entry, countBytes);
    count(entry.standing, 1);
    if (place.part === "resource") record.resource = entry;
    else record[place.part].set(place.name, entry);
  };
  /** Undefined: the limits do not allow it. For a resource and a ConfigMap the essential part is cached instead. */
  const entryOf = (
    place: Place,
    record: CachedResource,
    object: JsonObject,
    version: number,
  ): CacheEntry | undefined => {
    const isResource = place.part === "resource";
    const size = record.objects.size + record.pods.size + record.replicaSets.size;
    if (!isResource && size >= KEPT_OBJECTS_MAX && entryAt(record, place) === undefined) return undefined;
    const standing = isResource ? standingOf(object) : undefined;
    const text = textOf(object);
    const whole = text === undefined || text.length > (isResource ? KEPT_RESOURCE_MAX : KEPT_OBJECT_MAX)
      ? undefined
      : { version, whole: true, asks: undefined, standing, ...plain(text) };
    if (whole !== undefined && bytes.makeRoom(namespaceOf(place.key), bytesOf(whole))) return whole;
    const partial = partialOf(place, { version, standing }, object);
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
        barrier.begin(place);
        const ended = (written: JsonObject | undefined) =>
          Effect.suspend(() => {
            const meanwhile = barrier.end(place);
            if (written !== undefined) keep(written, "write");
            return meanwhile !== undefined && keep(meanwhile, "watch")
              ? Effect.asVoid(Queue.offer(conflicts, found.key))
              : Effect.void;
          });
        return Effect.onExit(write, (exit) => ended(Exit.isSuccess(exit) ? exit.value : undefined));
      }),
    conflictingWrites: Queue.take(conflicts),
    markStale: (resource) =>
      Effect.sync(() => {
        const record = records.get(placeOf(resource)?.key ?? "");
        if (record !== undefined) record.isStale = true;
      }),
    mayBeIncomplete: (key) => Effect.sync(() => records.get(key)?.mayBeIncomplete === true),
    markComplete: (key) =>
      Effect.sync(() => {
        const record = records.get(key);
        if (record !== undefined) record.mayBeIncomplete = false;
      }),
    lacks: (object) =>
      Effect.sync(() => {
        const place = placeOf(object);
        const record = place === undefined ? undefined : records.get(place.key);
        return place !== undefined && record?.resource !== undefined && entryAt(record, place) === undefined &&
          !barrier.isDeleted(object);
      }),
    isStale: (key) => Effect.sync(() => records.get(key)?.isStale === true),
    drop: (object) =>
      Effect.sync(() => {
        const found = placeOf(object);
        barrier.deleted(object);
        if (found === undefined) return;
        barrier.defers(nameOfPlace(found), undefined);
        const record = records.get(found.key);
        if (record === undefined) return;
        // Created again under the same name before its deletion was reported.
        if (newerThan(versionOf(object), entryAt(record, found))) return;
        remove(record, found);
        // Its objects are deleted with it; until then they have no resource.
        if (found.part === "resource") forgetObjects(found.key, record);
        changed(found.key, record, found.kind, undefined);
        removeIfEmpty(found.key, record);
      }),
    moved: (object) =>
      Effect.sync(() => {
        const place = placeOf(object);
        const record = place === undefined ? undefined : records.get(place.key);
        if (place !== undefined && record !== undefined && entryAt(record, place) !== undefined) return [];
        const start = `${stringAt(object, "metadata", "namespace") ?? ""}/`;
        const [kind, name] = [stringAt(object, "kind") ?? "", stringAt(object, "metadata", "name") ?? ""];
        const part = partOf(kind);
        const former = { kind, part, name: part === "objects" ? liveKey(kind, name) : name };
        return [...records].filter(([key, record]) => {
          if (!key.startsWith(start) || key === place?.key || !record[part].has(former.name)) return false;
          remove(record, { key, ...former });
          changed(key, record, kind, undefined);
          removeIfEmpty(key, record);
          return record.resource !== undefined;
        }).map(([key]) => key);
      }),
    retain: (kind, inScope, seen) =>
      Effect.sync(() => {
        const part = partOf(kind);
        return [...records].filter(([key, record]) => {
          const namespace = namespaceOf(key);
          const gone = !inScope(key) ? [] : [...record[part].keys()].filter((name) => {
            const bare = part === "objects" ? name.slice(kind.length + 1) : name;
            return (part !== "objects" || name.startsWith(`${kind}/`)) && !seen.has(`${namespace}/${bare}`);
          });
          for (const name of gone) remove(record, { key, kind, part, name });
          // Also of a Deployment that there was no room for.
          const isDeploymentGone = kind === "Deployment" && inScope(key) && !seen.has(key);
          if (gone.length > 0 || isDeploymentGone) changed(key, record, kind, undefined);
          removeIfEmpty(key, record);
          return gone.length > 0 && record.resource !== undefined;
        }).map(([key]) => key);
      }),
    knows: (key) => Effect.sync(() => records.get(key)?.resource !== undefined),
    resource: (key) =>
      Effect.sync(() => {
        const kept = records.get(key)?.resource;
        return kept === undefined ? undefined : { object: unpacked(kept), whole: kept.whole };
      }),
    resourceNow: (key) =>
      Effect.sync(() => {
        const before = records.get(key)?.resource;
        return (now) =>
          before !== undefined && (before.whole ? asksSame(unpacked(before), now) : before.asks === asksOf(now));
      }),
    standings: Effect.sync(() => new Map(standings)),
    keys: Effect.sync(() => [...records].filter(([, { resource }]) => resource !== undefined).map(([key]) => key)),
    rollingUpgrades: Effect.sync(() => ({ list: upgrades.list(), version: upgrades.version() })),
    decideWithSlots: (key, decision) =>
      Effect.sync(() => {
        const { value, slot } = decision(upgrades.list());
        if (slot !== undefined) upgrades.take(key, slot);
        return value;
      }),
    releaseSlot: (key) => Effect.sync(() => upgrades.release(key)),
    objectsOf: (key) =>
      Effect.sync(() => {
        const record = records.get(key);
        return {
          objects: new Map(
            [...record?.objects ?? []].filter(([, { whole }]) => whole).map(([name, kept]) => [name, unpacked(kept)]),
          ),
          partial: [...record?.objects.values() ?? []].filter(({ whole }) => !whole).map(unpacked),
          pods: record === undefined ? [] : all(record.pods).map(livePod),
          replicaSets: record === undefined ? [] : all(record.replicaSets).map(liveReplicaSet),
        };
      }),
  };
};
