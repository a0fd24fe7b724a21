/** What was last seen of our own objects, and which version of the foreign ones that resources name. Bodies of foreign objects are never kept. */
import { Context, Effect, Layer } from "effect";
import { type JsonObject, member, objectAt, put, stringAt } from "../core/json.ts";
import { liveKey } from "../core/plan/world.ts";

interface Shelf {
  /** By `Kind/name`. */
  readonly objects: Map<string, JsonObject>;
  readonly pods: Map<string, JsonObject>;
  readonly replicaSets: Map<string, JsonObject>;
  resource: JsonObject | undefined;
}

export interface StoreShape {
  readonly put: (object: JsonObject) => Effect.Effect<void>;
  readonly drop: (object: JsonObject) => Effect.Effect<void>;
  /** The resource of `namespace/name`, as it was last seen. */
  readonly resource: (key: string) => Effect.Effect<JsonObject | undefined>;
  readonly resources: Effect.Effect<ReadonlyArray<JsonObject>>;
  /** Objects that carry the label of the resource, by `Kind/name`; pods and ReplicaSets apart. */
  readonly shelf: (key: string) => Effect.Effect<Pick<Shelf, "objects" | "pods" | "replicaSets">>;
}

export class Store extends Context.Service<Store, StoreShape>()("llama-stack-operator/shell/Store") {
  static readonly layer = Layer.sync(Store, () => Store.of(make()));
}

/** The resource that an object belongs to, by its label; `namespace/name`. */
export const ownerOf = (object: JsonObject): string | undefined => {
  const instance = stringAt(object, "metadata", "labels", "app.kubernetes.io/instance");
  return instance === undefined ? undefined : `${stringAt(object, "metadata", "namespace") ?? ""}/${instance}`;
};

const make = (): StoreShape => {
  const shelves = new Map<string, Shelf>();
  const shelfOf = (key: string): Shelf => {
    const known = shelves.get(key);
    if (known !== undefined) return known;
    const made: Shelf = { objects: new Map(), pods: new Map(), replicaSets: new Map(), resource: undefined };
    shelves.set(key, made);
    return made;
  };
  const place = (object: JsonObject): readonly [string, Map<string, JsonObject> | undefined, string] | undefined => {
    const kind = stringAt(object, "kind") ?? "";
    const name = stringAt(object, "metadata", "name") ?? "";
    if (kind === "LlamaStackDistribution") {
      return [`${stringAt(object, "metadata", "namespace") ?? ""}/${name}`, undefined, name];
    }
    const owner = ownerOf(object);
    if (owner === undefined) return undefined;
    const shelf = shelfOf(owner);
    if (kind === "Pod") return [owner, shelf.pods, name];
    if (kind === "ReplicaSet") return [owner, shelf.replicaSets, name];
    return [owner, shelf.objects, liveKey(kind, name)];
  };
  return {
    put: (object) =>
      Effect.sync(() => {
        const found = place(object);
        if (found === undefined) return;
        const [key, map, name] = found;
        if (map === undefined) shelfOf(key).resource = object;
        else map.set(name, trimmed(object));
      }),
    drop: (object) =>
      Effect.sync(() => {
        const found = place(object);
        if (found === undefined) return;
        const [key, map, name] = found;
        if (map === undefined) shelfOf(key).resource = undefined;
        else map.delete(name);
        const shelf = shelfOf(key);
        if (
          shelf.resource === undefined && shelf.objects.size + shelf.pods.size + shelf.replicaSets.size === 0
        ) shelves.delete(key);
      }),
    resource: (key) => Effect.sync(() => shelves.get(key)?.resource),
    resources: Effect.sync(() =>
      [...shelves.values()].map(({ resource }) => resource).filter((one) => one !== undefined)
    ),
    shelf: (key) =>
      Effect.sync(() => shelves.get(key) ?? { objects: new Map(), pods: new Map(), replicaSets: new Map() }),
  };
};

/** Managed fields are most of an object's bytes; only the Deployment's are asked after, and of those only our own. */
const trimmed = (object: JsonObject): JsonObject => {
  const fields = member(objectAt(object, "metadata"), "managedFields");
  if (!Array.isArray(fields)) return object;
  const kept = object.kind === "Deployment"
    ? fields.filter((one) => stringAt(one, "manager") === "llama-stack-operator")
    : [];
  return put(object, ["metadata", "managedFields"], kept.length === 0 ? undefined : kept);
};
