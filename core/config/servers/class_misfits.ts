/** What a class of a server refuses of a map, here and in the maps and lists below it: the judgement of its own parser. */
import { didYouMean } from "../../data/closest.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import {
  absentFields,
  type Catalogue,
  type CatalogueField,
  type CatalogueModel,
  type NestedType,
  type ValueType,
} from "./catalogue.ts";
import { expectedInstead, expectedOfVariable, fieldOfNested } from "./field_types.ts";

export interface Misfit {
  readonly path: FieldPath;
  /** What is wrong, and what to write. Without values that may be secrets. */
  readonly message: string;
  /** With the variables that the value comes from; unset if it comes from none. */
  readonly text?: string;
}

/** What the server reads instead of a text with variables; undefined if that is not known. */
type Expanded = (text: string) => Json | undefined;

const NOT_KNOWN: Expanded = () => undefined;

/** Of some places nothing is said, such as items of lists that the server leaves out. */
export type IsUnread = (value: Json, path: FieldPath) => boolean;

interface Reader {
  readonly models: Catalogue["models"];
  readonly isUnread: IsUnread;
  readonly expanded: Expanded;
}

export const classMisfits = (
  model: CatalogueModel,
  value: JsonObject,
  path: FieldPath,
  { models }: Pick<Catalogue, "models">,
  isUnread: IsUnread = () => false,
  expanded: Expanded = NOT_KNOWN,
): ReadonlyArray<Misfit> => ofMap(model, value, path, { models, isUnread, expanded });

/** Of the items of a list, or the values of a map with any keys, that are more than plain values. */
export const nestedMisfits = (
  field: ValueType,
  value: Json,
  path: FieldPath,
  { models }: Pick<Catalogue, "models">,
): ReadonlyArray<Misfit> => ofNested(field, value, path, { models, isUnread: () => false, expanded: NOT_KNOWN });

/** Conditions between the fields of a class. */
export const ruleMisfits = (
  { oneOf = [], apart = [] }: CatalogueModel,
  value: JsonObject,
  path: FieldPath,
  expanded: Expanded = NOT_KNOWN,
): ReadonlyArray<Misfit> => {
  /** Of a variable that only the pod knows, undefined: the field may be set or not. */
  const isWritten = (name: string): boolean | undefined => {
    const written = Object.hasOwn(value, name) ? value[name] : null;
    const read = isVariable(written) ? expanded(written) : written;
    return read === undefined ? undefined : read !== null;
  };
  return [
    ...(oneOf.length > 0 && oneOf.every((name) => isWritten(name) === false)
      ? [{ path: [...path, ...oneOf.slice(0, 1)], message: `missing; write ${oneOf.join(" or ")}` }]
      : []),
    ...apart.filter((pair) => pair.every((name) => isWritten(name) === true)).map(([first = "", second = ""]) => ({
      path: [...path, second],
      message: `not allowed beside ${first}; remove one of the two`,
    })),
  ];
};

const isVariable = (value: Json | undefined): value is string => typeof value === "string" && value.includes("${env.");

/** The class of the map, by the field that has it. */
export const classOf = (
  { model, variants = {} }: ValueType,
  value: JsonObject,
  { models }: Pick<Catalogue, "models">,
): CatalogueModel | undefined => {
  const chosen = stringAt(value, "type") ?? "";
  return models[model ?? (Object.hasOwn(variants, chosen) ? variants[chosen] : undefined) ?? ""];
};

const ofMap = (
  model: CatalogueModel,
  value: JsonObject,
  path: FieldPath,
  reader: Reader,
  isConverted = false,
): ReadonlyArray<Misfit> => {
  const { fields, extra, converted = false } = model;
  return [
    ...(isConverted ? [] : absentFields(fields, value).map((name) => missing([...path, name], fields[name]))),
    ...ruleMisfits(model, value, path, reader.expanded),
    ...Object.entries(value).flatMap(([key, inner]): ReadonlyArray<Misfit> => {
      const place = [...path, key];
      const field = fieldOf(fields, key);
      if (field !== undefined) return ofValue(field, inner, place, reader, converted);
      return extra !== "forbid" ? [] : [{
        path: place,
        message: `no such field${didYouMean(key, Object.keys(fields)) || `; remove it`}`,
      }];
    }),
  ];
};

export const fieldOf = (fields: CatalogueModel["fields"], key: string): CatalogueField | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : Object.values(fields).find(({ aliases = [] }) => aliases.includes(key));

const missing = (path: FieldPath, field: CatalogueField | undefined): Misfit => {
  const words = field?.enum === undefined ? undefined : `one of ${field.enum.join(", ")}`;
  const expected = words ?? (field === undefined ? undefined : expectedInstead(field, NOWHERE));
  return { path, message: `missing; write ${expected ?? "it"}` };
};

/** No field takes it, so that each says what it takes. */
const NOWHERE: Json = [[]];

const ofValue = (
  field: CatalogueField,
  value: Json,
  path: FieldPath,
  reader: Reader,
  isConverted = false,
): ReadonlyArray<Misfit> => {
  if (reader.isUnread(value, path)) return [];
  const read = expandedIn(value, reader);
  if (read !== undefined) return ofText(field, read, String(value), path);
  const expected = expectedInstead(field, value);
  if (expected !== undefined) {
    return [{ path, message: `${refused(field, value, path)}; ${instead(field, value, expected)}` }];
  }
  const chosen = field.choices?.filter((choice) => expectedInstead(choice, value) === undefined)
    .toSorted((a, b) => keysOf(b, value, reader) - keysOf(a, value, reader))
    .map((choice) => ofValue(choice, value, path, reader));
  if (chosen !== undefined && chosen.length > 0) return chosen.find((found) => found.length === 0) ?? chosen[0] ?? [];
  if (field.converted === true) return [];
  if (!isObject(value)) return ofNested(field, value, path, reader);
  const model = classOf(field, withType(value, reader), reader);
  if (model !== undefined) return ofMap(model, value, path, reader, isConverted);
  return field.variants === undefined
    ? ofNested(field, value, path, reader)
    : unknownVariant(field, value, path, reader.expanded);
};

const expandedIn = (value: Json | undefined, { expanded }: Pick<Reader, "expanded">): Json | undefined =>
  isVariable(value) ? expanded(value) : undefined;

const withType = (value: JsonObject, reader: Reader): JsonObject => {
  const type = expandedIn(value.type, reader);
  return type === undefined ? value : { ...value, type };
};

/** Without the value, which may be a secret. */
const ofText = (field: CatalogueField, read: Json, text: string, path: FieldPath): ReadonlyArray<Misfit> => {
  const message = expectedOfVariable(field, read);
  return message === undefined ? [] : [{ path, message, text }];
};

/** How many of its keys the choice knows: of what no choice accepts, the nearest one tells why. */
const keysOf = (choice: ValueType, value: Json, reader: Reader): number => {
  if (!isObject(value)) return 0;
  const fields = classOf(choice, withType(value, reader), reader)?.fields ??
    (choice.variants === undefined ? {} : TYPE);
  return Object.keys(value).filter((key) => fieldOf(fields, key) !== undefined).length;
};

const TYPE: CatalogueModel["fields"] = { type: { type: "string" } };

const ofNested = (
  { items, values }: ValueType,
  value: Json,
  path: FieldPath,
  reader: Reader,
): ReadonlyArray<Misfit> => {
  const ofItem = (nested: NestedType, item: Json, place: FieldPath) =>
    // The others have been judged with the whole.
    typeof nested === "object" || isVariable(item) ? ofValue(fieldOfNested(nested), item, place, reader) : [];
  if (items !== undefined && isList(value)) {
    return value.flatMap((item, index) => ofItem(items, item, [...path, index]));
  }
  return values === undefined || !isObject(value)
    ? []
    : Object.entries(value).flatMap(([key, inner]) => ofItem(values, inner, [...path, key]));
};

/** Of a map whose class its `type` decides. */
export const unknownVariant = (
  { variants = {}, tagged = false }: CatalogueField,
  value: JsonObject,
  path: FieldPath,
  expanded: Expanded = NOT_KNOWN,
): ReadonlyArray<Misfit> => {
  const names = Object.keys(variants);
  const { type } = value;
  if (type === undefined && !tagged) return [];
  const place = [...path, "type"];
  const field: CatalogueField = { type: "string", enum: names };
  if (isVariable(type)) {
    const read = expanded(type);
    return read === undefined ? [] : ofText(field, read, type, place);
  }
  return type === undefined ? [missing(place, field)] : [{
    path: place,
    message: `${refused(field, type, place)}; ${instead(field, type, `one of ${names.join(", ")}`)}`,
  }];
};

const instead = (field: ValueType, value: Json, expected: string): string => {
  const isText = field.type === "string" && field.enum === undefined && ["number", "boolean"].includes(typeof value);
  const near = typeof value === "string" && field.enum !== undefined ? didYouMean(value, field.enum.map(String)) : "";
  return `write ${expected}${isText ? ", in quotes" : ""}${near}`;
};

/** The value, unless it may be a secret, or a map or list. */
const refused = (field: CatalogueField, value: Json, path: FieldPath): string => {
  if (value === null) return "empty";
  if (isObject(value)) return "a map is not accepted here";
  if (isList(value)) return "a list is not accepted here";
  const isPlain = field.type !== "object" && typeof field.items !== "object";
  const isNumber = typeof value === "number" && (field.type === "integer" || field.type === "number");
  const isSecret = field.secret === true || path.some((step) => SECRET.test(String(step)));
  const mayBeSecret = isSecret || typeof value === "string" && !isPlain;
  if (mayBeSecret && !isNumber) return "this value is not accepted";
  return `${typeof value === "string" ? quoted(value) : value} is not accepted`;
};

const SECRET = /key|token|password|secret|credential|authorization/i;
