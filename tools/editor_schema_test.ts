import { deepStrictEqual, ok } from "node:assert/strict";
import { at, isObject, type Json } from "../core/data/json.ts";
import { resourceSchema, resourceSchemaV1alpha1 } from "../core/api/crd.ts";
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

for (
  const [version, schema, without] of [
    // In the former version those are not described that the other one has as well, and those of Kubernetes.
    [
      "v1alpha1",
      resourceSchemaV1alpha1(),
      /^\.spec\.server\.(podOverrides|containerSpec|topologySpreadConstraints|externalProviders\.)/,
    ],
    ["v1alpha2", resourceSchema(), /^$/],
  ] as const
) {
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
    deepStrictEqual(
      silent.filter((path) => ![".apiVersion", ".kind", ".metadata"].includes(path) && !without.test(path)),
      [],
    );
    ok(schema.properties !== undefined);
  });
}
