import { deepStrictEqual } from "node:assert/strict";
import { explainedBy, findingsOf } from "./kube_score.ts";

Deno.test("findingsOf() returns the comments of checks that are neither good nor skipped", () => {
  const check = (grade: number, summary: string, skipped = false) => ({ grade, skipped, comments: [{ summary }] });
  const report = [{ checks: [check(1, "critical"), check(5, "warning"), check(10, "good"), check(1, "other", true)] }];
  deepStrictEqual(findingsOf(report), ["critical", "warning"]);
});

Deno.test("explainedBy() returns the first cells below the heading, up to the next heading", () => {
  const page = [
    ...["# A", "| x | y |", "| - | - |", "| 0 | 0 |", "", "## Findings of kube-score", "", "Words.", ""],
    ...["| finding | reason |", "| --- | --- |", "| no limit | wanted |", "| low | high |", "", "## Next", "| a | b |"],
  ].join("\n");
  deepStrictEqual(explainedBy(page), ["no limit", "low"]);
});
