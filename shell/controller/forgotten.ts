/**
 * What the controller forgets of a deleted resource. A reconciliation that began before the deletion may remember it again, so the
 * one that finds no resource forgets it once more.
 */
import * as Effect from "effect/Effect";
import { ReferenceIndex } from "../cache/reference_index.ts";
import { ContestsOf } from "./contests.ts";
import { LabelReader } from "./image_labels.ts";

/** Whatever is kept by `namespace/name`, other than the objects in the store. */
export const forgotten = Effect.fnUntraced(function* (key: string) {
  (yield* ReferenceIndex).forget(key);
  (yield* ContestsOf).forget(key);
  yield* (yield* LabelReader).forget(key);
});
