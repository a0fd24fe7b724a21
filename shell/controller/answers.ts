/** Answers the questions on which the decision about one resource depends. */
import * as Effect from "effect/Effect";
import { type Ask, type Facts, type Plan, plan } from "../../core/plan/plan.ts";
import { AUTOSCALERS, groupPath } from "../../core/snapshot/kinds.ts";
import type { ClusterSnapshot } from "../../core/snapshot/cluster_snapshot.ts";
import { type Scaled, scalersOf } from "../../core/snapshot/scalers.ts";
import { Store } from "../cache/store.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { AUTOSCALERS_READ_MAX } from "../limits.ts";
import { ContestsOf } from "./contests.ts";
import { LabelReader } from "./image_labels.ts";
import { liveObject } from "../../core/snapshot/live_object.ts";

type AskSlots = Extract<Ask, { readonly _tag: "Slots" }>;

/** The decision, with all that it rests on. `slots` answers for the upgrade slots. */
export const planned = Effect.fnUntraced(function* <R>(
  key: string,
  facts: Facts,
  slots: (key: string, ask: AskSlots) => Effect.Effect<Plan, never, R>,
) {
  let next = plan(facts);
  while (next._tag !== "Planned") {
    next = next._tag === "Slots" ? yield* slots(key, next) : yield* answered(key, next, facts.snapshot);
  }
  return next;
});

/** Takes the slot of the decision. */
export const slotTaken = (key: string, { resume }: AskSlots): Effect.Effect<Plan, never, Store> =>
  Effect.flatMap(Store, (store) => store.decideWithSlots(key, resume));

/** For commands. */
export const noSlot = (_: string, { resume }: AskSlots): Effect.Effect<Plan> =>
  Effect.sync(() => resume(undefined).value);

const answered = Effect.fnUntraced(function* (
  key: string,
  ask: Exclude<Ask, AskSlots>,
  { resource, nowMs }: ClusterSnapshot,
): Effect.fn.Return<Plan, ClusterError, Cluster | ContestsOf | LabelReader> {
  const cluster = yield* Cluster;
  switch (ask._tag) {
    case "Objects":
      return ask.resume(yield* Effect.forEach(ask.question, (one) => cluster.get(one, "cached"), { concurrency: 8 }));
    case "Owners":
      return ask.resume(yield* Effect.forEach(ask.question, (one) => cluster.get(one), { concurrency: 8 }));
    case "Scalers":
      return ask.resume(yield* scalersFor(ask.question));
    case "Labels": {
      const reader = yield* LabelReader;
      const { question } = ask;
      const { generation } = liveObject(resource);
      const answer = yield* reader.labels(key, question.kind === "asked" ? question.of : undefined, generation);
      return ask.resume(question.kind === "recorded" ? { kind: "read", read: reader.shared(question.read) } : answer);
    }
    case "Contests": {
      const contests = yield* ContestsOf;
      const begins = contests.overwritten(key, ask.question, nowMs);
      return ask.resume(begins ? contests.of(key, nowMs) : undefined);
    }
  }
});

/** Of the first ones in the namespace; whoever may not read them learns nothing of them. */
const scalersFor = Effect.fnUntraced(function* (scaled: Scaled) {
  const { apiVersion, plural } = AUTOSCALERS;
  const path = `${groupPath(apiVersion)}/namespaces/${encodeURIComponent(scaled.namespace)}/${plural}`;
  const found = yield* (yield* Cluster).read(`${path}?limit=${AUTOSCALERS_READ_MAX}`).pipe(
    Effect.catchTag(["Forbidden", "NotFound"], () => Effect.succeed(null)),
  );
  return scalersOf(found, scaled);
});
