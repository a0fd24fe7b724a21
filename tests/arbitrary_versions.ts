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

const MARKS = ["\u0000int:5", "\u0000int:007", "\u0000int:9007199254740993", "\ud800", "\u2028", "__proto__"];

/** JSON text, some of it with integers that JavaScript rounds, and some that is no JSON. */
const leftoverText = fc.letrec<{ readonly value: Json; readonly leftover: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(...MARKS, 1, null, true, "@9007199254740993", "@-9223372036854775808", "@1e999"),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...MARKS, "a", "constructor"), tie("value"), { maxKeys: 2, noNullPrototype: true }),
  ) as fc.Arbitrary<Json>,
  leftover: fc.record({
    at: fc.array(fc.constantFrom("spec", "status", "server", "workload", "metadata", ...MARKS), { maxLength: 4 })
      .map((path) => ["spec", ...path]),
    to: tie("value"),
    was: tie("value"),
    while: fc.dictionary(fc.constantFrom("spec", "spec.a"), tie("value"), { maxKeys: 1, noNullPrototype: true }),
  }, { requiredKeys: ["at"], noNullPrototype: true }) as fc.Arbitrary<Json>,
}));

const OWN_KEYS = [
  "llamastack.io/conversion-leftovers",
  "llamastack.io/incomplete-conversion",
  "llamastack.io/v1alpha1-extras",
  "llamastack.io/v1alpha2-extras",
  "llamastack.io/v1alpha1-ca-bundle-keys",
  "v1alpha1.leftovers.llamastack.io/spec.replicas",
  "v1alpha1.leftovers.llamastack.io/spec.server.storage",
  "v1alpha2.leftovers.llamastack.io/spec.suspend",
  "v1alpha2.leftovers.llamastack.io/spec.providers",
];

const hostileText = fc.oneof(
  fc.record({
    v1alpha1: fc.array(leftoverText.leftover, { maxLength: 2 }),
    v1alpha2: fc.array(leftoverText.leftover, { maxLength: 2 }),
    kept: fc.dictionary(
      fc.constantFrom(...OWN_KEYS, "a.example/b", "no key at all!"),
      fc.oneof(leftoverText.value, fc.constantFrom("x".repeat(40_000), "\u0001".repeat(20_000))),
      { maxKeys: 2, noNullPrototype: true },
    ),
  }, { requiredKeys: [], noNullPrototype: true }),
  leftoverText.leftover.map((leftover) => {
    const { at: _, ...rest } = leftover as JsonObject;
    return rest;
  }),
  leftoverText.value,
).map((value) => JSON.stringify(value).replaceAll(/"@([^"]*)"/g, "$1"));

/** What a tenant may write to mislead the conversion, up to the length that the API server takes. */
export const hostileAnnotations: fc.Arbitrary<JsonObject> = fc.record({
  own: fc.dictionary(fc.constantFrom(...OWN_KEYS), hostileText, { maxKeys: 4, noNullPrototype: true }),
  free: fc.constantFrom(0, 0, 20, 100, 300, 1000, 20_000),
  isFull: fc.nat({ max: 9 }).map((number) => number === 0),
}).map(({ own, free, isFull }): JsonObject => {
  const bytes = new TextEncoder().encode(Object.entries(own).flat().join("")).length;
  const left = 256 * 1024 - bytes - free - "a.example/b".length;
  return isFull && left > 0 ? { ...own, "a.example/b": "x".repeat(left) } : own;
});

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
