/** Whether a config class of a server accepts a value for one of its fields, after pydantic's own conversions. */
import { isList, isObject, type Json } from "../../data/json.ts";
import type { CatalogueField, FieldType, NestedType } from "./catalogue.ts";

/**
 * What the field accepts, as the end of a message; undefined if the value fits, or if only the server can decide. A value that
 * comes from a variable is text wherever it is written, and has no quotes to leave out.
 */
export const expectedInstead = (field: CatalogueField, value: Json, isOfVariable = false): string | undefined => {
  if (field.file === true && typeof value === "string" && QUOTED_BOOLEAN.test(value)) {
    if (field.quotedBoolean === true && /^(true|false)$/i.test(value)) return undefined;
    if (!isOfVariable) return A_FILE;
    return field.type === "any" ? A_BOOLEAN_OR_FILE : "the path of a file";
  }
  // The server expands the environment first, and then converts the text.
  const isOpen = !isOfVariable && isPlaceholder(value);
  if (field.type === "any") return expectedOfSeveral(field, value, isOfVariable);
  if (field.converted === true) return value === null && field.required === true ? EXPECTED[field.type] : undefined;
  if (value === null) return field.nullable === true ? undefined : EXPECTED[field.type];
  if (isOpen) return undefined;
  if (!FITS[field.type](value)) return EXPECTED[field.type];
  if (field.notEmpty === true && isEmpty(value)) return `${EXPECTED[field.type]} that is not empty`;
  const outside = outsideOf(field, value);
  if (outside !== undefined) return outside;
  if (field.type === "url" && !URL.canParse(String(value).trim())) {
    return "a URL with a valid host, and a port of at most 65535";
  }
  if (field.type === "url" && field.schemes !== undefined && !hasScheme(String(value), field.schemes)) {
    return `a URL that begins with ${field.schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  }
  const { items, values } = field;
  if (typeof items === "string" && isList(value)) {
    return value.some((item) => isUnfit(items, item)) ? `a list with ${EXPECTED[items]} as each item` : undefined;
  }
  if (typeof values === "string" && isObject(value)) {
    return Object.values(value).some((item) => isUnfit(values, item))
      ? `a map with ${EXPECTED[values]} as each value`
      : undefined;
  }
  const lacking = field.contains?.filter((part) => !isIn(String(value), part)) ?? [];
  if (lacking.length > 0) return `a text with ${lacking.join(" and ")} in it`;
  if (field.pattern !== undefined && !new RegExp(`^(?:${field.pattern})$`, "u").test(String(value))) {
    return `a text that matches ${field.pattern}`;
  }
  const words = field.type === "string" ? field.enum : undefined;
  return words === undefined || words.includes(value) ? undefined : `one of ${words.join(", ")}`;
};

/** Of a value that the server reads from variables, what it accepts instead, as the end of a message; undefined if it fits. */
export const expectedOfVariable = (field: CatalogueField, value: Json): string | undefined => {
  const expected = expectedInstead(field, value, true);
  if (expected === undefined) return undefined;
  const isConverted = field.type === "string" && (typeof value === "number" || typeof value === "boolean");
  return isConverted
    ? `expected ${expected}; the server converts variables that look like a ${typeof value}: choose a value with letters`
    : `expected ${expected}`;
};

export const fieldOfNested = (nested: NestedType): CatalogueField =>
  typeof nested === "string" ? { type: nested } : nested;

/** Fields of several types, such as a number or a map; or true, false or the path of a file. */
const expectedOfSeveral = (field: CatalogueField, value: Json, isOfVariable: boolean): string | undefined => {
  if (value === null && field.nullable === true) return undefined;
  if (!isOfVariable && isPlaceholder(value)) return undefined;
  if (field.file === true) {
    const isBoolean = typeof value === "boolean" || field.converted !== true && (value === 0 || value === 1);
    return isBoolean || typeof value === "string" ? undefined : A_BOOLEAN_OR_FILE;
  }
  const { choices = [], converted = false } = field;
  if (converted) return undefined;
  const others = choices.map((choice) => expectedInstead(choice, value, isOfVariable));
  return others.includes(undefined) ? undefined : choices.length === 0 ? undefined : others.join(" or ");
};

/** The range that the field accepts, if the number is not in it. A text is converted first. */
const outsideOf = (
  { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: CatalogueField,
  value: NonNullable<Json>,
): string | undefined => {
  const number = typeof value === "string" ? Number(value.replaceAll("_", "")) : Number(value);
  if (type !== "integer" && type !== "number" || Number.isNaN(number)) return undefined;
  const kind = EXPECTED[type];
  if (minimum !== undefined && number < minimum) return `${kind} of at least ${minimum}`;
  if (exclusiveMinimum !== undefined && number <= exclusiveMinimum) return `${kind} greater than ${exclusiveMinimum}`;
  if (maximum !== undefined && number > maximum) return `${kind} of at most ${maximum}`;
  if (exclusiveMaximum !== undefined && number >= exclusiveMaximum) return `${kind} less than ${exclusiveMaximum}`;
  return undefined;
};

/** What authors quote although most of these fields also accept a boolean: it would be the path of a file. */
const QUOTED_BOOLEAN = /^(true|false|yes|no|on|off|y|n|0|1|)$/i;
const A_BOOLEAN_OR_FILE = "true, false or the path of a file";
const A_FILE = "the path of a file; write true or false without quotes";

const isEmpty = (value: Json): boolean =>
  isObject(value) ? Object.keys(value).length === 0 : value === "" || isList(value) && value.length === 0;

/** Placeholders are in braces, and the case of other words does not matter. */
const isIn = (text: string, part: string): boolean =>
  part.startsWith("{") ? text.includes(part) : text.toLowerCase().includes(part);

const isPlaceholder = (value: Json): boolean => typeof value === "string" && value.includes("${env.");

const isUnfit = (type: Exclude<FieldType, "any">, item: Json): boolean =>
  item === null || !isPlaceholder(item) && !FITS[type](item);

const hasScheme = (url: string, schemes: ReadonlyArray<string>): boolean => {
  const [, scheme = "", host = ""] = /^([a-z][a-z0-9+.-]*):\/*([^/?#]*)/i.exec(url.trim()) ?? [];
  return schemes.includes(scheme.toLowerCase()) && host !== "";
};

const EXPECTED: Readonly<Record<Exclude<FieldType, "any">, string>> = {
  string: "a string",
  url: "a URL",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a map",
  array: "a list",
};

const FITS: Readonly<Record<Exclude<FieldType, "any">, (value: NonNullable<Json>) => boolean>> = {
  string: (value) => typeof value === "string",
  url: (value) => typeof value === "string" && URL_START.test(value.trim()),
  integer: (value) =>
    typeof value === "boolean" || Number.isInteger(value) || typeof value === "string" && WHOLE.test(value.trim()),
  number: (value) =>
    typeof value === "boolean" || typeof value === "number" || typeof value === "string" && NUMBER.test(value.trim()),
  boolean: (value) =>
    typeof value === "boolean" || value === 0 || value === 1 ||
    typeof value === "string" && BOOLEAN.has(value.toLowerCase()),
  object: isObject,
  array: isList,
};

const URL_START = /^[a-z][a-z0-9+.-]*:/i;
const WHOLE = /^[-+]?[0-9]+(_[0-9]+)*(\.0*)?$/;
const NUMBER = /^[-+]?(nan|inf|infinity|([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)(e[-+]?[0-9]+)?)$/i;
const BOOLEAN: ReadonlySet<string> = new Set(["0", "1", "f", "false", "n", "no", "off", "on", "t", "true", "y", "yes"]);
