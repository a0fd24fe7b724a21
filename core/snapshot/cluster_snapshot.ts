/** What was read of the cluster: everything that a decision about one resource depends on. */
import type { Redacted } from "effect/Redacted";
import type { JsonObject } from "../data/json.ts";
import type { ImageLabels } from "../config/servers/image_labels.ts";
import type { ConfigMaps } from "../config/config_map_content.ts";
import type { Contest, LastApplied } from "./contest.ts";
import type { LivePod } from "./live_pod.ts";
import type { LiveReplicaSet } from "./live_replica_set.ts";
import type { RollingUpgrade } from "./rolling_upgrade.ts";
import type { Manifest } from "../resources/blueprint.ts";
import type { Operator } from "./operator.ts";

export interface ClusterSnapshot {
  /** Milliseconds since 1970; the only clock that a decision has. */
  readonly nowMs: number;
  /** The LlamaStackDistribution as the API server gave it. */
  readonly resource: JsonObject;
  readonly operator: Operator;
  /** Referenced Secrets that exist, by name. */
  readonly secrets: ReadonlyMap<string, SecretValues>;
  /** Referenced ConfigMaps that exist, by `namespace/name`. */
  readonly configMaps: ConfigMaps;
  /** Referenced objects whose used content is beyond the bounds (limits.ts); they stand above with no content. */
  readonly tooLarge: ReadonlyArray<{ readonly kind: "Secret" | "ConfigMap"; readonly name: string }>;
  /** Names of the HorizontalPodAutoscalers that set the number of pods, where it is not for the operator to set. */
  readonly scalers?: ReadonlyArray<string>;
  /** Objects that carry one of our names, by `Kind/name`, whoever made them. */
  readonly live: ReadonlyMap<string, JsonObject>;
  /** Every generated ConfigMap of this resource, newest first. */
  readonly configs: ReadonlyArray<JsonObject>;
  /** Copies of CA bundles that are too large for the cache, without their content. */
  readonly largeBundles: ReadonlyArray<JsonObject>;
  /** ReplicaSets and Pods of the Deployment. */
  readonly replicaSets: ReadonlyArray<LiveReplicaSet>;
  readonly pods: ReadonlyArray<LivePod>;
  /** Pull Secrets that the resource names and that do not exist; looked up while an image cannot be pulled. */
  readonly missingPullSecrets?: ReadonlyArray<string>;
  /** Fields of the resource's objects that are repeatedly overwritten. */
  readonly contests?: ReadonlyArray<Contest>;
  readonly lastApplied?: LastApplied;
  /** Upgrades under way, failed and completed, of all resources; undefined where no slot can be taken, as by a command. */
  readonly rollingUpgrades: ReadonlyArray<RollingUpgrade> | undefined;
  /** What the server answered, when it was asked. */
  readonly server: ServerAnswers | undefined;
  /** What the labels of its image say; absent where they do not count. */
  readonly labels?: ImageLabels | undefined;
}

/** What the objects of a resource are made from; of what exists already, the server's image, and what is kept as it is. */
export type Sources = Pick<
  ClusterSnapshot,
  | "nowMs"
  | "resource"
  | "operator"
  | "secrets"
  | "configMaps"
  | "tooLarge"
  | "labels"
  | "scalers"
  | "live"
  | "pods"
  | "replicaSets"
>;

/** Decoded values by key. Redacted, so that whatever prints one prints `<redacted>`. */
export type SecretValues = Readonly<Record<string, Redacted<string>>>;

/** From the server's own API. */
export interface ServerAnswers {
  readonly version: string | undefined;
  readonly providers: ReadonlyArray<JsonObject>;
  readonly models: ReadonlyArray<string>;
}

export const liveKey = (kind: string, name: string): string => `${kind}/${name}`;

/** What there is where the manifest belongs. */
export const liveOf = (
  { live }: Pick<ClusterSnapshot, "live">,
  { kind, metadata }: Manifest,
): JsonObject | undefined => live.get(liveKey(kind, metadata.name));
