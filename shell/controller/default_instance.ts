/** Creates the resource of the setting `defaultInstance`, once for a cluster. */
import * as Effect from "effect/Effect";
import * as events from "../../core/api/events.ts";
import { API_VERSION, PLURAL } from "../../core/api/v1alpha2.ts";
import { type JsonObject, put } from "../../core/data/json.ts";
import { DEFAULT_INSTANCE_ANNOTATION, instanceObject } from "../../core/operator/default_instance.ts";
import type { Settings } from "../../core/operator/settings.ts";
import { HMAC_SECRET } from "../../core/api/own_objects.ts";
import { ownSecret } from "../../core/operator/own_secret.ts";
import { Patch, replacement } from "../../core/plan/patch.ts";
import { groupPath } from "../../core/snapshot/kinds.ts";
import { Cluster, warned } from "../kubernetes/cluster.ts";
import { announce } from "./perform.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

/** `map`: the ConfigMap of the settings. A failure is reported; the next start or change of the settings tries again. */
export const createDefaultInstance = Effect.fnUntraced(
  function* (map: JsonObject, { defaultInstance }: Settings) {
    if (defaultInstance === undefined) return;
    const { namespace, name } = defaultInstance;
    const key = `${namespace}/${name}`;
    const cluster = yield* Cluster;
    const own = liveObject(map).namespace;
    const record = yield* cluster.get(ownSecret(own));
    // The operator creates it before it reads any settings.
    if (
      record === undefined || liveObject(record).annotations[DEFAULT_INSTANCE_ANNOTATION] !== undefined
    ) {
      return;
    }
    const created = yield* cluster.send(Patch.Create({
      collection: `${groupPath(API_VERSION)}/namespaces/${namespace}/${PLURAL}`,
      object: instanceObject(defaultInstance),
    })).pipe(
      Effect.as(true),
      // It exists: created before the record was written, or by somebody else.
      Effect.catchTag("Conflict", () => Effect.succeed(false)),
      Effect.tapError(({ detail }) => Effect.ignore(announce(events.defaultInstanceFailed(key, detail), map))),
    );
    yield* cluster.send(replacement(
      `/api/v1/namespaces/${own}/secrets/${HMAC_SECRET}`,
      put(record, ["metadata", "annotations", DEFAULT_INSTANCE_ANNOTATION], key),
    ));
    if (!created) return;
    yield* Effect.logInfo("created the default instance").pipe(Effect.annotateLogs({ resource: key }));
    yield* announce(events.defaultInstanceCreated(key), map);
  },
  Effect.catch(warned("default instance not created")),
);
