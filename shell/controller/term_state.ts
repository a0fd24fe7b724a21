/** What the controller remembers from one reconciliation to the next. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { ReferenceIndex, referenceIndex } from "../cache/reference_index.ts";
import { ContestsOf, newContests } from "./contests.ts";
import { LargeResources } from "./large_resource_slot.ts";
import { ForeignReads } from "./referenced_objects.ts";

/** Made anew for each term of a leader, because a waiting replica has missed changes. */
export const termState = Layer.fresh(Layer.mergeAll(
  Layer.effect(ReferenceIndex, Effect.sync(referenceIndex)),
  Layer.effect(ContestsOf, Effect.sync(newContests)),
  Layer.effect(LargeResources, LargeResources.make),
  Layer.effect(ForeignReads, ForeignReads.make),
));
