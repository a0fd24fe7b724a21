/** Configs with one odd value each, at every place that the classes of a server have: in the smallest config that has the place. */
import { type Catalogue, type CatalogueField, type CatalogueModel } from "../core/config/servers/catalogue.ts";
import { fieldOfNested } from "../core/config/servers/field_types.ts";
import type { FieldPath } from "../core/data/field_path.ts";
import { isObject, type Json, type JsonObject } from "../core/data/json.ts";

export interface Mutation {
  readonly path: FieldPath;
  /** Undefined: the field is left out. */
  readonly value: Json | undefined;
  readonly field: CatalogueField;
  readonly config: JsonObject;
}

export const ODD_VALUES: ReadonlyArray<Json | undefined> = [
  ...[undefined, null, "nonsense", "5", "", "true", "https://example.com"],
  ...[5, 5.5, 0, -1, 100_000, true, [], ["a"], [5], [{}], {}, { a: 1 }, { a: "b" }, { type: "nonsense" }],
];

export const mutations = (catalogue: Catalogue, values = ODD_VALUES): ReadonlyArray<Mutation> => {
  const { models, backends, config: { class: name } } = catalogue;
  const model = models[name];
  if (model === undefined) return [];
  return [...ofMap(model, [], (config) => config, { models, backends }, values)];
};

type Classes = Pick<Catalogue, "models" | "backends">;
/** The whole config around a map. */
type Around = (inner: JsonObject) => JsonObject;

const ofMap = function* (
  model: CatalogueModel,
  path: FieldPath,
  around: Around,
  classes: Classes,
  values: typeof ODD_VALUES,
  more: JsonObject = {},
): Generator<Mutation> {
  const smallest = { ...smallestOf(model, classes), ...more };
  for (const [name, field] of Object.entries(model.fields)) {
    // A field that excludes one of the smallest map is tried without that.
    const apart = (model.apart ?? []).filter((pair) => pair.includes(name)).flat().filter((other) => other !== name);
    const rest = Object.fromEntries(Object.entries(smallest).filter(([key]) => key !== name && !apart.includes(key)));
    const place = [...path, name];
    for (const value of values) {
      yield { path: place, value, field, config: around(value === undefined ? rest : { ...rest, [name]: value }) };
    }
    yield* below(field, place, (value) => around({ ...rest, [name]: value }), classes, values);
  }
  for (const [first = "", second = ""] of model.apart ?? []) {
    const both = {
      ...smallest,
      [first]: right(model.fields[first], classes),
      [second]: right(model.fields[second], classes),
    };
    yield { path: [...path, second], value: "beside", field: { type: "any" }, config: around(both) };
  }
};

const below = function* (
  field: CatalogueField,
  path: FieldPath,
  around: (value: Json) => JsonObject,
  classes: Classes,
  values: typeof ODD_VALUES,
): Generator<Mutation> {
  const { models, backends } = classes;
  const model = models[field.model ?? ""];
  if (model !== undefined) yield* ofMap(model, path, around, classes, values);
  for (const [type, name] of Object.entries(field.variants ?? {})) {
    const variant = models[name];
    if (variant !== undefined) yield* ofMap(variant, path, around, classes, values, { type });
  }
  if (path.join(".") === "storage.backends") {
    for (const [type, backend] of Object.entries(backends)) {
      yield* ofMap(backend, [...path, "b"], (inner) => around({ b: inner }), classes, values, { type });
    }
  }
  for (const choice of field.choices ?? []) {
    if (choice.model === undefined || field.model === undefined) yield* below(choice, path, around, classes, values);
  }
  yield* ofNested(field.items, [...path, 0], (item) => around([item]), classes, values);
  const key = path.join(".") === "providers" ? "inference" : "k";
  yield* ofNested(field.values, [...path, key], (inner) => around({ [key]: inner }), classes, values);
};

const ofNested = function* (
  nested: CatalogueField["items"],
  path: FieldPath,
  around: (value: Json) => JsonObject,
  classes: Classes,
  values: typeof ODD_VALUES,
): Generator<Mutation> {
  if (nested === undefined) return;
  const field = fieldOfNested(nested);
  for (const value of values) if (value !== undefined) yield { path, value, field, config: around(value) };
  yield* below(field, path, around, classes, values);
};

const smallestOf = ({ fields, oneOf = [] }: CatalogueModel, classes: Classes): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, { required = false }]) => required || name === oneOf[0])
      .map(([name, field]) => [name, right(field, classes)]),
  );

/** A value that the field takes, as far as its class tells. */
const right = (field: CatalogueField | undefined, classes: Classes): Json => {
  const [first] = field?.enum ?? [];
  if (field === undefined) return "x";
  if (first !== undefined) return String(first);
  const [choice] = field.choices ?? [];
  if (choice !== undefined) return right(choice, classes);
  const [[type = "", variant = ""] = []] = Object.entries(field.variants ?? {});
  const model = classes.models[field.model ?? variant];
  switch (field.type) {
    case "object":
      return model === undefined ? {} : { ...smallestOf(model, classes), ...(type === "" ? {} : { type }) };
    case "array":
      return [];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return field.minimum ?? 5;
    case "url":
      return "https://example.com";
    default:
      return field.secret === true && isObject(field) ? "postgresql://user:word@host/db" : "x";
  }
};
