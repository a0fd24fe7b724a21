/** The schema of the whole resource as data, and the defaults in it. */
import type { FieldPath } from "../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import recorded from "./resource_schema.json" with { type: "json" };
import { fieldOf, hasType, type StructuralSchema } from "./structural_check.ts";

/** Made from the schema values by `deno task gen`: making it at each start would take 15 ms of the command line. */
export const RESOURCE = recorded as unknown as StructuralSchema;

/** The schema of the field; empty for one that is unknown. */
export const schemaAt = (schema: StructuralSchema, path: FieldPath): StructuralSchema =>
  path.reduce<StructuralSchema>(
    (node, step) => (typeof step === "number" ? node.items : fieldOf(node, step)) ?? {},
    schema,
  );

/** The resource with the schema's defaults where fields are absent, as the API server fills them before it checks rules. */
export const defaulted = (resource: JsonObject): JsonObject => withDefaults(RESOURCE, resource) as JsonObject;

const withDefaults = (schema: StructuralSchema, value: Json): Json => {
  if (isList(value)) {
    return schema.items === undefined ? value : value.map((item) => withDefaults(schema.items ?? {}, item));
  }
  if (!isObject(value)) return value;
  const properties = schema.properties ?? {};
  // Unknown fields are not checked, unless the schema has a rule for all fields.
  const known = typeof schema.additionalProperties === "object"
    ? Object.keys(value)
    : Object.keys(properties).filter((key) => Object.hasOwn(value, key));
  const changed = known.flatMap((key): ReadonlyArray<[string, Json]> => {
    const field = fieldOf(schema, key);
    const before = value[key] ?? null;
    const after = field === undefined ? before : withDefaults(field, before);
    return after === before ? [] : [[key, after]];
  });
  const filled = Object.entries(properties)
    .filter(([key, inner]) => inner.default !== undefined && !Object.hasOwn(value, key))
    .map(([key, inner]): [string, Json] => [key, withDefaults(inner, inner.default as Json)]);
  return changed.length + filled.length === 0
    ? value
    : { ...value, ...Object.fromEntries(changed), ...Object.fromEntries(filled) };
};

/**
 * What of the value has the types that the schema gives, which is the same value if all of it has; undefined if nothing has. Fields of
 * another release do not count.
 */
export const soundPart = (schema: StructuralSchema, value: Json): Json | undefined => {
  if (!hasType(schema, value)) return undefined;
  const { items, properties = {}, required = [] } = schema;
  if (isList(value)) {
    const parts = items === undefined ? value : value.map((item) => soundPart(items, item));
    return parts.every((part, index) => part === value[index]) ? value : parts.flatMap((part) => part ?? []);
  }
  if (!isObject(value)) return schema.enum === undefined || schema.enum.includes(value) ? value : undefined;
  const parts = Object.entries(value).map(([name, inner]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, field === undefined ? inner : soundPart(field, inner)] as const;
  });
  const found: JsonObject = parts.every(([name, part]) => part === value[name])
    ? value
    : Object.fromEntries(parts.flatMap(([name, part]) => part === undefined ? [] : [[name, part]]));
  return required.every((name) => Object.hasOwn(found, name)) ? found : undefined;
};
