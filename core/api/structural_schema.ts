/** Effect Schema → structural OpenAPI v3 schema, the only form that a CRD accepts. */
import * as Schema from "effect/Schema";
import { isObject } from "../data/json.ts";
import { EMBEDDED_SCHEMAS, EMBEDDED_TYPE } from "./embedded.ts";
import { QUANTITY } from "./fields.ts";
import type { StructuralSchema } from "./structural_check.ts";

/** The structural schema of a field value; descriptions, defaults, bounds and `x-kubernetes-*` annotations survive. */
export const structuralSchemaOf = (
  schema: Schema.Top,
  embedded: EmbeddedSchemas = EMBEDDED_SCHEMAS,
): StructuralSchema =>
  structural(
    Schema.toJsonSchemaDocument(schema, {
      referencePolicy: () => undefined,
      includeAnnotationKey: (key) => key.startsWith("x-kubernetes-"),
    }).schema as Node,
    embedded,
  );

type EmbeddedSchemas = typeof EMBEDDED_SCHEMAS;

export const withoutDescriptions = (schema: StructuralSchema): StructuralSchema => {
  const { description: _, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties === undefined ? {} : {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withoutDescriptions(field)]),
      ),
    }),
    ...(items === undefined ? {} : { items: withoutDescriptions(items) }),
    ...(additionalProperties === undefined ? {} : {
      additionalProperties: typeof additionalProperties === "object"
        ? withoutDescriptions(additionalProperties)
        : additionalProperties,
    }),
  };
};

interface Node {
  readonly [key: string]: unknown;
}

const structural = (node: Node, embedded: EmbeddedSchemas): StructuralSchema => {
  const { [EMBEDDED_TYPE]: name, description } = folded(node);
  if (typeof name === "string") {
    const recorded = embedded[name as keyof EmbeddedSchemas];
    return typeof description === "string" ? { ...recorded, description } : recorded;
  }
  const { properties, items, additionalProperties, required, ...rest } = folded(node);
  const kept = Object.fromEntries(
    Object.entries(rest).filter(([key]) => KEPT.has(key) || key.startsWith("x-kubernetes-")),
  );
  if (kept["x-kubernetes-int-or-string"] === true) {
    const { "x-kubernetes-quantity": isQuantity, ...plain } = kept;
    return {
      ...(plain as StructuralSchema),
      anyOf: [{ type: "integer" }, { type: "string" }],
      ...(isQuantity === true ? { pattern: QUANTITY.source } : {}),
    };
  }
  return {
    ...(kept as StructuralSchema),
    ...(isObject(properties)
      ? {
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, inner]) => [key, structural(inner as unknown as Node, embedded)]),
        ),
      }
      : {}),
    // Next to properties, additionalProperties is forbidden in a CRD: unknown fields are pruned or refused by the API server.
    ...(isObject(additionalProperties) && properties === undefined
      ? { additionalProperties: structural(additionalProperties as unknown as Node, embedded) }
      : {}),
    ...(items === undefined ? {} : { items: structural(items as Node, embedded) }),
    ...(Array.isArray(required) && required.length > 0 ? { required: [...required].sort() } : {}),
  };
};

const KEPT = new Set([
  "type",
  "description",
  "default",
  "format",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);

/**
 * A node without `allOf`: several checks are generated as parts of an `allOf`, which a CRD does not allow together with
 * types. Of two bounds the tighter one is used; the bounds of JavaScript's own integers are removed, and so are
 * minimums of zero.
 */
const folded = (node: Node): Node => {
  const parts = [node, ...((node.allOf as ReadonlyArray<Node> | undefined) ?? [])];
  const merged: Record<string, unknown> = {};
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      if (key === "allOf") continue;
      const before = merged[key];
      if (key.startsWith("min") && typeof before === "number") merged[key] = Math.max(before, value as number);
      else if (key.startsWith("max") && typeof before === "number") merged[key] = Math.min(before, value as number);
      else if (before === undefined || key === "description") merged[key] = before ?? value;
    }
  }
  const noise = Object.entries(merged).filter(([key, value]) =>
    Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER && (key === "minimum" || key === "maximum") ||
    value === 0 && (key === "minLength" || key === "minItems" || key === "minProperties")
  ).map(([key]) => key);
  return Object.fromEntries(Object.entries(merged).filter(([key]) => !noise.includes(key)));
};
