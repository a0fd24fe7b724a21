/** What is known of the variables with which a config was run, and what a text with `${env.…}` is with them. */
import { isList, isObject, type Json, type JsonObject } from "../data/json.ts";
import { convertedText, PLACEHOLDER } from "../config/known_environment.ts";

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

/** Names of variables and of fields whose value is a secret. */
export const SECRET_NAME =
  /(password|passwd|passphrase|secret|api_?key|(pg|db|user)pass)s?$|(^|[-_.])(connection_?string|pass|pwd|secret_?access_?key|token|credentials?|private_?key|(api|access|auth|client)_?(key|token|secret)|bearer_?token(_bedrock)?|apikey)$/i;

/** Parameters of URLs that are secret, beside those that SECRET_NAME finds. */
const SECRET_PARAMETER = /(^|[-_.])(key|sig|signature|code)$/i;
const SCHEME_AND_CREDENTIAL = /^\s*(bearer|basic)\s+\S+\s*$/i;

/**
 * Whether a text has a secret in it, whatever it is called: a token, a user or a parameter of a URL, a header, `password=…`. Each look is
 * at a few characters before or after a mark, so that a long text takes no longer than its length.
 */
export const hasSecret = (whole: string): boolean => {
  const text = whole.slice(0, SEARCHED_CHARACTERS_MAX);
  return SCHEME_AND_CREDENTIAL.test(text.slice(0, NAME_CHARACTERS_MAX * 16)) ||
    TOKEN.test(text) ||
    text.length <= 2 * USER_CHARACTERS_MAX && PASSWORD_OF_HOST.test(text) ||
    marks(text, "://").some((at) =>
      /[a-z0-9]$/i.test(text.slice(Math.max(0, at - 1), at)) &&
      USER_OF_HOST.test(text.slice(at + 3, at + 3 + USER_CHARACTERS_MAX))
    ) ||
    marks(text, "=").some((at) => {
      const [, before = "", name = ""] = NAME_BEFORE.exec(text.slice(Math.max(0, at - NAME_CHARACTERS_MAX), at)) ?? [];
      return /^[^&#;\s]/.test(text.slice(at + 1, at + 2)) && name !== "" &&
        (SECRET_NAME.test(name) || before !== "" && SECRET_PARAMETER.test(name));
    });
};

/** Tokens that services make, by the shape that they have. */
const TOKEN =
  /(?:^|[^\w-])(?:(?:sk|nvapi|glpat)-[\w-]{16,}|(?:gh[opsru]|gsk|hf|github_pat)_\w{16,}|xox[a-z]-[\w-]{10,}|A[KS]IA[A-Z0-9]{12,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)/;

const marks = (text: string, mark: string): ReadonlyArray<number> => {
  const found: Array<number> = [];
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) found.push(at);
  return found;
};

/** `user:password@` or `token@`; a password may have any character. */
const USER_OF_HOST = /^([^/?#\s@:]*:[^/?#\s@]+|[^/?#\s@:]+)@/;
/** `user:password@host` without a scheme, as Redis clients take it. */
const PASSWORD_OF_HOST = /^\s*[^\s/:@]*:\S+@[\w.[\]:-]*(\/\S*)?\s*$/;
const NAME_BEFORE = /([?&#]?)([\w.-]+)$/;

const SEARCHED_CHARACTERS_MAX = 65_536;
const NAME_CHARACTERS_MAX = 128;
const USER_CHARACTERS_MAX = 1024;

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
