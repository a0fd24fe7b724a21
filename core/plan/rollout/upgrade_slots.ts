/**
 * Upgrade slots: which resources are being upgraded because the operator's images or base configs changed, and whom a failed
 * upgrade stops. A failed upgrade stops the others in its namespace; failures in most of the namespaces that were upgraded, if these
 * are several, stop it everywhere.
 */
import type { Redacted } from "effect/Redacted";
import { type JsonObject } from "../../data/json.ts";
import { CLOCK_SKEW_MS_MAX, UPGRADE_SLOT_MS_MAX, UPGRADE_STOPS_AT_NAMESPACES } from "../../data/limits.ts";
import { namespaceOf } from "../../snapshot/object_key.ts";
import type { RollingUpgrade } from "../../snapshot/rolling_upgrade.ts";
import { isProven, upgradeProof } from "./keyed_digests.ts";
import type { RolloutRecord } from "../../snapshot/record.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import { rolloutState, type Seen } from "./rollout_state.ts";
import { liveResource } from "../../snapshot/live_resource.ts";
import { liveObject, resourceKey } from "../../snapshot/live_object.ts";

/** Whether the marks of the upgrade are the operator's. */
export const hasProof = (record: RolloutRecord, key: string, hmacKey: Redacted<string>): boolean =>
  isProven(hmacKey, record.upgradeProof, () => upgradeProof(hmacKey, key, record));

/**
 * Undefined for a resource that was not upgraded: rolled out by an edit, suspended, or without pods. Anyone who
 * may edit Deployments in one namespace must not block the upgrades of others, so only marks of the operator count.
 */
export const rollingUpgradeOf = (
  resource: JsonObject,
  deployment: LiveDeployment,
  seen: () => Seen,
  hmacKey: Redacted<string>,
): RollingUpgrade | undefined => {
  const { record } = deployment;
  if (record.cause !== "upgrade" || !hasProof(record, resourceKey(resource), hmacKey)) return undefined;
  const { isSuspended, distribution } = liveResource(resource);
  if (isSuspended || liveObject(resource).isGoing) return undefined;
  const state = rolloutState(deployment, seen());
  const isComplete = state === "complete" || state === "disrupted";
  return {
    key: resourceKey(resource),
    queue: distribution,
    pins: record.pins ?? "",
    state: record.rolledBack !== undefined || state === "failed" ? "failed" : isComplete ? "complete" : "rolling",
    slotEndsMs: slotEndsMs(deployment),
  };
};

/** The slot of an upgrade that is decided and not yet written. */
export const slotOf = (resource: JsonObject, pins: string, nowMs: number): RollingUpgrade => ({
  key: resourceKey(resource),
  queue: liveResource(resource).distribution,
  pins,
  state: "rolling",
  slotEndsMs: nowMs + UPGRADE_SLOT_MS_MAX,
});

/** A resource holds a slot for its own startup time, up to a bound. */
const slotEndsMs = ({ record, progressDeadlineSeconds }: LiveDeployment): number => {
  const startedMs = Date.parse(record.upgradeStarted ?? "");
  return (Number.isNaN(startedMs) ? 0 : startedMs) + Math.min(progressDeadlineSeconds * 1000, UPGRADE_SLOT_MS_MAX);
};

/** Upgrades that hold a slot now. Anybody can write annotations, so a start in the future is ignored. */
export const holdingSlots = (upgrades: ReadonlyArray<RollingUpgrade>, nowMs: number): ReadonlyArray<RollingUpgrade> =>
  upgrades.filter(({ state, slotEndsMs }) =>
    state === "rolling" && slotEndsMs > nowMs && slotEndsMs <= nowMs + UPGRADE_SLOT_MS_MAX + CLOCK_SKEW_MS_MAX
  );

/** An upgrade that waits for a slot. */
export interface Waiting {
  readonly namespace: string;
  readonly queue: string;
  readonly pins: string;
}

/**
 * The failed upgrade that stops this one: the first in its namespace, or the first of all if as many namespaces as the
 * bound have one and these are more than half of those that were upgraded. Who has three namespaces could otherwise stop the
 * upgrades of everybody. A failure with other pins does not count.
 */
export const stopperOf = (
  upgrades: ReadonlyArray<RollingUpgrade>,
  { namespace, queue, pins }: Waiting,
): RollingUpgrade | undefined => {
  const done = upgrades.filter((rollingUpgrade) =>
    rollingUpgrade.state !== "rolling" && rollingUpgrade.queue === queue && rollingUpgrade.pins === pins
  );
  const failed = done.filter(({ state }) => state === "failed");
  const namespacesOf = (list: ReadonlyArray<RollingUpgrade>) => new Set(list.map(({ key }) => namespaceOf(key))).size;
  const failedNamespaces = namespacesOf(failed);
  const stopsAll = failedNamespaces >= UPGRADE_STOPS_AT_NAMESPACES && failedNamespaces > namespacesOf(done) / 2;
  return failed.find((rollingUpgrade) => namespaceOf(rollingUpgrade.key) === namespace) ??
    (stopsAll ? failed[0] : undefined);
};
