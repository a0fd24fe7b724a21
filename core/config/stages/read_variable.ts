/** Variables that the code of a server reads itself, and ends if their value is not of the right kind. */
import type { FieldPath } from "../../data/field_path.ts";
import type { Facts } from "../draft.ts";
import { expectedInstead } from "../servers/field_types.ts";
import type { CatalogueField } from "../servers/catalogue.ts";
import type { RuleInput } from "./provider_rules.ts";

export interface ReadVariable {
  /** What the server accepts instead, as the end of a message; undefined if the value fits. */
  readonly expected: (value: string) => string | undefined;
  /** An empty value is read as it is, and does not fit. */
  readonly isReadEmpty?: boolean;
  /** Whether it is read; unset: always. */
  readonly when?: (input: Pick<RuleInput, "config" | "environment">) => boolean;
}

/** Where the resource sets a variable of the pod: nowhere, or in the last one of this name. */
export const placesOf = ({ workload }: Facts["spec"], variable: string): ReadonlyArray<FieldPath> => {
  const index = (workload?.overrides?.env ?? []).findLastIndex(({ name }) => name === variable);
  return index < 0 ? [] : [["spec", "workload", "overrides", "env", index]];
};

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What Python's `int` takes, which is less than a class of a config does. */
export const wholeNumber = ({ minimum = -Infinity, maximum = Infinity }: Range = {}): ReadVariable["expected"] => {
  const range = [
    ...(minimum === -Infinity ? [] : [`at least ${minimum}`]),
    ...(maximum === Infinity ? [] : [`at most ${maximum}`]),
  ];
  const expected = `a whole number${range.length === 0 ? "" : ` of ${range.join(" and ")}`}`;
  return (value) => {
    const number = Number(value.replaceAll("_", ""));
    return /^\s*[-+]?[0-9]+(_[0-9]+)*\s*$/.test(value) && number >= minimum && number <= maximum ? undefined : expected;
  };
};

/** What Python's `float` takes. */
export const anyNumber: ReadVariable["expected"] = (value) =>
  /^\s*[-+]?(nan|inf|infinity|([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)(e[-+]?[0-9]+)?)\s*$/i.test(value)
    ? undefined
    : "a number";

/** In lower case, as most code compares them. */
export const oneOf = (...words: ReadonlyArray<string>): ReadVariable["expected"] => (value) =>
  words.includes(value.toLowerCase()) ? undefined : `one of ${words.join(", ")}`;

export const oneOfExactly = (...words: ReadonlyArray<string>): ReadVariable["expected"] => (value) =>
  words.includes(value) ? undefined : `one of ${words.join(", ")}`;

/** What a class of the server takes. */
export const asField = (field: CatalogueField): ReadVariable["expected"] => (value) => expectedInstead(field, value);
