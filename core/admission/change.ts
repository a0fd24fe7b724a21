/** The admission request, and the answer. */
import type { JsonObject } from "../data/json.ts";

export interface Change {
  readonly namespace: string;
  readonly object: JsonObject;
  /** Undefined for a new object. */
  readonly before: JsonObject | undefined;
  /** The version in which the author wrote the object, e.g. `v1alpha1`. */
  readonly writtenIn: string;
}

export interface Judgement {
  readonly rejections: ReadonlyArray<Finding>;
  readonly warnings: ReadonlyArray<string>;
}

export interface Finding {
  /** As text, in the version that the author wrote. */
  readonly field: string;
  /** With the field and the fix. */
  readonly message: string;
}
