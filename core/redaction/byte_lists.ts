/**
 * Texts that programs show as lists of bytes, as base64 in lines, or as base64 of base64, each in a time that grows with the
 * length of the text alone.
 */
import { REDACTED_LISTS_CHARACTERS_MAX } from "../data/limits.ts";

/** The text as it reads with lists of bytes, wrapped base64 and base64 of base64 decoded; nothing where it has none of them. */
export const unlisted = (text: string): ReadonlyArray<string> => {
  if (text.length > REDACTED_LISTS_CHARACTERS_MAX) return [];
  const joined = text.replaceAll(WRAPPED, "");
  const found = [
    joined,
    text.replaceAll(HEX_LIST, ofHex),
    text.replaceAll(DECIMAL_LIST, ofDecimals),
    innerBase64(joined),
  ];
  return found.filter((other) => other !== "" && other !== text);
};

/** Line breaks behind base64, as of MIME, PEM and indented YAML. Its lines have 64 or 76 characters, the first may have fewer. */
const WRAPPED = /(?<=[A-Za-z0-9+/_-]{16})(?:\r?\n[ \t]{0,16})+(?=[A-Za-z0-9+/_=-])/g;

/** Four bytes at least, alone or in groups as a dump has them: `54:72:30:55`, `54 72 30 55`, `0x54, 0x72, …`, `5472 3055`. */
const HEX_LIST =
  /(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-f]{2}){1,8}(?:[\s:,;-]{1,8}(?:0x)?(?:[0-9a-f]{2}){1,8})+(?![0-9A-Za-z])/gi;

const ofHex = (list: string): string => {
  const digits = list.replaceAll(/0x|[\s:,;-]/gi, "");
  return digits.length < 2 * BYTES_MIN ? list : textOf(
    Array.from({ length: digits.length / 2 }, (_, index) => parseInt(digits.slice(2 * index, 2 * index + 2), 16)),
  );
};

/** `84, 114, 48, 85` and `[84 114 48 85]`. */
const DECIMAL_LIST = /(?<![\w.])\d{1,3}(?:[\s,;]{1,8}\d{1,3}){3,}(?![\w])/g;

const ofDecimals = (list: string): string => {
  const numbers = list.split(/[\s,;]+/).map(Number);
  return numbers.some((number) => number > 255) ? list : textOf(numbers);
};

/** A shorter list reveals less than the shortest piece that is searched for. */
const BYTES_MIN = 4;

/** What is base64 again when it is decoded once; at each place at which it may begin within a longer run. */
const innerBase64 = (text: string): string =>
  (text.match(BASE64_RUN) ?? []).flatMap((run) => {
    const code = run.replaceAll("-", "+").replaceAll("_", "/");
    return [0, 1, 2, 3].flatMap((from) => {
      const length = code.length - from;
      return atob(code.slice(from, from + length - (length % 4 === 1 ? 1 : 0))).match(BASE64_PIECE) ?? [];
    });
  }).join("\n");

/** What eight letters of a value become when they are encoded twice. */
const BASE64_RUN = /[A-Za-z0-9+/_-]{12,}/g;
const BASE64_PIECE = /[A-Za-z0-9+/_-]{8,}/g;

/** As UTF-8, or one letter for each byte where they are none. */
export const textOf = (bytes: ReadonlyArray<number>): string => {
  try {
    return UTF8.decode(Uint8Array.from(bytes));
  } catch {
    return bytes.map((byte) => String.fromCharCode(byte)).join("");
  }
};

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
