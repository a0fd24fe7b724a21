/**
 * Who set which fields of an object: the entries of `metadata.managedFields`. Their `fieldsV1` is a tree, with `f:name` for a
 * member of a map, `k:{"key":"value"}` for an item of a list, and `.` for the map or the item itself.
 */
import { at, isObject, type Json, type JsonObject, member, objectAt, omit, stringAt } from "../data/json.ts";
import { FIELD_MANAGER } from "./field_manager.ts";

export interface FieldSet {
  readonly manager: string;
  /** Whether it holds the fields of the operator's last apply of the object itself. */
  readonly isOwnApply: boolean;
  readonly isApply: boolean;
  /** Whether it is of a part of the object with an API of its own, such as its status. */
  readonly isOfSubresource: boolean;
  /** In the form of `fieldsV1`. */
  readonly fields: JsonObject;
  /** As the API server has it. */
  readonly entry: JsonObject;
}

/** A member of a map, or an item of a list: its keys, or the whole item. */
export type FieldStep = string | Readonly<Record<string, Json>>;
export type FieldSteps = ReadonlyArray<FieldStep>;

export const fieldSetOf = (entry: JsonObject): FieldSet => {
  const manager = stringAt(entry, "manager") ?? "";
  const isApply = stringAt(entry, "operation") === "Apply";
  const isOfSubresource = stringAt(entry, "subresource") !== undefined;
  return {
    manager,
    isOwnApply: manager === FIELD_MANAGER && isApply && !isOfSubresource,
    isApply,
    isOfSubresource,
    fields: objectAt(entry, "fieldsV1"),
    entry,
  };
};

/** Whether the field itself is in the set. `path` is in the words of `fieldsV1`, such as `"f:spec", "f:replicas"`. */
export const ownsField = (set: FieldSet | undefined, ...path: ReadonlyArray<string>): boolean =>
  at(set?.fields, ...path) !== undefined;

/** Whether the field, or one that it is a part of, is in the set. */
export const ownsWithin = (fields: JsonObject, steps: FieldSteps): boolean => {
  let node = fields;
  for (const [index, step] of steps.entries()) {
    if (index > 0 && Object.keys(node).length === 0) return true;
    const next = node[nameIn(node, step) ?? ""];
    if (!isObject(next ?? null)) return false;
    node = next as JsonObject;
  }
  return steps.length > 0;
};

/** The fields without this one, and the part that was taken out. */
export const withoutField = (fields: JsonObject, [step, ...rest]: FieldSteps): readonly [JsonObject, JsonObject] => {
  if (step === undefined) return [{}, fields];
  const name = nameIn(fields, step);
  if (name === undefined) return [fields, {}];
  const inner = objectAt(fields, name);
  if (rest.length === 0) return [omit(fields, name), { [name]: inner }];
  const [kept, taken] = withoutField(inner, rest);
  const isEmpty = Object.keys(kept).every((key) => key === ".");
  const left = isEmpty && Object.keys(taken).length > 0 && !Object.hasOwn(kept, ".")
    ? omit(fields, name)
    : { ...fields, [name]: kept };
  return [left, Object.keys(taken).length === 0 ? {} : { [name]: taken }];
};

/** This field alone. */
export const onlyField = (steps: FieldSteps): JsonObject =>
  steps.reduceRight<JsonObject>(
    (inner, step) => ({ [typeof step === "string" ? `f:${step}` : `k:${JSON.stringify(step)}`]: inner }),
    {},
  );

/** The fields of both. */
export const allFields = (a: JsonObject, b: JsonObject): JsonObject =>
  Object.entries(b).reduce((whole, [key, value]) => {
    const known = member(whole, key);
    return {
      ...whole,
      [key]: isObject(known ?? null) && isObject(value) ? allFields(known as JsonObject, value) : value,
    };
  }, a);

/** What is directly in a set of fields: members by their names, items by their keys. */
export const partsOf = (fields: JsonObject): ReadonlyArray<readonly [FieldStep, JsonObject]> =>
  Object.keys(fields).flatMap((name) => {
    const step = stepOf(name);
    return step === undefined ? [] : [[step, objectAt(fields, name)] as const];
  });

const stepOf = (name: string): FieldStep | undefined => {
  if (name.startsWith("f:")) return name.slice(2);
  return name.startsWith("k:") ? JSON.parse(name.slice(2)) as JsonObject : undefined;
};

const nameIn = (node: JsonObject, step: FieldStep): string | undefined => {
  if (typeof step === "string") return Object.hasOwn(node, `f:${step}`) ? `f:${step}` : undefined;
  return Object.keys(node).find((name) => {
    const keys = stepOf(name);
    // A key that the item leaves out has the API server's default.
    return typeof keys === "object" && Object.entries(keys).every(([key, value]) => (step[key] ?? value) === value);
  });
};
