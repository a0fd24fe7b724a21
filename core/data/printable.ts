/** External text on a terminal, and external words in a shell command. */
import { WORD_CHARACTERS_MAX, WORD_CHARACTERS_READ, WORD_CHARACTERS_SHOWN } from "./limits.ts";

/** Control characters but tab and line feed, and those that change the direction of what follows. */
// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with its control characters escaped: a resource must not move the cursor, hide lines or answer for the terminal. */
export const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Without line breaks, and no longer than this. */
export const onOneLine = (text: string, charactersMax: number): string =>
  printable(text.replaceAll(/\s+/g, " ")).slice(0, charactersMax);

/** The password of a URL (user:password@host) or of an image reference, where people write one too; not the tag before a digest. */
const PASSWORD = /(^|[/\s=])([^/\s:@=]*):([^/\s@]+)@(?!sha\d+:)/g;

/** The value of a parameter of a URL that is a credential: ?token=… */
const CREDENTIAL_PARAMETER = /([?&][\w.-]*(?:key|token|password|secret|signature|sig)[\w.-]*=)[^&\s]+/gi;

/** A key or a value of somebody else within a message: on one line, without the password that it carries, and with its beginning only if it is longer than any real one. */
export const shortWord = (text: string): string => {
  // The end of what is read may lie within a password, hence the sign: and each ":" may begin one, hence the bound.
  const read = text.length > WORD_CHARACTERS_READ ? `${text.slice(0, WORD_CHARACTERS_READ)}@` : text;
  const word = onOneLine(read, Infinity).replaceAll(PASSWORD, "$1$2:…@").replaceAll(CREDENTIAL_PARAMETER, "$1…");
  return text.length <= WORD_CHARACTERS_READ && word.length <= WORD_CHARACTERS_MAX
    ? word
    : `${word.slice(0, WORD_CHARACTERS_SHOWN)}… (${text.length} characters)`;
};

/** The same between quotes. */
export const quoted = (text: string): string => `"${shortWord(text).replaceAll('"', '\\"')}"`;

/** One word of a POSIX shell, quoted where it needs to be. */
export const shellWord = (text: string): string =>
  /^[A-Za-z0-9_.:,=@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command of literal text and of external words: shell`kubectl get secret ${name}`. */
export const shell = (texts: TemplateStringsArray, ...words: ReadonlyArray<string>): string =>
  texts.map((text, index) => `${text}${index < words.length ? shellWord(words[index] ?? "") : ""}`).join("");
