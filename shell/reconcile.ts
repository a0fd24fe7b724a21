/**
 * START HERE: one pass over one resource: observe, decide, perform, report.
 *
 * Every branch that is a decision is in core/plan/decide.ts; here is only what a refused write means for the rest (R35).
 */
import { Context, Effect, Option, Semaphore } from "effect";
import { ObjectRefused, type Unwritten, WriteFailed } from "../core/failure.ts";
import { type JsonObject, stringAt } from "../core/json.ts";
import { decide, report } from "../core/plan/decide.ts";
import { failedWrite } from "../core/plan/failed_write.ts";
import { repairsIn } from "../core/plan/contest.ts";
import { groupsOf, type Plan, type Step } from "../core/plan/step.ts";
import { verdictOn } from "../core/verdict.ts";
import { liveKey, type World } from "../core/plan/world.ts";
import type { ClusterError } from "./cluster.ts";
import { ContestsOf } from "./contests.ts";
import { LARGE_RETRY_MS, WRITES_AT_ONCE } from "./limits.ts";
import { failureFound } from "./metrics.ts";
import { observe, type Observed, withOwners } from "./observe.ts";
import { perform } from "./perform.ts";
import { Store } from "./store.ts";
import type { Waiter } from "./waiting_room.ts";

/** Resources that are too large to be kept take much memory while they are worked on: one at a time. */
const Large: Context.Reference<Semaphore.Semaphore> = Context.Reference("llama-stack-operator/shell/Large", {
  defaultValue: () => Semaphore.makeUnsafe(1),
});

/** What becomes of the resource; undefined when there is none any more. */
export const reconcile = Effect.fn("reconcile")(function* (key: string) {
  const kept = yield* (yield* Store).resource(key);
  if (kept === undefined) return undefined;
  if (kept.whole) return yield* pass(key);
  const done = yield* Semaphore.withPermitsIfAvailable(yield* Large, 1)(pass(key));
  // A worker that waited here would be missed by everybody else.
  return Option.getOrElse(done, (): Outcome => ({ ...NOTHING_DONE, lookAgainMs: LARGE_RETRY_MS }));
});

const pass = Effect.fnUntraced(function* (key: string) {
  const looked = yield* observe(key);
  if (looked === undefined) return undefined;
  const { observed, plan } = yield* withContests(key, looked);
  if (plan.turn.kind !== "wanted") return yield* carriedOut(observed, plan);
  const store = yield* Store;
  const { world, prepared } = observed;
  const { informed, plan: withSlots } = yield* store.decideWithSlots(key, (away) => {
    const informed = { ...world, away };
    const plan = decide(informed, prepared);
    return { value: { informed, plan }, slot: plan.turn.kind === "taken" ? plan.turn.slot : undefined };
  });
  const outcome = yield* Effect.ensuring(
    carriedOut({ world: informed, prepared }, withSlots),
    store.releaseSlot(key),
  );
  const waiting: Waiter | undefined = withSlots.turn.kind !== "waiting" ? undefined : {
    ...withSlots.turn.waiting,
    stoppedAt: withSlots.turn.stoppedAt,
  };
  return { ...outcome, waiting };
});

/** What is overwritten again and again waits: this very look may be the one that tells so. */
const withContests = Effect.fnUntraced(function* (key: string, looked: Observed) {
  const { observed, plan } = yield* withOwners(looked, decide(looked.world, looked.prepared));
  const foreign = repairsIn(plan.steps, observed.world);
  if (foreign.length === 0) return { observed, plan };
  const contests = yield* ContestsOf;
  const { nowMs } = observed.world;
  if (!contests.overwritten(key, foreign, nowMs)) return { observed, plan };
  const world = { ...observed.world, contests: contests.of(key, nowMs) };
  return { observed: { ...observed, world }, plan: decide(world, observed.prepared) };
});

const carriedOut = Effect.fnUntraced(function* ({ world, prepared }: Observed, plan: Plan) {
  const refusals: Array<Unwritten> = [];
  const live = new Map(world.live);
  // Where objects are written, the status is told afterwards: once, of what then is there.
  const isNews = plan.statusIsOf === "what is made" && plan.steps.some(({ _tag }) => _tag === "Apply");
  for (const group of groupsOf(isNews ? plan.steps.filter(({ _tag }) => _tag !== "SetStatus") : plan.steps)) {
    // What stands behind a refused need of the Deployment would stand on nothing: only the report is still made.
    if (refusals.some(({ blocks }) => blocks)) break;
    const outcomes = yield* Effect.forEach(
      group,
      (step) =>
        refusable(
          step,
          world,
          Effect.map(perform(step, world.resource, live.get(targetOf(step))), (made) => made ?? undefined),
        ),
      {
        concurrency: WRITES_AT_ONCE,
      },
    );
    for (const one of outcomes) {
      if (one instanceof ObjectRefused || one instanceof WriteFailed) refusals.push(one);
      else if (one !== undefined) {
        live.set(liveKey(stringAt(one, "kind") ?? "", stringAt(one, "metadata", "name") ?? ""), one);
      }
    }
  }
  if (isNews || refusals.length > 0) {
    const told = report({ ...world, live, refusals }, prepared).steps
      .filter(({ _tag }) => refusals.length > 0 || _tag === "SetStatus");
    yield* Effect.forEach(told, (step) => perform(step, world.resource), { discard: true });
  }
  const repaired = repairsIn(plan.steps, world);
  if (repaired.length > 0) {
    const key = `${stringAt(world.resource, "metadata", "namespace")}/${stringAt(world.resource, "metadata", "name")}`;
    (yield* ContestsOf).repaired(key, repaired);
  }
  const failures = [...plan.failures, ...refusals];
  yield* Effect.forEach(failures, (one) => failureFound(verdictOn(one).reason), { discard: true });
  if (failures.length > 0) {
    yield* Effect.logWarning("resource has failures").pipe(
      Effect.annotateLogs({ failures: failures.map(({ _tag }) => _tag).join(",") }),
    );
  }
  const next: Outcome = {
    ...NOTHING_DONE,
    lookAgainMs: plan.lookAgainMs,
    backOff: failures.some((one) => verdictOn(one)._tag === "BackOff"),
  };
  return next;
});

/** The object that a step writes, as `live` has it. */
const targetOf = (step: Step): string => {
  if (step._tag === "Apply") return liveKey(step.manifest.kind, step.manifest.metadata.name);
  return "key" in step ? liveKey(step.key.kind, step.key.name) : "";
};

const NOTHING_DONE = { backOff: false, waiting: undefined } as const;

/** What becomes of the resource after a pass without an error. */
export interface Outcome {
  readonly lookAgainMs: number | undefined;
  /** Try again with growing pauses, since something outside may change without telling us. */
  readonly backOff: boolean;
  /** Undefined unless the resource waits for an upgrade slot. */
  readonly waiting: Waiter | undefined;
}

/** What the API server answers to a write is a finding; everything else that fails ends the pass, which is then tried again. */
const refusable = <R>(
  step: Step,
  world: World,
  run: Effect.Effect<JsonObject | undefined, ClusterError, R>,
): Effect.Effect<JsonObject | Unwritten | undefined, ClusterError, R> =>
  step._tag !== "Apply" ? run : run.pipe(
    Effect.catchIf(
      ({ status, isPassing }) => status !== undefined && status !== 409 && (!isPassing || status >= 500),
      ({ status = 0, detail }) =>
        Effect.succeed<JsonObject | Unwritten | undefined>(failedWrite(step, { status, detail }, world)),
    ),
  );
