/**
 * START HERE: one reconciliation of one resource: observe, decide, perform, report, each once.
 *
 * Every branch that is a decision is in core/plan.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { isRetried, reasonOf } from "../../core/report/failure_table.ts";
import { repairsDone, repairsIn } from "../../core/plan/contest.ts";
import { decide, withoutContested } from "../../core/plan/decide.ts";
import { type Decision, waitingIn } from "../../core/plan/decision.ts";
import { type Outcomes, type Report, report } from "../../core/report/report.ts";
import type { ClusterSnapshot } from "../../core/snapshot/cluster_snapshot.ts";
import { ContestsOf } from "./contests.ts";
import { type LargeResourceSlot, largeResourceSlot } from "./large_resource_slot.ts";
import { LARGE_RETRY_MS } from "../limits.ts";
import { failureFound } from "../runtime/metrics.ts";
import { observe, type Observed, withOwners } from "./observe.ts";
import { perform, publish } from "./perform.ts";
import { Store } from "../cache/store.ts";
import type { Waiter } from "./waiting_room.ts";

const Large: Context.Reference<LargeResourceSlot> = Context.Reference("llama-stack-operator/shell/Large", {
  defaultValue: largeResourceSlot,
});

/** When to reconcile the resource again; undefined if it was deleted. */
export const reconcile = Effect.fn("reconcile")(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined) return undefined;
  if (kept.whole) return yield* pass(key);
  const large = yield* Large;
  const nowMs = yield* Clock.currentTimeMillis;
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => large.begin(key, nowMs)),
    (hasSlot) => hasSlot ? pass(key) : Effect.succeed<Outcome>({ ...NOTHING_DONE, lookAgainMs: LARGE_RETRY_MS }),
    (hasSlot) => Effect.sync(() => hasSlot && large.end()),
  );
});

const pass = Effect.fnUntraced(function* (key: string) {
  const observed = yield* observe(key);
  if (observed === undefined) return undefined;
  const decided = yield* decidedOnOwners(key, observed);
  return yield* Effect.gen(function* () {
    const { snapshot, decision } = yield* withContests(key, decided);
    const { outcomes, isKindMissing } = yield* perform(decision.steps, snapshot);
    const reported = report(snapshot, decision, outcomes);
    yield* publish(reported.steps, snapshot.resource);
    yield* repaired(key, decision, snapshot, outcomes);
    yield* counted(reported);
    const outcome: Outcome = {
      lookAgainMs: reported.lookAgainMs,
      backOff: isKindMissing || reported.failures.some(isRetried),
      waiting: waitingIn(decision),
    };
    return outcome;
  }).pipe(Effect.ensuring(Effect.flatMap(Store, (store) => store.releaseSlot(key))));
});

interface Decided {
  readonly snapshot: ClusterSnapshot;
  readonly decision: Decision;
}

/**
 * If the operator's objects were changed by others, decide on complete objects: the cache does not contain their field
 * ownership.
 */
const decidedOnOwners = Effect.fnUntraced(function* (key: string, observed: Observed) {
  const decided = yield* decidedWithSlots(key, observed);
  const whole = yield* withOwners(observed, decided.decision);
  return whole === observed ? decided : yield* decidedWithSlots(key, whole);
});

/** With the upgrade slots of the other resources, atomically with reserving one. */
const decidedWithSlots = (key: string, { snapshot, prepared }: Observed): Effect.Effect<Decided, never, Store> =>
  Effect.flatMap(Store, (store) =>
    store.decideWithSlots(key, (rollingUpgrades) => {
      const informed: ClusterSnapshot = { ...snapshot, rollingUpgrades };
      const decision = decide(informed, prepared);
      return { value: { snapshot: informed, decision }, slot: decision.kind === "rollout" ? decision.slot : undefined };
    }));

/** Fields that are repeatedly overwritten wait: this very snapshot may be the one that shows it. */
const withContests = Effect.fnUntraced(function* (key: string, { snapshot, decision }: Decided) {
  const decided: Decided = { snapshot, decision };
  if (decision.kind !== "rollout") return decided;
  const foreign = repairsIn(decision.steps, snapshot);
  if (foreign.length === 0) return decided;
  const contests = yield* ContestsOf;
  if (!contests.overwritten(key, foreign, snapshot.nowMs)) return decided;
  const informed = { ...snapshot, contests: contests.of(key, snapshot.nowMs) };
  const held: Decided = { snapshot: informed, decision: withoutContested(decision, informed) };
  return held;
});

const repaired = Effect.fnUntraced(
  function* (key: string, decision: Decision, snapshot: ClusterSnapshot, { live }: Outcomes) {
    const fields = repairsDone(decision.steps, snapshot, live);
    if (fields.length > 0) (yield* ContestsOf).repaired(key, fields);
  },
);

const counted = Effect.fnUntraced(function* ({ failures }: Report) {
  if (failures.length === 0) return;
  yield* Effect.forEach(failures, (failure) => failureFound(reasonOf(failure)), { discard: true });
  yield* Effect.logWarning("resource has failures").pipe(
    Effect.annotateLogs({ failures: failures.map(({ _tag }) => _tag).join(",") }),
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
