/**
 * Nulls of a manifest, as the API server treats them: it removes a null from every field whose schema has no use for one, before
 * it checks anything. `workload:` with nothing below is such a null. Source: PruneNonNullableNullsWithoutDefaults.
 */
import { isList, isObject, type Json, type JsonObject, member, omit, withMember } from "../data/json.ts";
import { RESOURCE } from "./resource_schema.ts";
import { fieldOf, type StructuralSchema } from "./structural_check.ts";
import { structuralSchemaOf } from "./structural_schema.ts";
import { SpecV1alpha1, V1ALPHA1 } from "./v1alpha1.ts";

/** The manifest without these nulls; those in free-form fields and in lists are values, and remain. */
export const withoutNulls = (manifest: Json): Json => {
  if (!isObject(manifest)) return manifest;
  const metadata = member(manifest, "metadata");
  // Metadata has no schema of its own; there, a null is a field that is not set.
  const named = isObject(metadata) ? withMember(manifest, "metadata", withoutMembers(metadata)) : manifest;
  if (!hasNull(member(named, "spec"))) return named;
  const schema = named.apiVersion === V1ALPHA1
    // Made on demand: making it for every manifest would take 15 ms of the command line.
    ? { properties: { spec: structuralSchemaOf(SpecV1alpha1) } }
    : RESOURCE;
  return pruned(schema, named);
};

const withoutMembers = (object: JsonObject): JsonObject =>
  omit(object, ...Object.keys(object).filter((key) => object[key] === null));

const hasNull = (value: Json | undefined): boolean =>
  value === null || (isList(value) ? value.some(hasNull) : isObject(value) && Object.values(value).some(hasNull));

const pruned = (schema: StructuralSchema, value: Json): Json => {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => pruned(items, item));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): ReadonlyArray<[string, Json]> => {
      const field = fieldOf(schema, key);
      if (field === undefined) return [[key, inner]];
      return inner === null && field.nullable !== true ? [] : [[key, pruned(field, inner)]];
    }),
  );
};
