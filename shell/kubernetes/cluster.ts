/** The only client of the API server. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Stream from "effect/Stream";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import type { Patch } from "../../core/plan/patch.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { type ClusterError, unnameable } from "./cluster_error.ts";
import { pathOf } from "./object_path.ts";
import type { WatchEvent } from "./watch_events.ts";
import { listAndWatch, type Listed, type Selection } from "./list_and_watch.ts";
import { requestOf } from "./request.ts";
import { type Connection, transport } from "./transport.ts";

export { type ClusterError, failedCall, isClusterError, isPassing, warned } from "./cluster_error.ts";
export type { WatchEvent } from "./watch_events.ts";
export type { Listed, Selection } from "./list_and_watch.ts";
export type { Connection } from "./transport.ts";

export interface Discovery {
  readonly groups: ReadonlyArray<JsonObject>;
  readonly etag: string | undefined;
}

export class Cluster extends Context.Service<Cluster, {
  /**
   * The object, or undefined when there is none. `cached`: as the API server's own cache has it, which costs it a tenth and may be
   * some milliseconds old.
   */
  readonly get: (key: ObjectKey, cached?: "cached") => Effect.Effect<JsonObject | undefined, ClusterError>;
  readonly read: (path: string) => Effect.Effect<Json, ClusterError>;
  /** Aggregated discovery: every group with its versions and resources; undefined if it is still the one with this ETag. */
  readonly discover: (etag: string | undefined) => Effect.Effect<Discovery | undefined, ClusterError>;
  readonly list: (selection: Selection) => Effect.Effect<Listed, ClusterError>;
  /** A list that is never in memory as a whole: each page is handed on and forgotten. The version to watch from. */
  readonly eachPage: <R>(
    selection: Selection,
    visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void, never, R>,
  ) => Effect.Effect<string, ClusterError, R>;
  readonly watch: (selection: Selection, resourceVersion: string) => Stream.Stream<WatchEvent, ClusterError>;
  /** Every write; the object as the API server stored it. */
  readonly send: (patch: Patch) => Effect.Effect<JsonObject, ClusterError>;
}>()("llama-stack-operator/shell/Cluster") {
  static readonly layer = (connection: Connection) => Layer.effect(Cluster, connect(connection));
}

/** Served since Kubernetes 1.30. */
const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const connect = Effect.fnUntraced(function* (connection: Connection) {
  const wire = yield* transport(connection);
  const { call, answered } = wire;
  return Cluster.of({
    ...listAndWatch(wire),
    get: (key, cached) => {
      const path = pathOf(key);
      return path === undefined
        ? Effect.fail(unnameable("get", key))
        : call("get", "GET", `${path}${cached === undefined ? "" : "?resourceVersion=0"}`, { absent: "null" }).pipe(
          Effect.map((found) => isObject(found) ? found : undefined),
        );
    },
    read: (path) => call("get", "GET", path),
    discover: (known) =>
      Effect.map(
        answered("get", "GET", "/apis", { accept: DISCOVERY, etag: known }),
        // Anything else is not known to be a discovery, and says nothing.
        ({ found, etag }) =>
          stringAt(found, "kind") === "APIGroupDiscoveryList"
            ? { groups: listAt(found, "items").filter(isObject), etag }
            : undefined,
      ),
    send: (patch) => {
      const request = requestOf(patch);
      if ("unnameable" in request) return Effect.fail(unnameable(request.verb, request.unnameable));
      const { verb, method, path, body, contentType } = request;
      return Effect.map(call(verb, method, path, { body, contentType }), (made) => made as JsonObject);
    },
  });
});
