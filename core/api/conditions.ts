/** metav1.Condition, one by type; the transition time moves only when the status flips. */
import type { Condition } from "./v1alpha2.ts";

/** Longest message of a condition, in characters; the schema of metav1.Condition allows 32768. */
const MESSAGE_CHARACTERS_MAX = 4096;

/** Every type of condition that this operator writes. */
const CONDITION_TYPES = [
  "Ready",
  "ConfigGenerated",
  "SecretsResolved",
  "DeploymentUpdated",
  "Available",
  "DeploymentReady",
  "ServiceReady",
  "StorageReady",
  "HealthCheck",
  "Reconciling",
  "Stalled",
  "ObjectRefused",
  "TemplateHeld",
  "Contested",
  "ChangedByPolicy",
] as const;
export type ConditionType = typeof CONDITION_TYPES[number];

const OWN_TYPES: ReadonlySet<string> = new Set(CONDITION_TYPES);

/** The content of a condition, before the time of its last change is known. */
export interface Finding {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  /** A CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The new list in the order of `findings`. The operator's own types that are no longer found are removed: abnormal ones
 * such as Stalled disappear when they are over. Conditions of others are kept, after the operator's.
 */
export const conditionsOf = (
  findings: ReadonlyArray<Finding>,
  before: ReadonlyArray<Condition>,
  observedGeneration: number,
  now: string,
): ReadonlyArray<Condition> => [
  ...findings.map(({ type, status, reason, message }) => {
    const old = before.find((condition) => condition.type === type);
    return {
      type,
      status,
      observedGeneration,
      lastTransitionTime: old !== undefined && old.status === status ? old.lastTransitionTime : now,
      reason,
      message: message.length <= MESSAGE_CHARACTERS_MAX ? message : `${message.slice(0, MESSAGE_CHARACTERS_MAX - 1)}…`,
    };
  }),
  ...before.filter(({ type }) => !OWN_TYPES.has(type) && !findings.some((finding) => finding.type === type)),
];

export const conditionTrue = (type: ConditionType, reason: string, message: string): Finding => ({
  type,
  status: "True",
  reason,
  message,
});
export const conditionFalse = (type: ConditionType, reason: string, message: string): Finding => ({
  type,
  status: "False",
  reason,
  message,
});
export const conditionUnknown = (type: ConditionType, reason: string, message: string): Finding => ({
  type,
  status: "Unknown",
  reason,
  message,
});
