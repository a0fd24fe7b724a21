/** docs/conditions.md: every reason of a failed reconciliation, made from the table of failures. */
import { FAILURES, type Row } from "../core/failure/table.ts";

/** A placeholder for the failures in the texts of the page. */
const SAMPLE = {
  _tag: "",
  path: [],
  message: "",
  kind: "object",
  name: "NAME",
  namespace: "NAMESPACE",
  key: "KEY",
  blocks: true,
};
const RESOURCE = { metadata: { name: "NAME", namespace: "NAMESPACE" } };

export const conditionsPage = (): string => {
  const rows = Object.values(FAILURES).flatMap((row) => rowsOf(row as unknown as Row<typeof SAMPLE>));
  return [
    "# Conditions of a failed reconciliation",
    "",
    "Every failure has a reason. It is the `reason` of the condition that reports it and of `Ready`, the label of the metric",
    "`llama_stack_operator_failures_total`, and part of `lint -o json`. While a resource has errors, its Deployment and config",
    "are unchanged. To see the same advice for your resource, with commands, run `llama-stack-operator explain NAME`.",
    "",
    "| reason | condition | what went wrong | who can fix it | retried | what to do |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.toSorted().map((row) => `| ${row.join(" | ")} |`),
    "",
  ].join("\n");
};

/** A row for each reason: whether a failure blocks the Deployment may decide which it is. */
const rowsOf = (row: Row<typeof SAMPLE>): ReadonlyArray<ReadonlyArray<string>> => {
  const { reason } = row;
  if (typeof reason === "string") return [cells(reason, row)];
  return [...new Set([true, false].map((blocks) => reason({ ...SAMPLE, blocks })))].map((each) => cells(each, row));
};

const cells = (
  reason: string,
  { condition, meaning, owner, retry, advice }: Row<typeof SAMPLE>,
): ReadonlyArray<string> => [
  `\`${reason}\``,
  typeof condition === "string" ? `\`${condition}\`` : "depends on the object",
  meaning,
  owner === "author" ? "author of the resource" : "administrator",
  retry === "after a change" ? "when the resource or a referenced object changes" : "automatically, with backoff",
  advice(SAMPLE, RESOURCE).action,
];
