import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Logger from "effect/Logger";
import * as Metric from "effect/Metric";
import { Step } from "../../core/plan/step.ts";
import { snapshot } from "../../tests/snapshots.ts";
import { Store } from "../cache/store.ts";
import { Cluster, failedCall } from "../kubernetes/cluster.ts";
import { operatorFacts } from "../process/run.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { perform } from "./perform.ts";

/** Lines of the log and number of counters after a deletion that is answered with this status. */
const deletion = async (status: number) => {
  const said: Array<unknown> = [];
  const counters = new Map();
  const key = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "s" };
  const answer = status === 200 ? Effect.succeed({}) : Effect.fail(
    failedCall({ verb: "delete", path: "", status, reason: "", detail: "", retryAfterMs: undefined }),
  );
  const done = perform([Step.Prune({ key, uid: "u", version: "1", why: "why" })], snapshot({})).pipe(
    Effect.provide([Store.layer, Logger.layer([Logger.make(({ message }) => said.push(String(message)))])]),
    Effect.provideService(OperatorFacts, operatorFacts({ operatorNamespace: "o", relatedImages: new Map() }, [], "k")),
    Effect.provideService(Cluster, { send: () => answer } as unknown as typeof Cluster.Service),
    Effect.provideService(Metric.MetricRegistry, counters),
  );
  await Effect.runPromise(done as Effect.Effect<unknown>);
  return [said, counters.size];
};

Deno.test("perform() logs and counts a deletion that was made, and no other", async () => {
  deepStrictEqual(await deletion(404), [[], 0]);
  deepStrictEqual(await deletion(409), [[], 0]);
  deepStrictEqual(await deletion(200), [["pruned"], 1]);
});
