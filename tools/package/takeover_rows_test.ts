import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { takeOverOf } from "../../core/command/takeover_check.ts";
import { type GoCluster, goSnapshots } from "../../tests/go_operator_objects.ts";
import { planned } from "../../tests/snapshots.ts";
import { TAKE_OVER_ROWS } from "./takeover_rows.ts";

const CLUSTERS: ReadonlyArray<GoCluster> = [
  { networkPolicies: false },
  { networkPolicies: true },
  { networkPolicies: true, openshift: true },
];

/** `when: what`, as the rows recognize them. */
const differences = (): ReadonlyArray<string> => {
  const found = CLUSTERS.flatMap((cluster) =>
    [...goSnapshots(cluster)].flatMap(([label, snapshot]) => {
      const { now, later, remarks } = takeOverOf({ label, planned: Result.succeed(planned(snapshot)) });
      return [
        ...now.flatMap(({ action, kind, changes }) =>
          action === "change"
            ? changes.map(({ path }) => `at once: ${kind} ${path}`)
            : [`at once: ${kind} ${{ create: "created", delete: "deleted", scale: "scaled" }[action]}`]
        ),
        ...later.map(({ path }) => `next edit: Deployment ${path}`),
        ...remarks.flatMap((text) =>
          text.startsWith("no NetworkPolicy")
            ? ["next edit of spec.network: NetworkPolicy awaited"]
            : text.startsWith("NetworkPolicy keeps")
            ? ["next edit of spec.network: NetworkPolicy peers kept"]
            : []
        ),
      ];
    })
  );
  return [...new Set(found)].sort();
};

Deno.test("each difference between recorded objects of the Go operator and those of this one has a row on the page, and each row a difference", () => {
  const found = differences();
  const rowsOf = (difference: string) =>
    TAKE_OVER_ROWS.filter(({ when, is }) =>
      difference.startsWith(`${when}: `) && is.test(difference.slice(when.length + 2))
    );
  deepStrictEqual(found.filter((difference) => rowsOf(difference).length !== 1), []);
  const used = new Set(found.flatMap(rowsOf));
  deepStrictEqual(TAKE_OVER_ROWS.filter((row) => !used.has(row)).map(({ go }) => go), []);
});

Deno.test("no recorded resource of the Go operator would restart or be cut off", () => {
  for (const cluster of CLUSTERS) {
    for (const [label, snapshot] of goSnapshots(cluster)) {
      deepStrictEqual(takeOverOf({ label, planned: Result.succeed(planned(snapshot)) }).causes, [], label);
    }
  }
});
