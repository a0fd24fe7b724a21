/**
 * One replica is active, the others wait: a Lease determines which one, and a fence stops writes before another replica
 * may start.
 */
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Random from "effect/Random";
import type { JsonObject } from "../../core/data/json.ts";
import { versionOf } from "../../core/data/newest_first.ts";
import { LEASE } from "../../core/api/own_objects.ts";
import { claimed, holderOf, leaseMove, released, sameLease } from "../../core/operator/lease.ts";
import { Cluster, type ClusterError, isClusterError } from "../kubernetes/cluster.ts";
import { Fence } from "../kubernetes/fence.ts";
import {
  LEASE_CALL_MS,
  LEASE_DEADLINE_MS,
  LEASE_LOOK_MS,
  LEASE_RELEASE_MS,
  LEASE_RENEW_MS,
  LEASE_SECONDS,
} from "../limits.ts";
import { monotonicMs, msOf } from "../runtime/monotonic_clock.ts";
import { creation, replacement } from "../../core/plan/patch.ts";
import { reportRestored, untilRestored } from "../runtime/restored_database.ts";

export interface Candidacy {
  readonly namespace: string;
  /** Another one for each process, also for two in a row in one pod. */
  readonly identity: string;
  /** False leaves the lease as a killed process would. */
  readonly releases: boolean;
}

/**
 * Runs the program while this replica holds the lease. Losing the lease interrupts it, and the wait begins again; ends
 * when the program itself ends.
 */
export const leading = Effect.fn("leading")(
  function* <A, E, R>(program: Effect.Effect<A, E, R>, candidacy: Candidacy) {
    for (;;) {
      const tenure = yield* waitForLease(candidacy);
      yield* Effect.logInfo("leading").pipe(Effect.annotateLogs({ identity: candidacy.identity }));
      const clock = yield* Clock.Clock;
      const ended = yield* Effect.raceFirst(
        untilRestored(program.pipe(Effect.provideService(Fence, { mayWrite: () => mayWrite(tenure, clock) }))).pipe(
          // The lease known to this replica no longer exists: read it again.
          Effect.tap((ended) => Effect.sync(() => void (tenure.lost ||= Option.isNone(ended)))),
        ),
        Effect.as(untilLost(tenure, candidacy), Option.none<A>()),
      ).pipe(Effect.ensuring(candidacy.releases ? release(tenure, candidacy) : Effect.void));
      if (Option.isSome(ended)) return ended.value;
      yield* Effect.logWarning("stopped leading").pipe(Effect.annotateLogs({ identity: candidacy.identity }));
    }
  },
);

/** The lease as this replica last wrote it. */
interface Tenure {
  /** Undefined if another replica changed it: it must be read before it is written again. */
  lease: JsonObject | undefined;
  /** Version of the lease as this replica last wrote it. */
  readonly version: number;
  /** Monotonic time in milliseconds just before the last renewal was sent; the other replicas count from later. */
  renewedAtMs: number;
  lost: boolean;
}

const keyIn = (namespace: string) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace,
  name: LEASE,
});

const left = (tenure: Tenure, nowMs: number): number => tenure.renewedAtMs + LEASE_DEADLINE_MS - nowMs;

const leftMs = (tenure: Tenure) => Effect.map(monotonicMs, (nowMs) => left(tenure, nowMs));

const mayWrite = (tenure: Tenure, clock: Clock.Clock): boolean => !tenure.lost && left(tenure, msOf(clock)) > 0;

/** Replicas that were started together must not stay in step. */
const jittered = (ms: number) => Effect.map(Random.nextBetween(0.8, 1.2), (factor) => ms * factor);

const waitForLease = Effect.fnUntraced(function* (candidacy: Candidacy) {
  const cluster = yield* Cluster;
  let seen: JsonObject | undefined;
  let sinceMs = yield* monotonicMs;
  const attempt = Effect.gen(function* () {
    const lease = yield* cluster.get(keyIn(candidacy.namespace));
    const nowMs = yield* monotonicMs;
    if (!sameLease(seen, lease)) [seen, sinceMs] = [lease, nowMs];
    const move = leaseMove(lease, candidacy.identity, nowMs - sinceMs);
    return move._tag === "Wait" ? move.forMs : yield* write(lease, candidacy);
  });
  for (;;) {
    const found = yield* attempt.pipe(
      Effect.timeout(Duration.millis(LEASE_CALL_MS)),
      Effect.catchIf(isClusterError, (error) => Effect.as(tellFailure(error), LEASE_LOOK_MS)),
      Effect.catchTag("TimeoutError", () => Effect.succeed(LEASE_LOOK_MS)),
    );
    if (typeof found !== "number") return found;
    const pause = yield* jittered(LEASE_LOOK_MS);
    yield* Effect.sleep(Duration.millis(Math.min(pause, found)));
  }
});

const leasesIn = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;

/** Fails with a conflict when another replica was faster. */
const write = Effect.fnUntraced(function* (before: JsonObject | undefined, { namespace, identity }: Candidacy) {
  const cluster = yield* Cluster;
  const renewedAtMs = yield* monotonicMs;
  const nowMs = yield* Clock.currentTimeMillis;
  const wanted = claimed(before, { namespace, name: LEASE, holder: identity, seconds: LEASE_SECONDS, nowMs });
  const lease = before === undefined
    ? yield* cluster.send(creation(leasesIn(namespace), wanted))
    : yield* cluster.send(replacement(`${leasesIn(namespace)}/${LEASE}`, wanted));
  const tenure: Tenure = { lease, version: versionOf(lease), renewedAtMs, lost: false };
  return tenure;
});

/** Renews until another replica has the lease, or until it could not be renewed in time. */
const untilLost = Effect.fnUntraced(function* (tenure: Tenure, candidacy: Candidacy) {
  const cluster = yield* Cluster;
  const attempt = Effect.gen(function* () {
    const lease = tenure.lease ?? (yield* cluster.get(keyIn(candidacy.namespace)));
    if (lease !== undefined && leaseMove(lease, candidacy.identity, 0)._tag === "Wait") {
      tenure.lost = true;
      return;
    }
    tenure.lease = undefined;
    if (lease !== undefined && versionOf(lease) < tenure.version) return yield* restored(tenure, candidacy);
    const renewed = yield* write(lease, candidacy);
    if (renewed.version < tenure.version) return yield* restored(tenure, candidacy);
    Object.assign(tenure, renewed);
  });
  while (!tenure.lost) {
    const pause = yield* jittered(LEASE_RENEW_MS);
    yield* Effect.sleep(Duration.millis(Math.min(pause, Math.max(0, yield* leftMs(tenure)))));
    const remainingMs = yield* leftMs(tenure);
    if (remainingMs <= 0) tenure.lost = true;
    else {
      yield* attempt.pipe(
        Effect.timeout(Duration.millis(Math.min(remainingMs, LEASE_CALL_MS))),
        Effect.catchIf(isClusterError, tellFailure),
        Effect.catchTag("TimeoutError", () => Effect.logWarning("lease not renewed in time")),
      );
    }
  }
});

/** The lease is older than when this replica wrote it. The program ends here, and begins anew with the lease. */
const restored = (tenure: Tenure, { namespace }: Candidacy) =>
  Effect.suspend(() => {
    tenure.lost = true;
    return reportRestored(`${leasesIn(namespace)}/${LEASE}`);
  });

/** Called when no part of the program is running any longer. */
const release = Effect.fnUntraced(
  function* (tenure: Tenure, { namespace, identity }: Candidacy) {
    if (tenure.lost) return;
    const cluster = yield* Cluster;
    tenure.lost = true;
    const lease = tenure.lease ?? (yield* cluster.get(keyIn(namespace)));
    if (lease === undefined || holderOf(lease) !== identity) return;
    yield* cluster.send(
      replacement(`${leasesIn(namespace)}/${LEASE}`, released(lease, yield* Clock.currentTimeMillis)),
    );
    yield* Effect.logInfo("lease released");
  },
  Effect.timeout(Duration.millis(LEASE_RELEASE_MS)),
  // It expires on its own.
  Effect.catch(() => Effect.logWarning("lease not released")),
);

const tellFailure = ({ _tag, verb, status, reason, detail }: ClusterError) =>
  // Another replica was faster: nothing is wrong.
  _tag === "Conflict" ? Effect.void : Effect.logWarning("lease call failed").pipe(
    Effect.annotateLogs({ verb, status: status ?? 0, reason, detail }),
  );
