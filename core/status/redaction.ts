/**
 * What may be shown of a text that somebody else wrote, as the last lines of a server's log: nothing that holds a piece of a
 * secret value, in any of the usual encodings.
 *
 * Texts are compared by pieces of eight characters and not by whole values, because the kubelet and Python cut what they show.
 */

/** Characters of a value that may not be seen together. Whole shorter values count as well, down to four characters. */
const PIECE = 8;
const VALUE_CHARACTERS_MIN = 4;

/** Values of Secrets that are looked for in one text, and their characters together; usual servers have a dozen values. */
const VALUES_MAX = 512;
const CHARACTERS_MAX = 128 * 1024;

/** Longer values are sought as they are, escaped and in base64 only; they are certificates and key files. */
const ENCODED_CHARACTERS_MAX = 16 * 1024;

/** Whether the text holds a piece of one of the values. */
export const reveals = (text: string, values: Iterable<string>): boolean => {
  if (text.length < VALUE_CHARACTERS_MIN) return false;
  const all = [...values];
  // Looking for so much would take too long: nothing is shown then.
  if (all.length > VALUES_MAX || all.reduce((sum, { length }) => sum + length, 0) > CHARACTERS_MAX) return true;
  const pieces = piecesOf(text);
  for (const value of all) {
    for (const part of secretParts(value)) {
      for (const form of formsOf(part)) if (shares(form, text, pieces)) return true;
    }
  }
  return false;
};

/** In place of a text that reveals a value. */
export const WITHHELD = "(not shown, because it repeats a secret value)";

/** The text without the lines that reveal a value. */
export const withoutSecrets = (text: string, values: ReadonlyArray<string>): string => {
  if (!reveals(text, values)) return text;
  const lines = text.split("\n").map((line) => reveals(line, values) ? WITHHELD : line);
  // A value of several lines, of which none says enough alone.
  return lines.includes(WITHHELD) ? lines.join("\n") : WITHHELD;
};

/** The class of the Python exception that ended a server; undefined where the text names none. */
export const exceptionClass = (text: string): string | undefined => {
  const found = text.split("\n").findLast((line) => EXCEPTION.test(line));
  return found === undefined ? undefined : EXCEPTION.exec(found)?.[1]?.slice(0, CLASS_CHARACTERS_MAX);
};

const EXCEPTION = /^([A-Za-z_][A-Za-z0-9_.]*(?:Error|Exception))\b/;
const CLASS_CHARACTERS_MAX = 80;

/** A filter over the pieces of a text, one bit each of a hash; a hit is then compared letter by letter. */
const piecesOf = (text: string): Uint8Array => {
  const filter = new Uint8Array(1 << FILTER_BITS);
  eachHash(text, (hash) => void (filter[hash] = 1));
  return filter;
};

const FILTER_BITS = 16;
const FACTOR = 31;
/** 31 to the power of PIECE - 1, as 32 bits. */
const LEAVING = Array.from({ length: PIECE - 1 }).reduce<number>((power) => Math.imul(power, FACTOR), 1);

/** The hash of each piece, from one piece to the next in constant time. Stops when `visit` gives true. */
const eachHash = (text: string, visit: (hash: number, index: number) => boolean | void): void => {
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    if (index >= PIECE) hash = hash - Math.imul(text.charCodeAt(index - PIECE), LEAVING) | 0;
    hash = Math.imul(hash, FACTOR) + text.charCodeAt(index) | 0;
    if (index < PIECE - 1) continue;
    if (visit((hash ^ hash >>> FILTER_BITS) & (1 << FILTER_BITS) - 1, index - PIECE + 1) === true) return;
  }
};

const shares = (form: string, text: string, pieces: Uint8Array): boolean => {
  if (form.length < VALUE_CHARACTERS_MIN) return false;
  if (form.length < PIECE) return text.includes(form);
  let found = false;
  eachHash(form, (hash, index) => {
    if (pieces[hash] !== 1) return false;
    const piece = form.slice(index, index + PIECE);
    found = text.includes(piece) && !GENERIC.some((known) => known.includes(piece));
    return found;
  });
  return found;
};

/** Stand in many values and say nothing of them. */
const GENERIC = ["https://www.", "http://localhost", "-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----"];

/**
 * What of a value is secret: all of it, or user, password and options of a connection. Its host and database are what a person
 * needs to read in the error of a server.
 */
const secretParts = (value: string): ReadonlyArray<string> => {
  const text = value.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:([^@/?#]{0,2048}(?:@[^@/?#]{0,2048}){0,8})@)?[^/?#]*(?:\/[^?#]*)?(?:\?(.*))?$/i
    .exec(
      text.slice(0, CONNECTION_CHARACTERS_MAX),
    );
  if (url !== null) {
    const [, userInfo = "", query = ""] = url;
    const colon = userInfo.indexOf(":");
    return [
      colon < 0 ? userInfo : userInfo.slice(0, colon),
      ...(colon < 0 ? [] : [userInfo.slice(colon + 1)]),
      ...query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1)),
    ].filter((part) => part !== "" && !SSL_WORDS.has(part));
  }
  if (text.length <= CONNECTION_CHARACTERS_MAX && /(^|\s)host\s*=/.test(text)) {
    const given = [...text.matchAll(/(?:^|\s)(?:password|user|passfile)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s']*)/gi)];
    if (given.length > 0) return given.map(([, part = ""]) => part.replace(/^'|'$/g, "").replaceAll(/\\(.)/g, "$1"));
  }
  return [value];
};

const CONNECTION_CHARACTERS_MAX = 4096;
const SSL_WORDS = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]);

/** The value as programs write it. */
function* formsOf(value: string): Generator<string, void, void> {
  yield value.trim();
  const escaped = JSON.stringify(value).slice(1, -1);
  yield escaped;
  // As Python's repr() has it.
  yield value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("'", "\\'");
  yield* base64Forms(value.trim());
  if (value.length > ENCODED_CHARACTERS_MAX) return;
  const percent = percentEncoded(value.trim());
  yield percent;
  yield percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  yield percent.replaceAll("%20", "+");
  yield* decodedForms(value.trim());
  yield hex(value.trim());
}

const percentEncoded = (text: string): string => {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a surrogate pair has no encoding.
    return text;
  }
};

function* decodedForms(text: string): Generator<string, void, void> {
  try {
    if (text.includes("%")) yield decodeURIComponent(text);
  } catch {
    // Not percent-encoded.
  }
  if (/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(text)) {
    try {
      yield atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    } catch {
      // Not base64.
    }
  }
}

/** Within a longer text a value begins at any of three places of the code: without what depends on its neighbours. */
function* base64Forms(text: string): Generator<string, void, void> {
  const bytes = new TextEncoder().encode(text);
  for (const before of [0, 1, 2]) {
    const shifted = new Uint8Array(bytes.length + before);
    shifted.set(bytes, before);
    const code = btoa(binary(shifted));
    const whole = code.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, "");
    yield whole;
    if (/[+/]/.test(whole)) yield whole.replaceAll("+", "-").replaceAll("/", "_");
  }
}

/** In steps: the arguments of one call have a limit. */
const binary = (bytes: Uint8Array): string => {
  let text = "";
  for (let from = 0; from < bytes.length; from += BINARY_STEP) {
    text += String.fromCharCode(...bytes.subarray(from, from + BINARY_STEP));
  }
  return text;
};

const BINARY_STEP = 8192;

const hex = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
