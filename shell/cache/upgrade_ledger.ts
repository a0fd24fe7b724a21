/** Which resources hold an upgrade slot: counted from their Deployments, or just decided and not written yet. */
import type { Redacted } from "effect/Redacted";
import type { JsonObject } from "../../core/data/json.ts";
import { rollingUpgradeOf } from "../../core/plan/rollout/upgrade_slots.ts";
import { liveDeployment } from "../../core/snapshot/live_deployment.ts";
import { livePod } from "../../core/snapshot/live_pod.ts";
import { liveReplicaSet } from "../../core/snapshot/live_replica_set.ts";
import { namespaceOf } from "../../core/snapshot/object_key.ts";
import type { RollingUpgrade } from "../../core/snapshot/rolling_upgrade.ts";
import { all, type CachedResource } from "./cache_entry.ts";
import { unpacked } from "./packed.ts";

export interface UpgradeLedger {
  /** Those that hold a slot or failed, and of those that completed one for each namespace, queue and pins. */
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
  const complete = completedUpgrades();
  const taken = new Map<string, RollingUpgrade>();
  let version = 0;
  const forget = (key: string): boolean => [observed.delete(key), complete.delete(key)].includes(true);
  return {
    list: () => [
      ...observed.values(),
      ...[...taken.values()].filter(({ key }) => observed.get(key)?.state !== "rolling"),
      ...complete.ofEachNamespace(),
    ],
    version: () => version,
    has: (key) => observed.has(key),
    update: (key, { resource, pods, replicaSets }, deployment) => {
      const now = resource === undefined || deployment === undefined ? undefined : rollingUpgradeOf(
        unpacked(resource),
        liveDeployment(deployment),
        () => ({ pods: all(pods).map(livePod), replicaSets: all(replicaSets).map(liveReplicaSet) }),
        hmacKey,
      );
      const before = observed.get(key) ?? complete.get(key);
      if (now?.state === before?.state && now?.pins === before?.pins && now?.queue === before?.queue) return;
      forget(key);
      if (now?.state === "complete") complete.put(now);
      else if (now !== undefined) observed.set(key, now);
      version++;
    },
    forget: (key) => {
      if (forget(key)) version++;
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

/** As many as there are servers; a decision looks at one for each namespace, queue and pins. */
const completedUpgrades = () => {
  const known = new Map<string, RollingUpgrade>();
  const places = new Map<string, Set<RollingUpgrade>>();
  const placeOf = ({ key, queue, pins }: RollingUpgrade): string => JSON.stringify([namespaceOf(key), queue, pins]);
  return {
    get: (key: string) => known.get(key),
    put: (upgrade: RollingUpgrade): void => {
      known.set(upgrade.key, upgrade);
      const place = placeOf(upgrade);
      places.set(place, (places.get(place) ?? new Set()).add(upgrade));
    },
    delete: (key: string): boolean => {
      const before = known.get(key);
      if (before === undefined) return false;
      known.delete(key);
      const place = placeOf(before);
      places.get(place)?.delete(before);
      if (places.get(place)?.size === 0) places.delete(place);
      return true;
    },
    ofEachNamespace: () => [...places.values()].flatMap((upgrades) => upgrades.values().next().value ?? []),
  };
};
