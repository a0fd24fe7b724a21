import type { FieldPath } from "../data/field_path.ts";
import type { Json } from "../data/json.ts";

/** What a rule finds. */
export interface Broken {
  /** Keys and indexes from the field of the rule to the wrong value. */
  readonly at: FieldPath;
  /** The message after the path; never with a value of `env`. */
  readonly detail: string;
}

/** A rule for a resource that is written now; a stored one only causes a warning. */
export interface ChangeRule {
  /** The field that the rule needs, with everything in it. */
  readonly path: ReadonlyArray<string>;
  /**
   * Everything that is wrong in it. The value has not been decoded: parts of another type than the schema's are found
   * there, and must be ignored here.
   */
  readonly broken: (value: Json) => Iterable<Broken>;
}
