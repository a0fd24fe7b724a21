/**
 * Changes in the cluster → keys → reconciliations; the follow-up of a reconciliation is decided in one place, the
 * switch on its outcome.
 */
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Ref from "effect/Ref";
import { COALESCE_MS, SECRET_POLL_MS, SLOTS_LOOK_MS, WORKERS } from "../limits.ts";
import { isClusterError } from "../kubernetes/cluster.ts";
import { passEnded, showFigures } from "../runtime/metrics.ts";
import { monotonicMs } from "../runtime/monotonic_clock.ts";
import { type Backoff, newBackoff, nextMs } from "./backoff.ts";
import { watches } from "./watches.ts";
import { SecretPolling } from "./referenced_objects.ts";
import { LabelReader } from "./image_labels.ts";
import { LiveSettings } from "./operator_settings.ts";
import { type Outcome, reconcile } from "./reconcile.ts";
import { ReferenceIndex } from "../cache/reference_index.ts";
import { ServerProbe } from "./server_probe.ts";
import { Store } from "../cache/store.ts";
import { type WaitingRoom, waitingRoom } from "./waiting_room.ts";
import { makeWorkQueue, type WorkQueue } from "./work_queue.ts";

/** Watches and works until it is interrupted. */
export const controller = Effect.gen(function* () {
  const store = yield* Store;
  const queue = yield* makeWorkQueue;
  yield* showFigures({ standings: store.standings, depth: queue.size });
  const waiting = waitingRoom();
  const settings = yield* LiveSettings;
  /** Who really takes a slot is decided in their reconciliations. */
  const wake = Effect.gen(function* () {
    if (waiting.isEmpty()) return;
    const upgrades = yield* store.rollingUpgrades;
    const { upgradeParallelism } = yield* Ref.get(settings);
    const nowMs = yield* Clock.currentTimeMillis;
    for (const key of waiting.called(upgrades, nowMs, upgradeParallelism)) yield* queue.add(key);
  });
  // The expiry of a slot causes no event.
  const slotsEnd = Effect.forever(Effect.andThen(Effect.sleep(Duration.millis(SLOTS_LOOK_MS)), wake));
  const { running, complete } = yield* watches(queue, wake);
  const backoff = newBackoff();
  const workers = Array.from(
    { length: WORKERS },
    () => Effect.andThen(complete, Effect.forever(pass(queue, backoff, waiting, wake))),
  );
  const asked = yield* ServerProbe;
  const answers = Effect.forever(Effect.flatMap(asked.changed, queue.addFollowUp));
  const labels = Effect.forever(Effect.flatMap((yield* LabelReader).changed, queue.add));
  const disturbances = Effect.forever(Effect.flatMap(store.conflictingWrites, queue.add));
  const polls = (yield* SecretPolling) ? [pollSecrets(queue)] : [];
  yield* Effect.all([...running, ...workers, answers, labels, disturbances, slotsEnd, ...polls], {
    concurrency: "unbounded",
    discard: true,
  });
}).pipe(Effect.scoped);

/** Changed Secrets are not reported: each resource that references one is reconciled periodically. */
const pollSecrets = Effect.fnUntraced(function* (queue: WorkQueue) {
  const named = yield* ReferenceIndex;
  for (;;) {
    yield* Effect.sleep(Duration.millis(SECRET_POLL_MS));
    for (const key of named.resourcesNaming("Secret")) yield* queue.add(key);
  }
});

/** One reconciliation with its outcome: an error backs off, a delay is observed, everything else waits for a change. */
const pass = Effect.fnUntraced(function* (
  queue: WorkQueue,
  backoff: Backoff,
  waiting: WaitingRoom,
  wake: Effect.Effect<void>,
) {
  const { key, priority } = yield* queue.take;
  // The operator's own writes cause bursts of events, which are combined into one reconciliation; an edit does not wait
  // for that.
  if (priority === "follow-up") yield* Effect.sleep(Duration.millis(COALESCE_MS));
  const [namespace = "", name = ""] = key.split("/");
  const startNanos = yield* Clock.monotonicTimeNanos;
  const exit = yield* Effect.exit(reconcile(key)).pipe(Effect.annotateLogs({ namespace, name }));
  yield* passEnded(resultOf(exit), Number((yield* Clock.monotonicTimeNanos) - startNanos) / 1e9);
  if (Exit.isFailure(exit)) {
    if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt;
    yield* logFailure(exit.cause).pipe(Effect.annotateLogs({ namespace, name }));
  }
  const { backOff = false, lookAgainMs } = Exit.isFailure(exit) ? { backOff: true } : exit.value ?? {};
  const nowMs = yield* monotonicMs;
  if (!backOff) backoff.succeeded(key);
  const againMs = nextMs({ retryMs: backOff ? backoff.failed(key, nowMs) : undefined, lookAgainMs });
  if (againMs !== undefined) yield* queue.addAfter(key, againMs);
  waiting.reconciled(key, Exit.isSuccess(exit) ? exit.value?.waiting : undefined);
  yield* wake;
  yield* queue.done(key);
});

/**
 * A response of the API server is not a bug: one line without a stack trace. A concurrent write is not logged as a
 * problem at all.
 */
const logFailure = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const error = Cause.squash(cause);
  if (!isClusterError(error)) {
    return Effect.logError("reconciliation failed").pipe(Effect.annotateLogs({ cause: Cause.pretty(cause) }));
  }
  const { verb, path, status, reason, detail } = error;
  switch (error._tag) {
    case "Conflict":
      return Effect.logInfo("conflict with a concurrent change; retrying");
    case "NotFound":
      return Effect.logInfo("object or namespace deleted meanwhile").pipe(Effect.annotateLogs({ verb, path }));
    default:
      return Effect.logWarning("call failed").pipe(
        Effect.annotateLogs({ verb, path, status: status ?? 0, reason, detail }),
      );
  }
};

/** The label values of controller-runtime. */
const resultOf = (exit: Exit.Exit<Outcome | undefined, unknown>) =>
  Exit.isFailure(exit)
    ? "error"
    : exit.value?.backOff === true
    ? "requeue"
    : exit.value?.lookAgainMs === undefined
    ? "success"
    : "requeue_after";
