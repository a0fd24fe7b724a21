/** Creates the resource of the setting `defaultInstance`, once for a cluster. */
import * as Effect from "effect/Effect";
import * as events from "../../core/api/events.ts";
import { API_VERSION, PLURAL } from "../../core/api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { DEFAULT_INSTANCE_ANNOTATION, instanceObject } from "../../core/operator/default_instance.ts";
import type { Settings } from "../../core/operator/settings.ts";
import { Patch } from "../../core/plan/patch.ts";
import { FIELD_MANAGER } from "../../core/snapshot/field_manager.ts";
import { groupPath } from "../../core/snapshot/kinds.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { announce } from "./perform.ts";

/** `map`: the ConfigMap of the settings. A failure is reported; the next start or change of the settings tries again. */
export const createDefaultInstance = (map: JsonObject, { defaultInstance }: Settings) =>
  Effect.gen(function* () {
    if (defaultInstance === undefined) return;
    if (stringAt(map, "metadata", "annotations", DEFAULT_INSTANCE_ANNOTATION) !== undefined) return;
    const { namespace, name } = defaultInstance;
    const key = `${namespace}/${name}`;
    const cluster = yield* Cluster;
    const created = yield* cluster.send(Patch.Create({
      collection: `${groupPath(API_VERSION)}/namespaces/${namespace}/${PLURAL}`,
      object: instanceObject(defaultInstance),
    })).pipe(
      Effect.as(true),
      // It exists: created before the record was written, or by somebody else.
      Effect.catchIf(({ status }) => status === 409, () => Effect.succeed(false)),
      Effect.tapError(({ detail }) => Effect.ignore(announce(events.defaultInstanceFailed(key, detail), map))),
    );
    yield* cluster.send(Patch.ServerSideApply({
      object: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: stringAt(map, "metadata", "name") ?? "",
          namespace: stringAt(map, "metadata", "namespace") ?? "",
          annotations: { [DEFAULT_INSTANCE_ANNOTATION]: key },
        },
      },
      fieldManager: FIELD_MANAGER,
      precondition: "any",
    }));
    if (!created) return;
    yield* Effect.logInfo("created the default instance").pipe(Effect.annotateLogs({ resource: key }));
    yield* announce(events.defaultInstanceCreated(key), map);
  }).pipe(
    Effect.catch((error) =>
      Effect.logWarning("default instance not created").pipe(
        Effect.annotateLogs({ reason: error.reason, detail: error.detail }),
      )
    ),
  );
