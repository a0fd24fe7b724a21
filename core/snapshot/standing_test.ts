import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { countedBy, readStanding, type Standing, standingOf, unreadySince } from "./standing.ts";

const CREATED = "2026-01-01T00:00:00Z";
const CHANGED = "2026-01-02T00:00:00Z";

const resource = (status: JsonObject, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  metadata: { generation: 2, creationTimestamp: CREATED, ...metadata },
  spec,
  status,
});
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  lastTransitionTime: CHANGED,
});
const seen = (phase: string, ...conditions: ReadonlyArray<JsonObject>): JsonObject => ({
  observedGeneration: 2,
  phase,
  conditions,
});

const READY: Standing = {
  phase: "Ready",
  stalledBy: "",
  isObserved: true,
  unreadyBy: "",
  unreadySinceMs: 0,
  abnormal: [],
};
const unready = (reason: string, since = CHANGED) => ({ unreadyBy: reason, unreadySinceMs: Date.parse(since) });

for (
  const [what, object, expected] of [
    [
      "a new resource",
      resource({ observedGeneration: -1 }),
      { phase: "Pending", isObserved: false, ...unready("Unobserved", CREATED) },
    ],
    ["a ready one", resource(seen("Ready", condition("Ready", "True", "Ready"))), {}],
    [
      "an edited one",
      resource({ ...seen("Ready", condition("Ready", "True", "Ready")), observedGeneration: 1 }),
      { isObserved: false },
    ],
    [
      "a failed edit of a running server",
      resource(
        seen("Ready", condition("Ready", "False", "SecretNotFound"), condition("Stalled", "True", "SecretNotFound")),
      ),
      { stalledBy: "SecretNotFound" },
    ],
    [
      "a rollout that does not end while former pods serve",
      resource(seen("Ready", condition("Ready", "False", "CrashLoop"))),
      unready("CrashLoop"),
    ],
    [
      "one that was suspended before it was deployed",
      resource(seen("Pending", condition("Ready", "False", "Suspended")), { suspend: true }),
      { phase: "Suspended" },
    ],
    [
      "a suspended one whose pods fail",
      resource(seen("Initializing", condition("Ready", "False", "Suspended")), { suspend: true }),
      { phase: "Initializing", ...unready("Suspended") },
    ],
    [
      "one that is not deleted completely",
      resource(seen("Terminating", condition("Ready", "True", "Ready")), {}, { deletionTimestamp: CHANGED }),
      { phase: "Terminating", ...unready("Terminating") },
    ],
    [
      "a server whose Ingress is refused and whose Service is contested",
      resource(
        seen(
          "Ready",
          condition("Ready", "True", "Ready"),
          condition("ObjectRefused", "True", "ObjectRefused"),
          condition("Contested", "True", "ChangedByOthers"),
        ),
      ),
      { abnormal: ["ObjectRefused", "Contested"] },
    ],
    [
      "a status that somebody else wrote",
      resource(seen("Ready", condition("Stalled", "True", 'made up" x'))),
      { stalledBy: "Other" },
    ],
  ] as const
) {
  Deno.test(`standingOf() tells how this stands: ${what}`, () => {
    deepStrictEqual(readStanding(standingOf(object)), { ...READY, ...expected });
  });
}

Deno.test("countedBy() adds up what has the same value, and leaves out what has none", () => {
  const standings = new Map([["Ready  true  0 ", 2], ["Ready CrashLoop true  0 ", 1], [
    "Failed CrashLoop false  0 ",
    4,
  ]]);
  deepStrictEqual(countedBy(standings, ({ phase }) => phase), new Map([["Ready", 3], ["Failed", 4]]));
  deepStrictEqual(countedBy(standings, ({ stalledBy }) => stalledBy), new Map([["CrashLoop", 5]]));
});

Deno.test("unreadySince() is the earliest time of each reason", () => {
  const standings = new Map([
    ["Ready  true  0 ", 2],
    ["Ready  true CrashLoop 2000 ", 1],
    ["Initializing  true CrashLoop 1000 ", 1],
    ["Initializing  true RolloutInProgress 3000 ", 1],
  ]);
  deepStrictEqual(unreadySince(standings), new Map([["CrashLoop", 1000], ["RolloutInProgress", 3000]]));
});
