import type { Json } from "../data/json.ts";

/** A rule for a resource that is written now; a stored one only causes a warning. */
export interface ChangeRule {
  /** The field that is reported; the rule checks the block around it. */
  readonly path: ReadonlyArray<string>;
  /** The message after the path; undefined if the rule is fulfilled. */
  readonly broken: (value: Json) => string | undefined;
}
