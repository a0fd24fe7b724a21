/** JSON Schema (draft 7) of a resource, for editors that complete and check YAML while it is written. */
import { isList, isObject, type Json, type JsonObject, objectAt, put } from "../core/data/json.ts";
import { PROVIDER_LISTS } from "../core/api/api_names.ts";
import { resourceSchema } from "../core/api/crd.ts";
import { API_VERSION, KIND } from "../core/api/v1alpha2.ts";

/** Names that an editor offers. */
export interface KnownNames {
  readonly distributions: ReadonlyArray<string>;
  /** Provider types by API of config.yaml. */
  readonly providerTypes: ReadonlyMap<string, ReadonlyArray<string>>;
}

export const editorSchema = (names: KnownNames): JsonObject => withNames(schemaOfFields(), names);

const withNames = (schema: JsonObject, { distributions, providerTypes }: KnownNames): JsonObject => {
  const ofSpec = ["properties", "spec", "properties"];
  const name = [...ofSpec, "distribution", "properties", "name"];
  return PROVIDER_LISTS.reduce<JsonObject>(
    (before, { field, api }) => {
      const path = [...ofSpec, "providers", "properties", field, "items", "properties", "provider"];
      const { type: _, ...provider } = objectAt(before, ...path);
      // Images of external providers bring types of their own.
      const known = [{ enum: [...(providerTypes.get(api) ?? [])] }, { type: "string" }];
      return put(before, path, { ...provider, anyOf: known });
    },
    put(schema, name, { ...objectAt(schema, ...name), enum: [...distributions] }),
  );
};

const schemaOfFields = (): JsonObject => {
  const { properties = {}, ...root } = strict(resourceSchema() as unknown as Json) as JsonObject;
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `${KIND} (${API_VERSION})`,
    ...root,
    required: ["apiVersion", "kind", "metadata", "spec"],
    properties: {
      ...(properties as JsonObject),
      apiVersion: { const: API_VERSION },
      kind: { const: KIND },
      metadata: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    },
  };
};

/** Editors know nothing of `x-kubernetes-*`: those go, and what the API server would prune is refused instead. */
const strict = (node: Json): Json => {
  if (isList(node)) return node.map(strict);
  if (!isObject(node)) return node;
  const entries = Object.entries(node).filter(([key]) => !key.startsWith("x-kubernetes-"))
    .map(([key, inner]): [string, Json] => [
      key,
      key === "properties" && isObject(inner)
        ? Object.fromEntries(Object.entries(inner).map(([name, field]): [string, Json] => [name, strict(field)]))
        : key === "default" || key === "enum"
        ? inner
        : strict(inner),
    ]);
  const closed = node.type === "object" && isObject(node.properties ?? null) &&
    node["x-kubernetes-preserve-unknown-fields"] !== true;
  return Object.fromEntries(closed ? [...entries, ["additionalProperties", false] as [string, Json]] : entries);
};
