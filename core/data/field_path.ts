/** Field paths: steps while code works with them, text when a person reads them. */
import { isList, type Json, member } from "./json.ts";
import { WORD_CHARACTERS_MAX } from "./limits.ts";
import { quoted } from "./printable.ts";

/** Keys and list indexes from the root of the resource. */
export type FieldPath = ReadonlyArray<string | number>;

/** `spec.providers.inference[2].id`; a key that is not a plain word is quoted in brackets. */
export const formatPath = (path: FieldPath): string =>
  path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) || step.length > WORD_CHARACTERS_MAX) {
      return `[${step.length > WORD_CHARACTERS_MAX ? quoted(step) : JSON.stringify(step)}]`;
    }
    return index === 0 ? step : `.${step}`;
  }).join("");

/** Undefined where there is nothing at the path. */
export const valueAt = (value: Json | undefined, path: FieldPath): Json | undefined =>
  path.reduce<Json | undefined>(
    (inner, step) => typeof step === "number" ? (isList(inner) ? inner[step] : undefined) : member(inner, step),
    value,
  );
