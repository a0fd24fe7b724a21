/** The only client of the API server. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Stream from "effect/Stream";
import { isObject, type Json, type JsonObject } from "../../core/data/json.ts";
import type { Patch } from "../../core/plan/patch.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { type ClusterError, unnameable } from "./cluster_error.ts";
import { pathOf } from "./object_path.ts";
import type { WatchEvent } from "./watch_events.ts";
import { listAndWatch, type Listed, type Selection } from "./list_and_watch.ts";
import { requestOf } from "./request.ts";
import { type Connection, transport } from "./transport.ts";

export { type ClusterError, failedCall, isClusterError, isPassing } from "./cluster_error.ts";
export type { WatchEvent } from "./watch_events.ts";
export type { Listed, Selection } from "./list_and_watch.ts";
export type { Connection } from "./transport.ts";

export class Cluster extends Context.Service<Cluster, {
  /**
   * The object, or undefined when there is none. `cached`: as the API server's own cache has it, which costs it a tenth and may be
   * some milliseconds old.
   */
  readonly get: (key: ObjectKey, cached?: "cached") => Effect.Effect<JsonObject | undefined, ClusterError>;
  readonly read: (path: string) => Effect.Effect<Json, ClusterError>;
  readonly list: (selection: Selection) => Effect.Effect<Listed, ClusterError>;
  /** A list that is never in memory as a whole: each page is handed on and forgotten. The version to watch from. */
  readonly eachPage: (
    selection: Selection,
    visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void>,
  ) => Effect.Effect<string, ClusterError>;
  readonly watch: (selection: Selection, resourceVersion: string) => Stream.Stream<WatchEvent, ClusterError>;
  /** Every write; the object as the API server stored it. */
  readonly send: (patch: Patch) => Effect.Effect<JsonObject, ClusterError>;
}>()("llama-stack-operator/shell/Cluster") {
  static readonly layer = (connection: Connection) => Layer.effect(Cluster, connect(connection));
}

const connect = Effect.fnUntraced(function* (connection: Connection) {
  const wire = yield* transport(connection);
  const { call } = wire;
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
    send: (patch) => {
      const request = requestOf(patch);
      if ("unnameable" in request) return Effect.fail(unnameable(request.verb, request.unnameable));
      const { verb, method, path, body, contentType } = request;
      return Effect.map(call(verb, method, path, { body, contentType }), (made) => made as JsonObject);
    },
  });
});
