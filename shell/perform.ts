/** Runs one step of a plan. Nothing is decided here. */
import { Clock, Effect } from "effect";
import { KIND } from "../core/api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../core/json.ts";
import { FIELD_MANAGER, SCALE_MANAGER } from "../core/plan/field_manager.ts";
import { takenOver } from "../core/plan/takeover.ts";
import { Patch, type Precondition } from "../core/plan/patch.ts";
import type { Step, StepPrecondition } from "../core/plan/step.ts";
import type { Note } from "../core/status/events.ts";
import { Cluster } from "./kubernetes/cluster.ts";
import { wrote } from "./metrics.ts";
import { Store } from "./store.ts";

/**
 * What the API server made of a written object; undefined for a step that writes none. `before` is the object as earlier steps
 * of the plan left it.
 */
export const perform = Effect.fnUntraced(function* (step: Step, resource: JsonObject, before?: JsonObject) {
  const cluster = yield* Cluster;
  const store = yield* Store;
  switch (step._tag) {
    case "Apply": {
      // Seen at once: the next pass must not wait for the watch to bring back what was just written.
      const made = yield* store.writing(
        step.manifest,
        cluster.send(Patch.ServerSideApply({
          object: step.manifest,
          fieldManager: FIELD_MANAGER,
          precondition: preconditionOf(step.precondition, before),
        })),
      ).pipe(Effect.tapError(({ status }) => status === 409 ? store.doubt(resource) : Effect.void));
      yield* wrote(step.manifest.kind, "apply");
      yield* Effect.logInfo("applied").pipe(
        Effect.annotateLogs({ kind: step.manifest.kind, object: step.manifest.metadata.name, why: step.why }),
      );
      return made;
    }
    case "TakeOver": {
      // As it is now and whole: the mirror keeps next to nothing of these fields.
      const found = yield* cluster.get(step.key);
      if (found === undefined) return;
      const version = stringAt(found, "metadata", "resourceVersion") ?? "";
      const made = yield* cluster.send(
        Patch.ManagedFields({ key: step.key, version, managedFields: takenOver(found, resource, step.claims) }),
      );
      yield* wrote(step.key.kind, "take_over");
      yield* Effect.logInfo("taken over").pipe(
        Effect.annotateLogs({
          kind: step.key.kind,
          object: step.key.name,
          managers: step.managers.join(","),
          why: step.why,
        }),
      );
      return made;
    }
    case "Prune":
      // It is gone, or became another object: there is nothing left to delete.
      yield* cluster.send(Patch.Delete({ key: step.key, uid: step.uid, version: step.version })).pipe(
        Effect.catchIf(({ status }) => status === 404 || status === 409, () => Effect.void),
      );
      yield* wrote(step.key.kind, "delete");
      return yield* Effect.logInfo("pruned").pipe(
        Effect.annotateLogs({ kind: step.key.kind, object: step.key.name, why: step.why }),
      );
    case "Scale": {
      const { apiVersion, kind, namespace, name } = step.key;
      const part = { apiVersion, kind, metadata: { name, namespace }, spec: { replicas: step.replicas } };
      const made = yield* store.writing(
        part,
        cluster.send(Patch.ServerSideApply({
          object: part,
          fieldManager: SCALE_MANAGER,
          precondition: preconditionOf(step.precondition, before),
        })),
      );
      yield* wrote(kind, "scale");
      yield* Effect.logInfo("scaled").pipe(
        Effect.annotateLogs({ object: name, replicas: step.replicas, why: step.why }),
      );
      return made;
    }
    case "Announce":
      // An Event that cannot be written must not stop the work that it speaks of.
      return yield* announce(step.note, resource).pipe(
        Effect.andThen(wrote("Event", "create")),
        Effect.catch((error) =>
          Effect.logWarning("event not written").pipe(
            Effect.annotateLogs({ reason: error.reason, detail: error.detail }),
          )
        ),
      );
    case "SetStatus": {
      yield* store.writing(
        resource,
        cluster.send(Patch.UpdateStatus({ resource, status: step.status, fieldManager: FIELD_MANAGER })),
      );
      yield* wrote(KIND, "update_status");
      return yield* Effect.logInfo("status written").pipe(Effect.annotateLogs({ why: step.why }));
    }
  }
});

const preconditionOf = (precondition: StepPrecondition, before: JsonObject | undefined): Precondition =>
  precondition === "as just written"
    ? { version: stringAt(before ?? null, "metadata", "resourceVersion") ?? "" }
    : precondition;

/** One Event on an object. */
export const announce = Effect.fnUntraced(function* ({ type, reason, action, note }: Note, resource: JsonObject) {
  const cluster = yield* Cluster;
  const namespace = stringAt(resource, "metadata", "namespace") ?? "";
  const name = stringAt(resource, "metadata", "name") ?? "";
  const now = new Date(yield* Clock.currentTimeMillis).toISOString();
  yield* cluster.send(Patch.Create({
    collection: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    object: {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { generateName: `${name}-`, namespace },
      eventTime: now.replace("Z", "000Z"),
      reportingController: FIELD_MANAGER,
      reportingInstance: FIELD_MANAGER,
      type,
      reason,
      action,
      note,
      regarding: {
        apiVersion: stringAt(resource, "apiVersion") ?? "",
        kind: stringAt(resource, "kind") ?? "",
        namespace,
        name,
        uid: stringAt(resource, "metadata", "uid") ?? "",
        resourceVersion: stringAt(resource, "metadata", "resourceVersion") ?? "",
      },
    },
  }));
});
