/** Events, each reported once: failures, changes, rollbacks and stopped upgrades. */
import { FAILURE_EVENTS_MAX, KNOWN_BY_CHARACTERS } from "../data/limits.ts";
import { statusOf } from "../api/status_of.ts";
import type { Reason } from "../api/reasons.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import { wordsFor } from "../api/convert/v1alpha1_paths.ts";
import { rowOf } from "./failure_table.ts";
import { type JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import * as events from "../api/events.ts";
import { whyUndone } from "./trouble.ts";
import { contestsNow, contestText } from "../plan/contest.ts";
import { isOrphan } from "../plan/ownership.ts";
import type { Prepared } from "../plan/prepare.ts";
import { type Announcement, Step } from "../plan/step.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";

/**
 * Each failure is reported once: when it appears in the message of a condition that was stored. A failure that no condition can
 * contain is not reported, because it would be repeated in every reconciliation.
 */
export const announcements = (
  snapshot: ClusterSnapshot,
  failures: ReadonlyArray<ReconcileFailure>,
  status: Status,
): ReadonlyArray<Announcement> => {
  const textOf = ({ conditions = [] }: Status) => conditions.map(({ message }) => message).join("\n");
  const [before, now] = [textOf(statusOf(snapshot.resource)), textOf(status)];
  const words = wordsFor(snapshot.resource);
  const isNews = ({ message }: ReconcileFailure) => {
    const start = words(message).slice(0, KNOWN_BY_CHARACTERS);
    return now.includes(start) && !before.includes(start);
  };
  return failures.filter(isNews).slice(0, FAILURE_EVENTS_MAX).flatMap((failure) => {
    const { event } = rowOf(failure);
    return event === undefined ? [] : [Step.Announce({ note: event(words(failure.message)) })];
  });
};

/** Objects of the operator that had no owner, as after a restore from a backup without owner references. */
export const adoptionAnnouncements = (
  before: ClusterSnapshot,
  done: ClusterSnapshot,
  manifests: ReadonlyArray<Manifest>,
): ReadonlyArray<Announcement> => {
  const isAdopted = (live: JsonObject | undefined, now: JsonObject | undefined): boolean =>
    live !== undefined && isOrphan(live) && now !== undefined && !isOrphan(now);
  const adopted = manifests.filter(({ kind, metadata }) => {
    const key = liveKey(kind, metadata.name);
    return kind !== "PersistentVolumeClaim" && isAdopted(before.live.get(key), done.live.get(key));
  });
  return adopted.length === 0 ? [] : [
    Step.Announce({ note: events.adopted(adopted.map(({ kind, metadata }) => `${kind} ${metadata.name}`)) }),
  ];
};

export const changeAnnouncements = (
  snapshot: ClusterSnapshot,
  { derived, blueprint, resource }: Prepared,
  rolled: boolean,
  notices: ReadonlyArray<string>,
): ReadonlyArray<Announcement> => {
  if (!rolled) return [];
  const name = blueprint.configFile?.configMapName;
  const isNew = statusOf(snapshot.resource).configGeneration?.configMapName !== name;
  const generated = derived._tag === "Generated" && name !== undefined && isNew
    ? { providers: derived.config.providerCount, models: resource.spec.resources?.models?.length ?? 0 }
    : undefined;
  return [
    // One Event for both: each is a write for every new resource.
    Step.Announce({ note: events.deploymentUpdated(blueprint.image, name, generated) }),
    ...notices.map((notice) => Step.Announce({ note: events.storedData(notice) })),
  ];
};

/** Reported when the condition gets this reason, and not again. */
export const updateAnnouncements = (
  snapshot: ClusterSnapshot,
  status: Status,
  reason: Reason,
  event: (sentence: string) => events.Note,
): ReadonlyArray<Announcement> => {
  const found = ({ conditions = [] }: Status) =>
    conditions.find((condition) => condition.type === "DeploymentUpdated" && condition.reason === reason);
  const now = found(status);
  return now === undefined || found(statusOf(snapshot.resource)) !== undefined
    ? []
    : [Step.Announce({ note: event(now.message) })];
};

/** Reported when a provider fails, and again when it fails for another reason. */
export const externalAnnouncements = (snapshot: ClusterSnapshot, status: Status): ReadonlyArray<Announcement> => {
  const before = statusOf(snapshot.resource).externalProviders ?? [];
  const isKnown = ({ providerId, message }: typeof before[number]) =>
    before.some((state) => state.providerId === providerId && state.phase === "Failed" && state.message === message);
  const news = (status.externalProviders ?? []).filter((state) => state.phase === "Failed" && !isKnown(state));
  return [...new Set(news.map(({ message }) => message ?? ""))].slice(0, FAILURE_EVENTS_MAX)
    .map((message) => Step.Announce({ note: events.externalProviderFailed(message) }));
};

/** Reported when the first delay for a field begins. */
export const contestAnnouncements = (snapshot: ClusterSnapshot): ReadonlyArray<Announcement> => {
  const news = contestsNow(snapshot).filter(({ isNew }) => isNew).map(contestText);
  return news.length === 0 ? [] : [Step.Announce({ note: events.contested(news) })];
};

/** The failed pods are about to be removed, so their messages are reported now. */
export const rollbackAnnouncements = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
): ReadonlyArray<Announcement> => [
  Step.Announce({ note: events.rolledBack(whyUndone(deploymentIn(snapshot), snapshot, prepared)) }),
];
