/** Random objects of both API versions for the conversion tests, made from the schemas that the API server is given. */
import fc from "fast-check";
import { resourceSchema, resourceSchemaV1alpha1 } from "../core/api/crd.ts";
import { EMBEDDED_SCHEMAS } from "../core/api/embedded.ts";
import type { StructuralSchema } from "../core/api/structural_check.ts";
import type { Json, JsonObject } from "../core/data/json.ts";

const words = fc.oneof(
  fc.constantFrom("", "a", "llama-stack", "ca.crt", "ConfigMap", "größe", "日本", "🦙", 'q"\\\n', "__proto__"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

/** Kubernetes' own types are moved as a whole: a few values tell as much as all of them. */
const EMBEDDED = fc.constantFrom<Json>(
  {},
  { name: "A", value: "" },
  { name: "B", value: "0", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: false } } },
  { limits: {}, requests: { cpu: 0 } },
  { claims: [{ name: "gpu" }] },
  { name: "v", emptyDir: {} },
  { maxSkew: 0, topologyKey: "zone", labelSelector: {} },
);

const arbitraryOf = (schema: StructuralSchema): fc.Arbitrary<Json> => {
  if (Object.values(EMBEDDED_SCHEMAS).includes(schema)) return EMBEDDED;
  if (schema["x-kubernetes-int-or-string"] === true) return fc.constantFrom<Json>(0, 1, "0", "10Gi", "50%", "");
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum as ReadonlyArray<Json>);
  switch (schema.type) {
    case "string":
      return words;
    case "integer":
      return fc.constantFrom(0, 1, 2, 80, 8321, 70_000, -1);
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(arbitraryOf(schema.items ?? {}), { maxLength: 2 });
    case "object":
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 }).map(plain);
  }
};

const objectOf = (schema: StructuralSchema): fc.Arbitrary<Json> => {
  if (schema.properties === undefined) {
    const entry = typeof schema.additionalProperties === "object"
      ? arbitraryOf(schema.additionalProperties)
      : undefined;
    return fc.dictionary(words, entry ?? fc.jsonValue({ maxDepth: 2 }).map(plain), {
      maxKeys: 2,
      noNullPrototype: true,
    }) as fc.Arbitrary<Json>;
  }
  const fields = Object.entries(schema.properties).map(([key, inner]) => ({ key, value: arbitraryOf(inner) }));
  const required = new Set(schema.required ?? []);
  // A few fields at a time, so that empty and nearly empty blocks are common.
  const free = fields.filter(({ key }) => !required.has(key));
  return fc.subarray(free, { maxLength: Math.min(4, free.length) })
    .chain((some) => {
      const kept = [...fields.filter(({ key }) => required.has(key)), ...some];
      return fc.record(Object.fromEntries(kept.map(({ key, value }) => [key, value])), { noNullPrototype: true });
    }) as fc.Arbitrary<Json>;
};

/** As JSON has it: no negative zero, no undefined. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const annotations = fc.dictionary(
  fc.constantFrom(
    "llamastack.io/conversion-leftovers",
    "v1alpha1.leftovers.llamastack.io/spec.replicas",
    "v1alpha2.leftovers.llamastack.io/spec.suspend",
    "llamastack.io/v1alpha1-extras",
    "llamastack.io/v1alpha2-extras",
    "llamastack.io/v1alpha1-ca-bundle-keys",
    "team/own",
    "kubectl.kubernetes.io/last-applied-configuration",
  ),
  // None of them is what the operators wrote; those have tests of their own.
  fc.constantFrom("", "{", "no json", "[]", "null", '{"v1alpha3":[]}', '{"v1alpha1":[{"at":["metadata"]}]}', '"größe"'),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true },
);

const metadata = fc.record(
  { name: fc.constantFrom("my", "größe"), uid: fc.constant("u"), generation: fc.constant(3), annotations },
  { requiredKeys: ["name"], noNullPrototype: true },
);

const objectsOf = (apiVersion: string, schema: StructuralSchema): fc.Arbitrary<JsonObject> =>
  fc.record({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant("LlamaStackDistribution"),
    metadata,
    spec: arbitraryOf(schema.properties?.spec ?? {}),
    status: arbitraryOf(schema.properties?.status ?? {}),
  }, { requiredKeys: ["apiVersion", "kind", "metadata", "spec"], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

export const arbitraryV1alpha1 = objectsOf("llamastack.io/v1alpha1", resourceSchemaV1alpha1());
export const arbitraryV1alpha2 = objectsOf("llamastack.io/v1alpha2", resourceSchema());

/** Not even objects of ours: what no schema would let through, and `/convert` must survive. */
export const arbitraryNonsense: fc.Arbitrary<JsonObject> = fc.record({
  apiVersion: fc.constantFrom("llamastack.io/v1alpha1", "llamastack.io/v1alpha2"),
  metadata,
  spec: fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom("server", "network", "workload", "networking", "distribution", "x.y", "__proto__"),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.dictionary(
          fc.constantFrom("containerSpec", "tlsConfig", "storage", "expose", "overrides", "allowedFrom", "constructor"),
          fc.jsonValue({ maxDepth: 2 }),
          { noNullPrototype: true },
        ),
      ),
      { noNullPrototype: true },
    ),
  ),
  status: fc.jsonValue(),
}, { requiredKeys: ["apiVersion", "metadata"], noNullPrototype: true }).map((value) => plain(value) as JsonObject);
