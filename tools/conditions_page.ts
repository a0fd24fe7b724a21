/** docs/conditions.md: every reason of a failed reconciliation, generated from the table of failures. */
import { FAILURES, type Row } from "../core/report/failure_table.ts";
import { ACCEPT_FAMILY_CHANGE_ANNOTATION } from "../core/plan/stored_data/stored_data.ts";

/** Placeholders in place of the values of a failure. */
const SAMPLE = {
  _tag: "",
  path: [],
  message: "",
  kind: "object",
  name: "NAME",
  namespace: "NAMESPACE",
  key: "KEY",
  blocks: true,
  setting: "`allow.…`",
  accept: `\`${ACCEPT_FAMILY_CHANGE_ANNOTATION}: "FAMILY"\``,
};
const RESOURCE = { metadata: { name: "NAME", namespace: "NAMESPACE" } };

export const conditionsPage = (): string => {
  const rows = Object.values(FAILURES).flatMap((row) => rowsOf(row as unknown as Row<typeof SAMPLE>));
  return [
    "# Conditions of a failed reconciliation",
    "",
    "What each reason means, who can fix it, and how. A reason appears in the condition that",
    "reports the failure, in `Ready`, in the label of the metric `llama_stack_operator_failures_total`, and in `lint -o json`.",
    "The message of the condition names the field or object. While a resource has errors, its Deployment and config are",
    "unchanged. To see the advice for your resource, with commands, run `llama-stack-operator explain NAME -n NAMESPACE`.",
    "",
    "Other reasons, such as `UpgradeFailed`, `RolledBack` and `CrashLoop`, are in the [runbook](runbook.md#reasons-of-conditions).",
    "",
    "| reason | condition | what went wrong | who can fix it | retried | what to do |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.toSorted().map((row) => `| ${row.join(" | ")} |`),
    "",
  ].join("\n");
};

/** A row for each reason, which may depend on whether the Deployment needs the object. */
const rowsOf = (row: Row<typeof SAMPLE>): ReadonlyArray<ReadonlyArray<string>> => {
  const { reason } = row;
  if (typeof reason === "string") return [cells(reason, "", row, [true, false])];
  return [true, false].map((blocks) =>
    cells(
      reason({ ...SAMPLE, blocks }),
      blocks
        ? "; the Deployment needs this object, so it is not updated either"
        : "; the server runs without this object",
      row,
      [blocks],
    )
  );
};

const cells = (
  reason: string,
  detail: string,
  row: Row<typeof SAMPLE>,
  blocks: ReadonlyArray<boolean>,
): ReadonlyArray<string> => [
  `\`${reason}\``,
  conditionsOf(row, blocks),
  `${row.meaning}${detail}`,
  row.owner === "author" ? "author of the resource" : "administrator",
  row.retry === "after a change"
    ? "when the resource, a referenced object or a setting of the operator changes"
    : "automatically, with backoff",
  row.advice(SAMPLE, RESOURCE).action,
];

const KINDS = ["Deployment", "Service", "PersistentVolumeClaim"];

const conditionsOf = ({ condition }: Row<typeof SAMPLE>, blocks: ReadonlyArray<boolean>): string => {
  if (typeof condition === "string") return `\`${condition}\``;
  const all = KINDS.flatMap((kind) => blocks.map((each) => condition({ ...SAMPLE, kind, blocks: each })));
  return [...new Set(all)].map((type) => `\`${type}\``).join(" or ");
};
