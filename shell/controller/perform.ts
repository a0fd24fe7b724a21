/** Performs the steps of a decision and reports the result; what is written was decided in core/plan. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { KIND } from "../../core/api/v1alpha2.ts";
import { type JsonObject } from "../../core/data/json.ts";
import { FIELD_MANAGER, SCALE_MANAGER } from "../../core/snapshot/field_manager.ts";
import { takenOver } from "../../core/plan/takeover.ts";
import { Patch, type Precondition } from "../../core/plan/patch.ts";
import {
  type Announcement,
  groupsOf,
  type StatusUpdate,
  type StepPrecondition,
  type WriteStep,
} from "../../core/plan/step.ts";
import type { Note } from "../../core/api/events.ts";
import type { Unwritten } from "../../core/failure/failures.ts";
import { failedWrite } from "../../core/report/failed_write.ts";
import type { Outcomes } from "../../core/report/report.ts";
import { type ClusterSnapshot, liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { Cluster, type ClusterError, isPassing, warned } from "../kubernetes/cluster.ts";
import { isKindGone } from "../kubernetes/served_kinds.ts";
import { WRITES_AT_ONCE } from "../limits.ts";
import { wrote } from "../runtime/metrics.ts";
import { Store } from "../cache/store.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

/**
 * All steps of a decision, in their groups. What the API server answers to a write is an outcome; every other error ends the
 * reconciliation, which is then tried again. `isKindMissing`: an optional kind was no longer served.
 */
export const perform = Effect.fnUntraced(function* (steps: ReadonlyArray<WriteStep>, snapshot: ClusterSnapshot) {
  const rejectedWrites: Array<Unwritten> = [];
  const live = new Map(snapshot.live);
  let isKindMissing = false;
  for (const group of groupsOf(steps)) {
    // Nothing follows a Deployment, or a requirement of it, that was rejected.
    if (rejectedWrites.some(({ blocks }) => blocks)) break;
    const results = yield* Effect.forEach(
      group,
      (step) => Effect.result(performed(step, snapshot.resource, live.get(targetOf(step)))),
      { concurrency: WRITES_AT_ONCE },
    );
    for (const [index, result] of results.entries()) {
      const step = group[index];
      if (Result.isFailure(result)) {
        const { _tag, status, detail, fields = [] } = result.failure;
        if (step?._tag === "Apply" && (yield* isKindGone(step.manifest.kind, result.failure))) {
          isKindMissing = true;
          continue;
        }
        if (step === undefined || !isAnswer(result.failure)) return yield* result.failure;
        rejectedWrites.push(failedWrite(step, {
          status: status ?? 0,
          isServerError: _tag === "ServerError",
          detail,
          fields,
        }, snapshot));
      } else if (result.success !== undefined) {
        const object = result.success;
        live.set(liveKey(liveObject(object).kind, liveObject(object).name), object);
      }
    }
  }
  const outcomes: Outcomes = { live, rejectedWrites };
  return { outcomes, isKindMissing };
});

/**
 * Rejections by the API server, or by a webhook that it calls, are about the object; conflicts and overload are not.
 */
const isAnswer = (error: ClusterError): boolean =>
  error._tag === "ServerError" || error._tag !== "Conflict" && !isPassing(error);

/** The object that a step writes, as `live` has it. */
const targetOf = (step: WriteStep): string =>
  step._tag === "Apply"
    ? liveKey(step.manifest.kind, step.manifest.metadata.name)
    : liveKey(step.key.kind, step.key.name);

/** Events and the status, in their order: after a status that was not accepted nothing follows. */
export const publish = (steps: ReadonlyArray<Announcement | StatusUpdate>, resource: JsonObject) =>
  Effect.forEach(
    steps,
    (step) => step._tag === "Announce" ? announceIfPossible(step.note, resource) : statusWritten(step, resource),
    {
      discard: true,
    },
  );

/**
 * The object as the API server stored it; undefined where there is none, as after a deletion. `before` is the object after
 * earlier steps of the plan.
 */
const performed = Effect.fnUntraced(function* (step: WriteStep, resource: JsonObject, before?: JsonObject) {
  const cluster = yield* Cluster;
  const store = yield* Store;
  switch (step._tag) {
    case "Apply": {
      // Cached at once: the next reconciliation must not depend on the watch event of this write.
      const made = yield* store.writing(
        step.manifest,
        cluster.send(Patch.ServerSideApply({
          object: step.manifest,
          fieldManager: FIELD_MANAGER,
          precondition: preconditionOf(step.precondition, before),
        })),
      ).pipe(Effect.tapError(({ _tag }) => _tag === "Conflict" ? store.markStale(resource) : Effect.void));
      yield* wrote(step.manifest.kind, "apply");
      yield* Effect.logInfo("applied").pipe(
        Effect.annotateLogs({ kind: step.manifest.kind, object: step.manifest.metadata.name, why: step.why }),
      );
      return made;
    }
    case "TakeOver": {
      // The current and complete object: the cache omits most of these fields.
      const found = yield* cluster.get(step.key);
      if (found === undefined) return;
      const { version } = liveObject(found);
      const made = yield* cluster.send(
        Patch.ManagedFields({ key: step.key, version, managedFields: takenOver(found, resource, step.claims) }),
      );
      yield* wrote(step.key.kind, "take_over");
      yield* Effect.logInfo("adopted").pipe(
        Effect.annotateLogs({
          kind: step.key.kind,
          object: step.key.name,
          managers: step.managers.join(","),
          why: step.why,
        }),
      );
      return made;
    }
    case "Prune": {
      const isDone = yield* cluster.send(Patch.Delete({ key: step.key, uid: step.uid, version: step.version })).pipe(
        // It was deleted, changed, or replaced by another object: nothing was done.
        Effect.catchTag(["NotFound", "Conflict"], () => Effect.succeed(undefined)),
        Effect.map((answer) => answer !== undefined),
      );
      if (!isDone) return;
      yield* wrote(step.key.kind, "delete");
      return void (yield* Effect.logInfo("pruned").pipe(
        Effect.annotateLogs({ kind: step.key.kind, object: step.key.name, why: step.why }),
      ));
    }
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
    default:
      return step satisfies never;
  }
});

/** An Event that cannot be written must not stop anything. */
export const announceIfPossible = (note: Note, resource: JsonObject) =>
  Effect.catch(announce(note, resource), warned("event not written"));

const statusWritten = Effect.fnUntraced(function* ({ status, why }: StatusUpdate, resource: JsonObject) {
  const store = yield* Store;
  const cluster = yield* Cluster;
  const patch = Patch.UpdateStatus({ resource, status, fieldManager: FIELD_MANAGER });
  const written = yield* store.writing(resource, cluster.send(patch)).pipe(
    // Its deletion is complete.
    Effect.catchTag("NotFound", () => Effect.succeed(undefined)),
  );
  if (written === undefined) return;
  yield* wrote(KIND, "update_status");
  yield* Effect.logInfo("status written").pipe(Effect.annotateLogs({ why }));
});

const preconditionOf = (precondition: StepPrecondition, before: JsonObject | undefined): Precondition =>
  precondition === "as just written"
    ? { version: before === undefined ? "" : liveObject(before).version }
    : precondition;

/** One Event on an object. */
export const announce = Effect.fnUntraced(function* ({ type, reason, action, note }: Note, resource: JsonObject) {
  const cluster = yield* Cluster;
  const { apiVersion, kind, namespace, name, uid = "", version: resourceVersion } = liveObject(resource);
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
      regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
    },
  }));
  yield* wrote("Event", "create");
});
