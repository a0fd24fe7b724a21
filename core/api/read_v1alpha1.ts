/** A v1alpha1 manifest as read by the commands: its errors in terms of v1alpha1, and the converted resource. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { SchemaMismatch } from "../failure/failures.ts";
import { isObject, type Json, type JsonObject, member } from "../data/json.ts";
import { AS_WRITTEN, converted } from "./convert.ts";
import { schemaFindings } from "./decode.ts";
import { bounded } from "./findings.ts";
import { documentHint } from "./hints.ts";
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

/** A misspelled field would become an annotation in the conversion to v1alpha2, without any error. */
const failuresOf = (document: JsonObject): ReadonlyArray<SchemaMismatch> => {
  const hint = documentHint(document);
  if (hint !== undefined) return [new SchemaMismatch(hint)];
  const decoded = decodeSpec(member(document, "spec") ?? {}, { errors: "all", onExcessProperty: "error" });
  if (Result.isSuccess(decoded)) return [];
  const schema = { properties: { spec: structuralSchemaOf(SpecV1alpha1) } };
  return bounded([schemaFindings(decoded.failure.issue, document, schema)]);
};

const decodeSpec = Schema.decodeUnknownResult(SpecV1alpha1);
