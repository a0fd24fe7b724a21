/** Checks a value against a structural schema (the subset of OpenAPI v3 that CRDs allow), as the API server does. */
import { isQuantity, QUANTITY } from "./fields.ts";
import { isList, isObject } from "../data/json.ts";
import { quoted } from "../data/printable.ts";

/** One node of a structural schema. */
export interface StructuralSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: ReadonlyArray<string>;
  readonly enum?: ReadonlyArray<unknown>;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly anyOf?: ReadonlyArray<StructuralSchema>;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

export interface StructuralFinding {
  /** Keys and indexes from the value that was checked. */
  readonly path: ReadonlyArray<string | number>;
  /** What was expected there; holds no value, since env values may be secret. */
  readonly detail: string;
}

const expectedForm = ({ pattern }: StructuralSchema, what: string): string =>
  pattern === QUANTITY.source
    ? 'Expected a quantity such as "500m" or "4Gi"'
    : `Expected ${what} that matches ${pattern}`;

/** Every place where `value` does not fit; empty when it fits. */
export const structuralFindings = (
  schema: StructuralSchema,
  value: unknown,
  path: ReadonlyArray<string | number> = [],
): ReadonlyArray<StructuralFinding> => {
  const here = (detail: string): StructuralFinding => ({ path, detail });
  if (value === null) return schema.nullable === true ? [] : [here(`Expected ${typeOf(schema)}, got null`)];
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (!Number.isInteger(value) && typeof value !== "string") return [here("Expected a whole number or a string")];
    return patternFits(schema, String(value)) ? [] : [here(expectedForm(schema, "a value"))];
  }
  if (!hasType(schema, value)) return [here(`Expected ${typeOf(schema)}`)];
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return [here(`Expected one of ${schema.enum.map((word) => JSON.stringify(word)).join(", ")}`)];
  }
  if (typeof value === "string") {
    return patternFits(schema, value) ? [] : [here(expectedForm(schema, "a string"))];
  }
  if (typeof value === "number") {
    const low = schema.minimum !== undefined && value < schema.minimum;
    const high = schema.maximum !== undefined && value > schema.maximum;
    return low || high ? [here(`Expected a number from ${schema.minimum ?? "-∞"} to ${schema.maximum ?? "∞"}`)] : [];
  }
  if (isList(value)) {
    const items = schema.items;
    return items === undefined ? [] : value.flatMap((item, index) => structuralFindings(items, item, [...path, index]));
  }
  if (isObject(value)) {
    const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(value, key))
      .map((key): StructuralFinding => ({ path: [...path, key], detail: "Required field is missing" }));
    const members = Object.entries(value).flatMap(([key, inner]): ReadonlyArray<StructuralFinding> => {
      const field = fieldOf(schema, key);
      if (field !== undefined) return structuralFindings(field, inner, [...path, key]);
      const open = schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true ||
        schema.properties === undefined;
      return open ? [] : [{ path: [...path, key], detail: unknownField(key, Object.keys(schema.properties ?? {})) }];
    });
    return [...missing, ...members];
  }
  return [];
};

/** The schema of a member; undefined if nothing is said of it. */
export const fieldOf = (
  { properties = {}, additionalProperties }: StructuralSchema,
  key: string,
): StructuralSchema | undefined => {
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
};

/** The message for a key that is not in the schema; `known` are the allowed keys. */
const unknownField = (key: string, known: ReadonlyArray<string>): string =>
  `Unknown field ${quoted(key)}; known fields: ${[...known].sort().join(", ")}`;

const patternFits = (schema: StructuralSchema, value: string): boolean =>
  schema.pattern === undefined ||
  (schema.pattern === QUANTITY.source ? isQuantity(value) : new RegExp(schema.pattern, "u").test(value));

/** Whether the value itself, and not what is in it, has the type of the schema; true where the schema has none. */
export const hasType = (schema: StructuralSchema, value: unknown): boolean => {
  switch (schema.type) {
    case "object":
      return isObject(value);
    case "array":
      return isList(value);
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      return true;
  }
};

const WORDS = {
  object: "an object",
  array: "a list",
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
} as const;
const typeOf = (schema: StructuralSchema): string =>
  schema["x-kubernetes-int-or-string"] === true
    ? "a whole number or a string"
    : schema.type === undefined
    ? "a value"
    : WORDS[schema.type];
