import type { JsonObject } from "../data/json.ts";

/** What the status may say of pods, beyond their own reasons. */
export interface Disclosure {
  /** Of Kubernetes' own text, from the scheduler or the kubelet. */
  readonly text: (text: string) => string;
  /** Whether the end of a container's log may be quoted; else the class of its exception stands alone. */
  readonly log: (pod: JsonObject, text: string) => boolean;
  /** What may be wrong with an image that cannot be pulled. */
  readonly pull: (image: string) => string;
}
