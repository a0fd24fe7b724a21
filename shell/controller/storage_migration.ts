/**
 * Rewrites resources that are stored in a former version, once, and removes that version from the CRD's stored
 * versions, so that a later release can drop it. The content of resources does not change, and no reconciliation
 * follows.
 */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { INCOMPLETE_ANNOTATION, UNCONVERTED_ANNOTATION } from "../../core/api/convert/annotation.ts";
import { API_VERSION, KIND, PLURAL } from "../../core/api/v1alpha2.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { CRD_PATH, hasSameVersions, onlyStorageVersion, versionsLeft } from "../../core/operator/stored_versions.ts";
import { Cluster, type ClusterError, warned } from "../kubernetes/cluster.ts";
import { MIGRATE_AGAIN_MS, MIGRATED_AT_ONCE, MIGRATION_NAMES_MAX } from "../limits.ts";
import { Patch, replacement } from "../../core/plan/patch.ts";
import { groupPath } from "../../core/snapshot/kinds.ts";
import { liveObject, resourceKey } from "../../core/snapshot/live_object.ts";

/** Ends when everything is migrated; retries after a delay if that fails. */
export const migrateStorage = Effect.gen(function* () {
  for (;;) {
    const isDone = yield* migrated.pipe(
      Effect.catch((error) =>
        Effect.as(
          warned("storage migration failed")(error),
          // Roles without this permission are a choice.
          error._tag === "Forbidden",
        )
      ),
    );
    if (isDone) return;
    yield* Effect.sleep(Duration.millis(MIGRATE_AGAIN_MS));
  }
});

const migrated = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const before = (yield* cluster.read(CRD_PATH)) as JsonObject;
  const left = versionsLeft(before);
  if (left.length === 0) return true;
  let count = 0;
  let failed: ClusterError | undefined;
  const incomplete: Array<string> = [];
  yield* cluster.eachPage({ path: RESOURCES }, (items) =>
    Effect.forEach(items, (item) => {
      count++;
      // What is missing of it here would be missing from then on.
      if (
        [INCOMPLETE_ANNOTATION, UNCONVERTED_ANNOTATION].some((key) => liveObject(item).annotations[key] !== undefined)
      ) {
        return Effect.sync(() => void incomplete.push(resourceKey(item)));
      }
      return Effect.catch(writtenAnew(cluster, item), (error) => Effect.sync(() => void (failed = error)));
    }, { concurrency: MIGRATED_AT_ONCE, discard: true }));
  // A resource left in the former version would be lost with it.
  if (failed !== undefined) return yield* Effect.fail(failed);
  if (incomplete.length > 0) {
    yield* Effect.logWarning("storage migration is incomplete").pipe(Effect.annotateLogs({
      reason: "Unconverted",
      detail: `${incomplete.length} resources cannot be converted; shorten or delete them in v1alpha1`,
      resources: incomplete.slice(0, MIGRATION_NAMES_MAX).join(" "),
    }));
    return false;
  }
  // Read again: if it changed meanwhile, its version shows that, and the migration is repeated.
  const now = (yield* cluster.read(CRD_PATH)) as JsonObject;
  if (!hasSameVersions(now, before)) return false;
  yield* cluster.send(replacement(`${CRD_PATH}/status`, onlyStorageVersion(now)));
  yield* Effect.logInfo("stored resources migrated").pipe(
    Effect.annotateLogs({ resources: count, left: left.join(",") }),
  );
  return true;
});

const RESOURCES = `${groupPath(API_VERSION)}/${PLURAL}`;

/** Deleted, or written by another client meanwhile: done. */
const writtenAnew = (cluster: Cluster["Service"], resource: JsonObject): Effect.Effect<void, ClusterError> => {
  const { namespace, name, version } = liveObject(resource);
  return cluster.send(Patch.Touch({ key: { apiVersion: API_VERSION, kind: KIND, namespace, name }, version }))
    .pipe(Effect.asVoid, Effect.catchTag(["NotFound", "Conflict"], () => Effect.void));
};
