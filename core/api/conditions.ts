/** metav1.Condition, one by type; the transition time moves only when the status flips. */
import { CONDITION_CHARACTERS_MAX } from "../data/limits.ts";
import type { Condition } from "./v1alpha2.ts";
import type { Reason } from "./reasons.ts";

/** Every type of condition that this operator writes, with the status that needs attention. */
const CONDITION_TYPES = {
  Ready: "False",
  ConfigGenerated: "False",
  SecretsResolved: "False",
  DeploymentUpdated: "False",
  Available: "False",
  DeploymentReady: "False",
  ServiceReady: "False",
  StorageReady: "False",
  ExternalProvidersReady: "False",
  HealthCheck: "False",
  MetricsAvailable: "False",
  GatewayAccepted: "False",
  Reconciling: "True",
  Stalled: "True",
  ObjectRefused: "True",
  TemplateHeld: "True",
  Contested: "True",
  ChangedByPolicy: "True",
} as const;
export type ConditionType = keyof typeof CONDITION_TYPES;

const isOwnType = (type: string): type is ConditionType => Object.hasOwn(CONDITION_TYPES, type);

/** Whether the condition is one of the operator's and reports something that needs attention. */
export const needsAttention = ({ type, status }: Pick<Condition, "type" | "status">): boolean =>
  isOwnType(type) && CONDITION_TYPES[type] === status;

/** The content of a condition, before the time of its last change is known. */
export interface Finding {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
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
      message: message.length <= CONDITION_CHARACTERS_MAX
        ? message
        : `${message.slice(0, CONDITION_CHARACTERS_MAX - 1)}…`,
    };
  }),
  ...before.filter(({ type }) => !isOwnType(type) && !findings.some((finding) => finding.type === type)),
];

export const conditionTrue = (type: ConditionType, reason: Reason, message: string): Finding => ({
  type,
  status: "True",
  reason,
  message,
});
export const conditionFalse = (type: ConditionType, reason: Reason, message: string): Finding => ({
  type,
  status: "False",
  reason,
  message,
});
export const conditionUnknown = (type: ConditionType, reason: Reason, message: string): Finding => ({
  type,
  status: "Unknown",
  reason,
  message,
});
