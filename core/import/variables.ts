/** What is known of the variables with which a config was run, and what a text with `${env.…}` is with them. */
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { convertedText, PLACEHOLDER } from "../config/known_environment.ts";

export type Variable =
  | { readonly kind: "value"; readonly value: string }
  /** Its value is in a Secret: in this one, or in one that is to be created. */
  | { readonly kind: "secret"; readonly ref?: { readonly name: string; readonly key: string } }
  /** Set, to a value that nobody knows here. */
  | { readonly kind: "open" };

export type Variables = ReadonlyMap<string, Variable>;

/** Empty: not set. Undefined: set, to a value that is not known. */
export type ValueOf = (variable: string) => string | undefined;

export const valueIn = (variables: Variables): ValueOf => (name) => {
  const found = variables.get(name);
  return found === undefined ? "" : found.kind === "value" ? found.value : undefined;
};

/** Names of variables and of fields whose value is a secret. */
export const SECRET_NAME =
  /(password|passwd|passphrase|secret|api_?key)s?$|(^|[-_.])(pass|pwd|secret_?access_?key|token|credentials?|private_?key|(api|access|auth|client)_?(key|token|secret)|bearer_?token(_bedrock)?|apikey)$/i;

/** Parameters of URLs that are secret, beside those that SECRET_NAME finds. */
const SECRET_PARAMETER = /(^|[-_.])(key|sig|signature|code)$/i;
const USER_IN_URL = /[a-z][a-z0-9+.-]{0,31}:\/\/([^/?#\s@:]*:[^/?#\s]+|[^/?#\s@:]+)@/i;
const SCHEME_AND_CREDENTIAL = /^\s*(bearer|basic)\s+\S+\s*$/i;

/** Whether a text has a secret in it, whatever it is called: a user or a parameter of a URL, a header, `password=…`. */
export const hasSecret = (text: string): boolean =>
  USER_IN_URL.test(text) || SCHEME_AND_CREDENTIAL.test(text) ||
  [...text.matchAll(/([?&#]?)([\w.-]{1,128})=[^&#;\s]/g)].some(([, before, name = ""]) =>
    SECRET_NAME.test(name) || before !== "" && SECRET_PARAMETER.test(name)
  );

/** `NAME=value` for each line, as for `docker run --env-file`; quotes around a value are left out. */
export const readEnvFile = (text: string): Variables =>
  new Map(
    text.split(/\r?\n/).flatMap((line): ReadonlyArray<[string, Variable]> => {
      const [, name = "", written = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return name === "" ? [] : [[name, variableOf(name, written.replace(/^(["'])(.*)\1$/, "$2"))]];
    }),
  );

/** A secret value goes no further than this. */
export const variableOf = (name: string, value: string): Variable =>
  value !== "" && (SECRET_NAME.test(name) || /_KEY$/i.test(name) || hasSecret(value))
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
