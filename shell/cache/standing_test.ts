import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../../core/data/json.ts";
import { countedBy, readStanding, standingOf } from "./standing.ts";

const resource = (status: JsonObject, spec: JsonObject = {}): JsonObject => ({
  metadata: { generation: 2 },
  spec,
  status,
});
const stalled = (reason: string) => [{ type: "Stalled", status: "True", reason }];

for (
  const [what, object, phase, stalledBy, isObserved] of [
    ["a new resource", resource({ observedGeneration: -1 }), "Pending", "", false],
    ["a ready one", resource({ observedGeneration: 2, phase: "Ready" }), "Ready", "", true],
    ["an edited one", resource({ observedGeneration: 1, phase: "Ready" }), "Ready", "", false],
    [
      "a failed edit of a running server",
      resource({ observedGeneration: 2, phase: "Ready", conditions: stalled("SecretNotFound") }),
      "Ready",
      "SecretNotFound",
      true,
    ],
    [
      "one that was suspended before it was deployed",
      resource({ observedGeneration: 2, phase: "Pending" }, { suspend: true }),
      "Suspended",
      "",
      true,
    ],
    [
      "a suspended one whose pods fail",
      resource({ observedGeneration: 2, phase: "Initializing" }, { suspend: true }),
      "Initializing",
      "",
      true,
    ],
    [
      "a status that somebody else wrote",
      resource({ observedGeneration: 2, phase: "Ready", conditions: stalled('made up" x') }),
      "Ready",
      "Other",
      true,
    ],
  ] as const
) {
  Deno.test(`standingOf() tells phase, reason and whether the last edit was reconciled of ${what}`, () => {
    deepStrictEqual(readStanding(standingOf(object)), { phase, stalledBy, isObserved });
  });
}

Deno.test("countedBy() adds up what has the same value, and leaves out what has none", () => {
  const standings = new Map([["Ready  true", 2], ["Ready CrashLoop true", 1], ["Failed CrashLoop false", 4]]);
  deepStrictEqual(countedBy(standings, ({ phase }) => phase), new Map([["Ready", 3], ["Failed", 4]]));
  deepStrictEqual(countedBy(standings, ({ stalledBy }) => stalledBy || undefined), new Map([["CrashLoop", 5]]));
});
