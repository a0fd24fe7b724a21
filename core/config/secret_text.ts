/** Whether a name, or a text whatever it is called, says that it is a secret. */
import { SEARCHED_CHARACTERS_MAX } from "../data/limits.ts";
import { PLACEHOLDER } from "./known_environment.ts";

/** Names of variables and of fields whose value is a secret, also with a number, as of the second provider of a type. */
export const SECRET_NAME =
  /(password|passwd|passphrase|secret|api_?key|(pg|db|user)pass)s?(_?\d+)?$|(^|[-_.])(connection_?string|pass|pwd|secret_?access_?key|token|credentials?|private_?key|(api|access|auth|client)_?(key|token|secret)|bearer_?token(_bedrock)?|apikey)(_?\d+)?$/i;

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
    [...text.matchAll(JSON_FIELD)].some(([, name = ""]) => SECRET_NAME.test(name)) ||
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

/** A field with a text in it, as `"token": "t"`. */
const JSON_FIELD = /"([\w.-]{1,128})"\s{0,8}:\s{0,8}"[^"$]/g;

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

const NAME_CHARACTERS_MAX = 128;
const USER_CHARACTERS_MAX = 1024;

/** Variables whose default in the text is a secret. */
export const secretDefaults = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(PLACEHOLDER)].flatMap(([, name = "", , operand = ""]) => hasSecret(operand) ? [name] : []);
