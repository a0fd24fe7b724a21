/** The decodings of a text: programs escape their output, some of them twice. */
import { textOf, unlisted } from "./byte_lists.ts";

/** The text and what it is without its escapes, in the usual ways and orders. */
export const decodings = (text: string): ReadonlyArray<string> => {
  const found = new Set([text]);
  if (text.includes("\\")) {
    const once = unescaped(text);
    found.add(once);
    found.add(unescaped(once));
  }
  if (text.includes("&")) found.add(unentitied(text));
  if (text.includes("%")) found.add(unpercented(text));
  for (const list of unlisted(text)) found.add(list);
  if (/[\\&%]/.test(text)) {
    const once = plain(text);
    const twice = plain(once);
    found.add(once);
    found.add(twice);
    // A line break in JSON is escaped.
    for (const list of unlisted(twice)) found.add(list);
  }
  // In form encoding, a space is a plus sign.
  if (text.includes("+")) found.add(plain(text.replaceAll("+", " ")));
  return [...found];
};

const plain = (text: string): string => unpercented(unentitied(unescaped(text)));

/** Without the escapes of JSON, Python, C and shells; `\xNN` and octal ones are bytes. */
export const unescaped = (text: string): string =>
  text.replaceAll(ESCAPES, (_, bytes?: string, braced?: string, short?: string, long?: string, letter?: string) => {
    if (bytes !== undefined) {
      const codes = bytes.match(/x[0-9a-fA-F]{2}|[0-7]{3}/g) ?? [];
      return textOf(codes.map((code) => code.startsWith("x") ? parseInt(code.slice(1), 16) : parseInt(code, 8)));
    }
    const code = braced ?? short ?? long;
    if (code !== undefined) return fromCode(parseInt(code, 16));
    return LETTERS[letter ?? ""] ?? letter ?? "";
  });

const ESCAPES =
  /((?:\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2})+)|\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([^])/g;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** Without the entities of HTML and XML. */
const unentitied = (text: string): string =>
  text.replaceAll(ENTITIES, (entity: string, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return fromCode(parseInt(hex, 16));
    if (decimal !== undefined) return fromCode(Number(decimal));
    return NAMES[name?.toLowerCase() ?? ""] ?? entity;
  });

const ENTITIES = /&(?:#[xX]([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** Without percent-encoding, whatever is wrong with some of it. */
export const unpercented = (text: string): string =>
  text.replaceAll(
    /(?:%[0-9a-fA-F]{2})+/g,
    (run) => textOf(run.slice(1).split("%").map((code) => parseInt(code, 16))),
  );

const fromCode = (code: number): string => code <= 0x10ffff ? String.fromCodePoint(code) : "";
