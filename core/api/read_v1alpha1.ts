/** A manifest of v1alpha1 as the commands read it: what is wrong with it in its own words, and the same in v1alpha2. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { SchemaMismatch } from "../failure/failures.ts";
import { isObject, type Json, type JsonObject, member } from "../data/json.ts";
import { AS_WRITTEN, converted } from "./convert.ts";
import { schemaFindings } from "./decode.ts";
import { structuralSchemaOf } from "./structural_schema.ts";
import { SpecV1alpha1, V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION, KIND } from "./v1alpha2.ts";

/** Undefined for a document of any other version or kind. */
export const readV1alpha1 = (
  document: Json,
): { readonly resource: JsonObject; readonly failures: ReadonlyArray<SchemaMismatch> } | undefined => {
  if (!isObject(document) || document.apiVersion !== V1ALPHA1 || document.kind !== KIND) return undefined;
  return { resource: converted(document, API_VERSION, AS_WRITTEN), failures: failuresOf(document) };
};

/** A slip in a field's name would become an annotation on the way to v1alpha2, and nobody would be told. */
const failuresOf = (document: JsonObject): ReadonlyArray<SchemaMismatch> => {
  const decoded = decodeSpec(member(document, "spec") ?? {}, { errors: "all", onExcessProperty: "error" });
  if (Result.isSuccess(decoded)) return [];
  const schema = { properties: { spec: structuralSchemaOf(SpecV1alpha1) } };
  return schemaFindings(decoded.failure.issue, document, schema);
};

const decodeSpec = Schema.decodeUnknownResult(SpecV1alpha1);
