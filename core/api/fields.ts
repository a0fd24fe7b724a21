/**
 * The few field shapes that make up the API: an Effect Schema value each, with its bounds and its description.
 *
 * Annotations stand before checks: an annotation behind a check is attached to the check and does not reach the CRD.
 */
import { QUANTITY_CHARACTERS_MAX } from "../data/limits.ts";
import { type Json, member } from "../data/json.ts";
import * as Schema from "effect/Schema";
import {
  DATA_KEY,
  DATA_KEY_MAX,
  NAMESPACE_NAME,
  NAMESPACE_NAME_MAX,
  OBJECT_NAME,
  OBJECT_NAME_MAX,
} from "./object_names.ts";

/** A string with length bounds in characters, as the API server counts them. */
export const text = (doc: string, bounds: { min?: number; max: number; pattern?: RegExp }) => {
  const base = Schema.String.annotate({ description: doc });
  const min = bounds.min ?? 1;
  const length = Schema.isBetweenCodePoints(min, bounds.max, {
    expected: `a string of ${min} to ${bounds.max} characters`,
  });
  return bounds.pattern === undefined ? base.check(length) : base.check(
    length,
    Schema.isPattern(bounds.pattern, { expected: `a string that matches ${bounds.pattern.source}` }),
  );
};

/** Name of a referenced Secret, ConfigMap, claim or ServiceAccount. */
export const objectName = (doc: string) =>
  named(
    doc,
    OBJECT_NAME_MAX,
    OBJECT_NAME,
    `a name of at most ${OBJECT_NAME_MAX} lower-case letters, digits, "-" and "."`,
  );

/** Name of a namespace. */
export const namespaceName = (doc: string) =>
  named(
    doc,
    NAMESPACE_NAME_MAX,
    NAMESPACE_NAME,
    `a namespace of at most ${NAMESPACE_NAME_MAX} lower-case letters, digits and "-"`,
  );

/** Key of a referenced Secret or ConfigMap. */
export const dataKey = (doc: string) =>
  named(doc, DATA_KEY_MAX, DATA_KEY, `a key of at most ${DATA_KEY_MAX} letters, digits, "-", "_" and "."`);

/** One message for both checks: a name that fails both is one mistake. */
export const named = (doc: string, max: number, pattern: RegExp, expected: string) =>
  Schema.String.annotate({ description: doc }).check(
    Schema.isBetweenCodePoints(1, max, { expected }).abort(),
    Schema.isPattern(pattern, { expected }),
  );

/** One of a fixed set of strings. */
export const oneOf = <const Words extends ReadonlyArray<string>>(doc: string, words: Words, fallback?: Words[number]) =>
  Schema.Literals(words).annotate({ description: doc, ...(fallback === undefined ? {} : { default: fallback }) });

/** A 32-bit integer within bounds; without `max` the type's own bound holds. */
export const int32 = (doc: string, bounds: { min?: number; max?: number; fallback?: number } = {}) => {
  const { min = -2_147_483_648, max = 2_147_483_647, fallback } = bounds;
  return Schema.Int.annotate({
    description: doc,
    format: "int32",
    ...(fallback === undefined ? {} : { default: fallback }),
  }).check(Schema.isBetween({ minimum: min, maximum: max }, { expected: `a whole number from ${min} to ${max}` }));
};

export const int64 = (doc: string) => Schema.Int.annotate({ description: doc, format: "int64" });

export const bool = (doc: string, fallback?: boolean) =>
  Schema.Boolean.annotate({ description: doc, ...(fallback === undefined ? {} : { default: fallback }) });

const sized = ({ min = 0, max }: { readonly min?: number; readonly max: number }) =>
  Schema.isBetweenLength(min, max, { expected: `a list of ${min} to ${max} items` });

/** A list that is replaced as a whole by server-side apply (a map list would need a required key). */
export const list = <Item extends Schema.Top>(doc: string, item: Item, bounds: { min?: number; max: number }) =>
  Schema.Array(item).annotate({ description: doc, "x-kubernetes-list-type": "atomic" }).check(
    sized(bounds),
  );

/** A list whose items are owned one by one, by the required field `key`. */
export const keyed = <Item extends Schema.Top>(doc: string, item: Item, key: string, bounds: { max: number }) =>
  Schema.Array(item).annotate({
    description: doc,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
  }).check(sized(bounds));

/** The same, with each key once only. */
export const byKey = <Item extends Schema.Top>(doc: string, item: Item, key: string, bounds: { max: number }) =>
  keyed(doc, item, key, bounds).check(noneTwice((entry) => ({ [key]: member(entry as Json, key) ?? null })));

export const byName = <Item extends Schema.Top>(doc: string, item: Item, bounds: { max: number }) =>
  byKey(doc, item, "name", bounds);

/** A list without duplicates whose items are owned one by one. */
export const set = <Item extends Schema.Top>(doc: string, item: Item, bounds: { min?: number; max: number }) =>
  Schema.Array(item).annotate({ description: doc, "x-kubernetes-list-type": "set" }).check(
    sized(bounds),
    noneTwice((entry) => entry as Json),
  );

/** In the words of the API server. */
const noneTwice = (keyOf: (item: unknown) => Json) =>
  Schema.makeFilter(
    (items: ReadonlyArray<unknown>) => {
      const seen = new Set<string>();
      return items.flatMap((entry, index) => {
        const key = JSON.stringify(keyOf(entry));
        if (seen.has(key)) return [{ path: [index], issue: `Duplicate value: ${key}` }];
        seen.add(key);
        return [];
      });
    },
    { expected: "no item twice" },
  );

/** String keys to values of one shape. */
export const map = <Value extends Schema.Top>(
  doc: string,
  value: Value,
  bounds: { min?: number; max: number; keyMax?: number },
) => {
  const sized = Schema.Record(Schema.String, value).annotate({ description: doc }).check(
    Schema.isBetweenProperties(bounds.min ?? 0, bounds.max, {
      expected: `${bounds.min ?? 0} to ${bounds.max} entries`,
    }),
  );
  const keyMax = bounds.keyMax ?? 317;
  return sized.check(
    Schema.makeFilter(
      (entries: { readonly [key: string]: unknown }) =>
        Object.keys(entries).filter((key) => key.length === 0 || key.length > keyMax)
          .map((key) => ({ path: [key], issue: `Expected a key of 1 to ${keyMax} characters` })),
    ),
  );
};

/** An object whose fields all have a place in the schema. */
export const struct = <const Fields extends Schema.Struct.Fields>(doc: string, fields: Fields) =>
  Schema.Struct(fields).annotate({ description: doc });

/** An object of any content, stored unchanged. */
export const freeForm = (doc: string) =>
  Schema.Record(Schema.String, Schema.Json).annotate({
    description: doc,
    "x-kubernetes-preserve-unknown-fields": true,
  });

/** The same with at most so many fields. */
export const boundedFreeForm = (doc: string, bounds: { max: number }) =>
  freeForm(doc).check(
    Schema.isBetweenProperties(1, bounds.max, { expected: `1 to ${bounds.max} entries` }),
  );

/** A whole number or a percentage. */
export const intOrString = (doc: string) =>
  Schema.Union([Schema.Int, Schema.String]).annotate({ description: doc, "x-kubernetes-int-or-string": true });

/** An amount such as `10Gi` or `500m`. Pattern: the API server's own for quantities. */
export const quantity = (doc: string) =>
  Schema.Union([Schema.Int, Schema.String]).annotate({
    description: doc,
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-quantity": true,
  }).check(
    Schema.makeFilter((amount: string | number) => isQuantity(String(amount)), {
      expected: "a quantity such as 10Gi",
    }),
  );

/** Also written into the CRD (structural_schema.ts), where the API server checks it. */
export const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

export const isQuantity = (text: string): boolean => text.length <= QUANTITY_CHARACTERS_MAX && QUANTITY.test(text);

export const optional = Schema.optionalKey;
