import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { ReferenceIndex, referenceIndex } from "../cache/reference_index.ts";
import { Store } from "../cache/store.ts";
import { operatorFacts } from "../process/run.ts";
import { OperatorFacts } from "../runtime/operator_facts.ts";
import { ContestsOf, newContests } from "./contests.ts";
import { LabelReader, nobodyAsked } from "./image_labels.ts";
import { reconcile } from "./reconcile.ts";

Deno.test("reconcile() of a deleted resource forgets what an earlier one remembered after the deletion", async () => {
  const [named, contests, labels] = [referenceIndex(), newContests(), new Set(["n/my"])];
  const field = { object: "Service my-service", field: "spec.type", manager: "kubectl" };
  named.remember("n/my", [{
    kind: "Secret",
    namespace: undefined,
    name: "s",
    key: undefined,
    path: [],
    optional: false,
  }]);
  for (let count = 0; count < 20; count++) {
    contests.overwritten("n/my", [field], 1);
    contests.repaired("n/my", [field]);
  }
  const seen = () => [named.dependants("Secret", "n/s").length, contests.of("n/my", 1).length > 0, labels.size];
  deepStrictEqual(seen(), [1, true, 1]);
  const reconciled = reconcile("n/my").pipe(
    Effect.provide(Store.layer),
    Effect.provideService(OperatorFacts, operatorFacts({ operatorNamespace: "o", relatedImages: new Map() }, [], "k")),
    Effect.provideService(ReferenceIndex, named),
    Effect.provideService(ContestsOf, contests),
    Effect.provideService(LabelReader, { ...nobodyAsked, forget: (key) => Effect.sync(() => labels.delete(key)) }),
  );
  await Effect.runPromise(reconciled as Effect.Effect<void>);
  deepStrictEqual(seen(), [0, false, 0]);
});
