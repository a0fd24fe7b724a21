/** The report of a decision after its writes: Events and the status. Nothing else is written here. */
import * as events from "../api/events.ts";
import { statusOf } from "../api/status_of.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { Unwritten } from "../failure/failures.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import type { JsonObject } from "../data/json.ts";
import { LOOK_AGAIN_MS } from "../data/limits.ts";
import { allOf } from "../resources/objects.ts";
import type { Decided } from "./decided.ts";
import { summarise } from "./summarise.ts";
import {
  adoptionAnnouncements,
  announcements,
  changeAnnouncements,
  contestAnnouncements,
  externalAnnouncements,
  rollbackAnnouncements,
  updateAnnouncements,
} from "./announcements.ts";
import { contestsNow, nextContestMs } from "../plan/contest.ts";
import { changedFields } from "../plan/field_owners.ts";
import type { Decision, RolloutDecision } from "../plan/decision.ts";
import { wantedObjects } from "../plan/wanted_objects.ts";
import { statusSteps } from "./status_step.ts";
import type { Announcement, StatusUpdate } from "../plan/step.ts";
import { unwatchedMs } from "../plan/unwatched.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

/** What became of the steps of a decision. */
export interface Outcomes {
  /** Objects by `Kind/name`, with what the API server answered to the writes. */
  readonly live: ReadonlyMap<string, JsonObject>;
  readonly rejectedWrites: ReadonlyArray<Unwritten>;
}

export interface Report {
  readonly steps: ReadonlyArray<Announcement | StatusUpdate>;
  /** Reconcile again after this many milliseconds, even without a change; undefined: wait for a change. */
  readonly lookAgainMs: number | undefined;
  /** The failures, for log and metrics. */
  readonly failures: ReadonlyArray<ReconcileFailure>;
}

export const report = (snapshot: ClusterSnapshot, decision: Decision, { live, rejectedWrites }: Outcomes): Report => {
  const done = { ...snapshot, live };
  switch (decision.kind) {
    case "nothing": {
      // Everything else stays as it was: the objects are still there.
      const before = statusOf(snapshot.resource);
      return {
        steps: statusSteps(snapshot, { ...before, phase: "Terminating" }),
        lookAgainMs: undefined,
        failures: [],
      };
    }
    case "suspended":
      return {
        steps: statusSteps(snapshot, summarise(done, { ...UNKNOWN, suspended: true })),
        lookAgainMs: undefined,
        failures: [],
      };
    case "preserved": {
      const failures = [...decision.failures, ...rejectedWrites];
      const { warnings, prepared } = decision;
      const status = summarise(done, { ...UNKNOWN, failures, warnings, prepared });
      return {
        steps: statusSteps(snapshot, status, [
          ...externalAnnouncements(snapshot, status),
          ...updateAnnouncements(snapshot, status, "NotAdopted", events.takeOverRefused),
          ...announcements(snapshot, failures, status),
        ]),
        lookAgainMs: soonest([nextContestMs(snapshot), unwatchedMs(done)]),
        failures,
      };
    }
    case "rollout":
      return ofRollout(snapshot, done, decision, rejectedWrites);
  }
};

const UNKNOWN: Decided = { prepared: undefined, failures: [], warnings: [], rollout: undefined, suspended: false };

const ofRollout = (
  before: ClusterSnapshot,
  done: ClusterSnapshot,
  { prepared, rollout, conflicts, notices, replacesPods }: RolloutDecision,
  rejectedWrites: ReadonlyArray<Unwritten>,
): Report => {
  const { objects, warnings } = prepared;
  const failures = [...conflicts, ...rejectedWrites];
  const isWritten = rejectedWrites.every(({ _tag }) => _tag === "DeletionRefused");
  // After a rollback the reason can no longer be observed.
  const seen = rollout.kind === "rollBack" ? before : done;
  const status = summarise(seen, {
    prepared,
    failures,
    warnings,
    rollout,
    suspended: false,
    contested: contestsNow(before),
    byPolicy: wantedObjects(seen, prepared, rollout).flatMap(({ manifest, live }) =>
      changedFields(manifest, live).byPolicy.map((field) => `${manifest.kind} ${manifest.metadata.name}: ${field}`)
    ),
  });
  return {
    steps: [
      // What was done is not done again, whether or not the status can be written.
      ...(rollout.kind === "rollBack" && isWritten ? rollbackAnnouncements(before, prepared) : []),
      ...contestAnnouncements(before),
      ...(rollout.kind === "apply" ? changeAnnouncements(before, prepared, replacesPods && isWritten, notices) : []),
      ...adoptionAnnouncements(before, done, allOf(objects)),
      ...statusSteps(before, status, [
        ...updateAnnouncements(before, status, "UpgradeFailed", events.upgradeStopped),
        ...externalAnnouncements(before, status),
        ...announcements(before, failures, status),
      ]),
    ],
    lookAgainMs: nextLookMs(done, status),
    failures,
  };
};

/** The shortest of these delays; undefined: watches report everything. */
const nextLookMs = (snapshot: ClusterSnapshot, { conditions = [] }: Status): number | undefined => {
  const isUnavailable = conditions.some(({ type, status }) => type === "Available" && status !== "True");
  return soonest([nextContestMs(snapshot), unwatchedMs(snapshot), isUnavailable ? LOOK_AGAIN_MS : undefined]);
};

const soonest = (pauses: ReadonlyArray<number | undefined>): number | undefined =>
  pauses.reduce((least, pause) => pause === undefined ? least : Math.min(least ?? pause, pause), undefined);
