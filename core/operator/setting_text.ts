/** The text of one setting: parsing as YAML, and quoting in messages. */
import * as Result from "effect/Result";
import { isObject, type Json, type JsonObject } from "../data/json.ts";
import { readYaml11 } from "../data/yaml.ts";

/** A map, or the end of an error message. */
export const yamlMap = (text: string): JsonObject | string => {
  const read = readYaml11(text);
  if (Result.isFailure(read)) return `: invalid YAML: ${read.failure.detail}`;
  return isObject(read.success) ? read.success : ": expected a map";
};

export const shown = (value: Json): string => {
  const text = typeof value === "string" ? `"${value}"` : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
};
