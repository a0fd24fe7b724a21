/** What a decision needs to know of the operator itself. */
import type { Redacted } from "effect/Redacted";
import type { Surroundings } from "../config/derive.ts";
import type { OptionalKind, Platform } from "../resources/blueprint.ts";
import type { Settings } from "../operator/settings.ts";

/** The operator itself: its version, the distributions it ships, its settings. */
export interface Operator {
  readonly version: string;
  readonly surroundings: Surroundings;
  readonly platform: Platform;
  /** Key of the HMAC over Secret values; a secret of the operator. */
  readonly hmacKey: Redacted<string>;
  /** Whether servers trust the CA bundle of their namespace without naming it. */
  readonly namespaceCaBundle: "Use" | "Ignore";
  /** Whether a template changed only by the operator is rolled out automatically. */
  readonly rolloutOnUpgrade: "Held" | "Paced";
  /** Maximum number of concurrent upgrades. */
  readonly upgradeParallelism: number;
}

/** What the settings say about the config of every resource; `related`: images of the installation. */
export const surroundingsIn = (
  { imageOverrides, allow, imageLabels, registries }: Settings,
  related: ReadonlyMap<string, string>,
) => ({ overrides: { settings: imageOverrides, related }, allow, imageLabels, registries });

/** What they say about the cluster. */
export const platformIn = (
  { networkPolicies, gatewayParentRefs, ingressNamespaceLabels, monitoringNamespaceLabels }: Settings,
) => ({ networkPolicies, gatewayParentRefs, ingressNamespaceLabels, monitoringNamespaceLabels });

/** The operator with these settings, on an API server that serves these optional kinds. */
export const operatorWith = (
  facts: Operator,
  settings: Settings,
  served: ReadonlyArray<OptionalKind>,
): Operator => ({
  ...facts,
  surroundings: { ...facts.surroundings, ...surroundingsIn(settings, facts.surroundings.overrides.related) },
  platform: { ...facts.platform, served, ...platformIn(settings) },
  rolloutOnUpgrade: settings.rolloutOnUpgrade,
  upgradeParallelism: settings.upgradeParallelism,
  namespaceCaBundle: settings.namespaceCaBundle,
});
