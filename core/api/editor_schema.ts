/** JSON Schema (draft 7) of a resource, for editors that complete and check YAML while it is written. */
import type { Json, JsonObject } from "../data/json.ts";
import { isList, isObject } from "../data/json.ts";
import { resourceSchema } from "./crd.ts";
import { API_VERSION, KIND } from "./v1alpha2.ts";

export const editorSchema = (): JsonObject => {
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
