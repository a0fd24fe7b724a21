/** Messages of conditions about fields that a policy or another controller changed. */
import { FIELDS_NAMED_MAX } from "../data/limits.ts";
import { liveCondition } from "../snapshot/live_condition.ts";
import { contestText } from "../plan/contest.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { conditionTrue, type Finding } from "../api/conditions.ts";
import type { Decided } from "./decided.ts";

/** Abnormal-true. */
export const contestedFindings = ({ contested = [] }: Decided): ReadonlyArray<Finding> =>
  contested.length === 0 ? [] : [
    conditionTrue(
      "Contested",
      "ChangedByOthers",
      `Repeatedly overwritten: ${shortList([...new Set(contested.map(contestText))])}. ` +
        "These fields are repaired with increasing delay; everything else is reconciled normally",
    ),
  ];

/** Not abnormal: the result of admission counts as desired. Values are omitted, because a policy may have set any. */
export const policyFindings = ({ byPolicy }: Decided, { resource }: ClusterSnapshot): ReadonlyArray<Finding> => {
  if (byPolicy === undefined) {
    const before = liveCondition(resource, "ChangedByPolicy");
    return before === undefined ? [] : [conditionTrue("ChangedByPolicy", "ChangedByAdmission", before.message ?? "")];
  }
  return byPolicy.length === 0 ? [] : [
    conditionTrue(
      "ChangedByPolicy",
      "ChangedByAdmission",
      `A mutating admission policy or webhook changes what this operator applies: ${shortList(byPolicy)}. ` +
        "The changed values are kept",
    ),
  ];
};

const shortList = (fields: ReadonlyArray<string>): string => {
  const more = fields.length - FIELDS_NAMED_MAX;
  return fields.slice(0, FIELDS_NAMED_MAX).join("; ") + (more > 0 ? `; and ${more} more` : "");
};
