import { deepStrictEqual, ok } from "node:assert/strict";
import { at, isObject, type Json } from "../data/json.ts";
import { customResourceDefinition, resourceSchema, resourceSchemaV1alpha1 } from "./crd.ts";
import { editorSchema } from "./editor_schema.ts";

Deno.test("an editor completes the names of distributions and provider types, and accepts types of other images", () => {
  const schema = editorSchema({
    distributions: ["starter"],
    providerTypes: new Map([["vector_io", ["inline::faiss"]]]),
  });
  const of = (...path: ReadonlyArray<string>) => at(schema, "properties", "spec", "properties", ...path);
  deepStrictEqual(of("distribution", "properties", "name", "enum"), ["starter"]);
  deepStrictEqual(of("providers", "properties", "vectorIo", "items", "properties", "provider", "anyOf"), [
    { enum: ["inline::faiss"] },
    { type: "string" },
  ]);
});

for (const [version, schema] of [["v1alpha1", resourceSchemaV1alpha1()], ["v1alpha2", resourceSchema()]] as const) {
  Deno.test(`kubectl explain describes every field of ${version}`, () => {
    const silent: Array<string> = [];
    const walk = (node: Json | undefined, path: string): void => {
      if (!isObject(node)) return;
      for (const [name, field] of Object.entries(isObject(node.properties) ? node.properties : {})) {
        if (isObject(field) && field.description === undefined) silent.push(`${path}.${name}`);
        walk(field, `${path}.${name}`);
      }
      walk(node.items, `${path}[]`);
      walk(node.additionalProperties, `${path}.*`);
    };
    walk(schema as unknown as Json, "");
    // Kubernetes describes these itself.
    deepStrictEqual(silent.filter((path) => ![".apiVersion", ".kind", ".metadata"].includes(path)), []);
    ok(schema.properties !== undefined);
  });
}

Deno.test("the definition fits into the annotation in which kubectl apply keeps what was applied", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(customResourceDefinition())).length;
  // Kubernetes limits all annotations of an object to 256 KiB.
  ok(bytes < 250_000, `${bytes} bytes`);
});
