/** What is known of the variables with which a config was run, and what a text with `${env.…}` is with them. */
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { convertedText, PLACEHOLDER } from "../config/known_environment.ts";
import { hasSecret, SECRET_NAME } from "../config/secret_text.ts";

export type Variable =
  | { readonly kind: "value"; readonly value: string }
  /** Its value is in a Secret: in this one, or in one that is to be created. */
  | { readonly kind: "secret"; readonly ref?: { readonly name: string; readonly key: string } }
  /** Set, to a value that nobody knows here. */
  | {
    readonly kind: "open";
    /** Where it is from, such as a ConfigMap. */
    readonly valueFrom?: JsonObject;
  };

export type Variables = ReadonlyMap<string, Variable>;

/** Empty: not set. Undefined: set, to a value that is not known. */
export type ValueOf = (variable: string) => string | undefined;

export const valueIn = (variables: Variables): ValueOf => (name) => {
  const found = variables.get(name);
  return found === undefined ? "" : found.kind === "value" ? found.value : undefined;
};

/** `NAME=value` for each line, as Compose reads it: with quotes, comments after a value, and `export`. */
export const readEnvFile = (text: string): Variables =>
  new Map(
    [...text.matchAll(ENV_LINE)].map(([, name = "", double, single, plain = ""]): [string, Variable] => [
      name,
      variableOf(
        name,
        double?.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? letter) ??
          single?.replaceAll("\\'", "'") ?? plain.replace(/[ \t]#.*$/, "").trim(),
      ),
    ]),
  );

/** A quote that nothing closes is part of a plain value. */
const ENV_LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?:[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)')[ \t]*(?:[ \t]#.*)?\r?$|(.*))/gm;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A secret value goes no further than this. Each service has a header of its own for its key. */
export const variableOf = (name: string, value: string): Variable =>
  value !== "" && (SECRET_NAME.test(name) || /_(KEY|HEADERS)$/i.test(name) || hasSecret(value))
    ? { kind: "secret" }
    : { kind: "value", value };

/** The text with every variable that is known in its place; converted as the server does if none is left. */
export const settledText = (text: string, valueOf: ValueOf): Json => {
  if (!text.includes("${env.")) return text;
  let open = false;
  const settled = text.replaceAll(PLACEHOLDER, (_, variable: string, operator?: string, operand = "") => {
    const value = valueOf(variable);
    if (operator === "+") return value === "" ? "" : operand;
    if (value !== undefined && value !== "") return value;
    if (operator === "=" && value === "") return operand;
    open = true;
    return `\${env.${variable}}`;
  });
  return open || settled.includes("${env.") ? settled : convertedText(settled);
};

export const settled = (value: Json, valueOf: ValueOf): Json => {
  if (typeof value === "string") return settledText(value, valueOf);
  if (isList(value)) return value.map((item) => settled(item, valueOf));
  return isObject(value) ? settledMap(value, valueOf) : value;
};

export const settledMap = (map: JsonObject, valueOf: ValueOf): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([key, inner]) => [key, settled(inner, valueOf)]));
