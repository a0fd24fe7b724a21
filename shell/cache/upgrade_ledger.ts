/** Which resources hold an upgrade slot: counted from their Deployments, or just decided and not written yet. */
import type { Redacted } from "effect/Redacted";
import type { JsonObject } from "../../core/data/json.ts";
import { rollingUpgradeOf } from "../../core/plan/rollout/upgrade_slots.ts";
import type { RollingUpgrade } from "../../core/snapshot/rolling_upgrade.ts";
import { all, type CachedResource } from "./cache_entry.ts";
import { unpacked } from "./packed.ts";

export interface UpgradeLedger {
  readonly list: () => ReadonlyArray<RollingUpgrade>;
  /** Grows with every change of the list. */
  readonly version: () => number;
  /** Whether the Deployment of this resource is being upgraded, or failed to be. */
  readonly has: (key: string) => boolean;
  /** Updated with each change, because iterating over every resource for every decision would not scale. */
  readonly update: (key: string, record: CachedResource, deployment: JsonObject | undefined) => void;
  readonly forget: (key: string) => void;
  /** Takes a slot for a decision, until `release`: by then its Deployment was written, or the write failed. */
  readonly take: (key: string, slot: RollingUpgrade) => void;
  readonly release: (key: string) => void;
}

export const upgradeLedger = (hmacKey: Redacted<string>): UpgradeLedger => {
  const observed = new Map<string, RollingUpgrade>();
  const taken = new Map<string, RollingUpgrade>();
  let version = 0;
  return {
    list: () => [
      ...observed.values(),
      ...[...taken.values()].filter(({ key }) => observed.get(key)?.state !== "rolling"),
    ],
    version: () => version,
    has: (key) => observed.has(key),
    update: (key, { resource, pods, replicaSets }, deployment) => {
      const now = resource === undefined || deployment === undefined
        ? undefined
        : rollingUpgradeOf(unpacked(resource), deployment, all(pods), all(replicaSets), hmacKey);
      const before = observed.get(key);
      if (now?.state === before?.state && now?.pins === before?.pins && now?.queue === before?.queue) return;
      if (now === undefined) observed.delete(key);
      else observed.set(key, now);
      version++;
    },
    forget: (key) => {
      if (observed.delete(key)) version++;
    },
    take: (key, slot) => {
      taken.set(key, slot);
      version++;
    },
    release: (key) => {
      if (taken.delete(key)) version++;
    },
  };
};
