/**
 * START HERE: one reconciliation of one resource: observe, plan, perform, report, each once.
 *
 * Every branch that is a decision is in core/plan.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { isRetried, reasonOf } from "../../core/report/failure_table.ts";
import { appliedIn, repairsDone } from "../../core/plan/contest.ts";
import { type Decision, waitingIn } from "../../core/plan/decision.ts";
import { type Outcomes, type Report, report } from "../../core/report/report.ts";
import { type ClusterSnapshot, liveKey } from "../../core/snapshot/cluster_snapshot.ts";
import { planned, slotTaken } from "./answers.ts";
import { ContestsOf } from "./contests.ts";
import { forgotten } from "./forgotten.ts";
import { LargeResources } from "./large_resource_slot.ts";
import { LARGE_RETRY_MS } from "../limits.ts";
import { failureFound } from "../runtime/metrics.ts";
import { observe, withServer } from "./observe.ts";
import { perform, publish } from "./perform.ts";
import { Store } from "../cache/store.ts";
import type { Waiter } from "./waiting_room.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

/** When to reconcile the resource again; undefined if it was deleted. */
export const reconcile = Effect.fn("reconcile")(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined) return void (yield* forgotten(key));
  if (kept.whole) return yield* pass(key);
  const large = yield* LargeResources;
  const nowMs = yield* Clock.currentTimeMillis;
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => large.begin(key, nowMs)),
    (hasSlot) => hasSlot ? pass(key) : Effect.succeed<Outcome>({ ...NOTHING_DONE, lookAgainMs: LARGE_RETRY_MS }),
    (hasSlot) => Effect.sync(() => hasSlot && large.end()),
  );
});

const pass = Effect.fnUntraced(function* (key: string) {
  const facts = yield* observe(key);
  if (facts === undefined) return undefined;
  const store = yield* Store;
  return yield* Effect.gen(function* () {
    const { snapshot: seen, decision } = yield* planned(key, facts, slotTaken);
    if (facts.isFresh && isWithoutObjects(seen, decision)) yield* store.markComplete(key);
    const snapshot = yield* withServer(key, seen, facts.decoded);
    const { outcomes, isKindMissing } = yield* perform(decision.steps, snapshot);
    const reported = report(snapshot, decision, outcomes);
    // What was done counts, whether or not the status can be written.
    yield* contestsSeen(key, decision, snapshot, outcomes);
    yield* publish(reported.steps, snapshot.resource);
    yield* counted(reported);
    const outcome: Outcome = {
      lookAgainMs: reported.lookAgainMs,
      backOff: isKindMissing || reported.failures.some(isRetried),
      waiting: waitingIn(decision),
    };
    return outcome;
  }).pipe(Effect.ensuring(store.releaseSlot(key)));
});

/** A new resource has none; objects that were restored from a backup before it are listed once (observe.ts). */
const isWithoutObjects = ({ resource, live }: ClusterSnapshot, decision: Decision): boolean =>
  "prepared" in decision && decision.prepared !== undefined &&
  !live.has(liveKey("Deployment", liveObject(resource).name));

const contestsSeen = Effect.fnUntraced(
  function* (key: string, decision: Decision, snapshot: ClusterSnapshot, { live }: Outcomes) {
    const contests = yield* ContestsOf;
    if (decision.kind === "rollout") contests.reported(key);
    const fields = repairsDone(decision.steps, snapshot, live);
    if (fields.length > 0) contests.repaired(key, fields);
    contests.applied(key, appliedIn(decision.steps, snapshot, live));
  },
);

const counted = Effect.fnUntraced(function* ({ failures }: Report) {
  if (failures.length === 0) return;
  const reasons = failures.map(reasonOf);
  yield* Effect.forEach(reasons, failureFound, { discard: true });
  yield* Effect.logWarning("resource has failures").pipe(
    Effect.annotateLogs({ failures: [...new Set(reasons)].join(",") }),
  );
});

const NOTHING_DONE = { backOff: false, waiting: undefined } as const;

/** What follows a reconciliation that ended without an error. */
export interface Outcome {
  readonly lookAgainMs: number | undefined;
  /** Retry with backoff, because external causes may disappear without an event. */
  readonly backOff: boolean;
  /** Undefined unless the resource waits for an upgrade slot. */
  readonly waiting: Waiter | undefined;
}
