/** Building blocks of the rules: one finding, the findings of a part, and the items of a list. */
import type { FieldPath } from "../../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, member } from "../../data/json.ts";
import type { Broken } from "../change_rule.ts";

export const broken = (detail: string, ...at: FieldPath): Broken => ({ at, detail });

/** The findings of a part as findings of what contains it. */
export function* inside(at: FieldPath, findings: Iterable<Broken>): Generator<Broken> {
  for (const { at: inner, detail } of findings) yield { at: [...at, ...inner], detail };
}

export const itemsOf = (value: Json | undefined): ReadonlyArray<Json> => isList(value) ? value : [];

/** The findings of each object in the list `field`. */
export function* each(
  parent: JsonObject,
  field: string,
  check: (item: JsonObject, index: number) => Iterable<Broken>,
): Generator<Broken> {
  for (const [index, item] of itemsOf(member(parent, field)).entries()) {
    if (isObject(item)) yield* inside([field, index], check(item, index));
  }
}

/** The findings of the object `field`, if there is one. */
export function* part(
  parent: JsonObject,
  field: string,
  check: (value: JsonObject) => Iterable<Broken>,
): Generator<Broken> {
  const value = member(parent, field);
  if (isObject(value)) yield* inside([field], check(value));
}

/** A rule for a text; other values are of no interest. */
export const text = (check: (value: string) => string | undefined) =>
  function* (value: Json): Generator<Broken> {
    const detail = typeof value === "string" ? check(value) : undefined;
    if (detail !== undefined) yield broken(detail);
  };

/** A required text that is empty. */
export function* filled(parent: JsonObject, field: string, what: string): Generator<Broken> {
  const value = member(parent, field);
  if (value === undefined || value === "") yield broken(`required field is missing or empty; ${what}`, field);
}
