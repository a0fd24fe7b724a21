/** A generated ConfigMap as the API server has it. */
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import {
  LABELS_ANNOTATION,
  LABELS_PROOF_ANNOTATION,
  recordedIn,
  type RecordedLabels,
} from "../resources/labels_record.ts";
import { liveObject } from "./live_object.ts";

export interface LiveConfig {
  readonly name: string;
  /** The text of its config.yaml. */
  readonly text: string | undefined;
  /** What labels of the image it was made from; `proof` is the operator's own over `text` and `data`. */
  readonly labels:
    | {
      readonly recorded: RecordedLabels;
      readonly text: string;
      readonly data: JsonObject;
      readonly proof: string | undefined;
    }
    | undefined;
}

export const liveConfig = onceForEach((object: JsonObject): LiveConfig => {
  const { name, annotations } = liveObject(object);
  const [recorded, text] = [recordedIn(object), annotations[LABELS_ANNOTATION]];
  return {
    name,
    text: stringAt(object, "data", "config.yaml"),
    labels: recorded === undefined || text === undefined
      ? undefined
      : { recorded, text, data: objectAt(object, "data"), proof: annotations[LABELS_PROOF_ANNOTATION] },
  };
});
