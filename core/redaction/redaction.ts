/**
 * The part of an external text that may be shown, such as the end of a server's log: nothing that contains a piece of a
 * secret value, in any of the usual encodings.
 *
 * Texts are compared by pieces of eight characters and not by whole values, because the kubelet and Python truncate
 * their output; next to a cut a shorter piece is enough.
 */
import {
  EXCEPTION_CHARACTERS_MAX,
  REDACTED_CHARACTERS_MAX,
  REDACTED_ENCODED_CHARACTERS_MAX,
  REDACTED_TEXT_CHARACTERS_MAX,
  REDACTED_VALUES_MAX,
} from "../data/limits.ts";
import { decodings, unescaped, unpercented } from "./decodings.ts";
import { PIECE, type PieceIndex, pieceIndex } from "./piece_index.ts";
import { secretParts } from "./secret_parts.ts";

/** Shorter whole values count as well, and pieces next to a cut, down to four characters. */
const SHORT_CHARACTERS_MIN = 4;

/** Whether the text holds a piece of one of the values. */
export const reveals = (text: string, values: Iterable<string>): boolean => {
  const found = findings(text, [...values], "first");
  return found === undefined || hasAny(found);
};

/** Whether the text holds one of the values as a whole. */
export const repeats = (text: string, values: ReadonlyArray<string>): boolean => {
  const texts = decodings(text);
  return values.some((value) =>
    formsOf(value).some((form) =>
      form.length >= REPEATED_CHARACTERS_MIN && texts.some((decoded) => decoded.includes(form))
    )
  );
};

/** A shorter value is in many texts. */
const REPEATED_CHARACTERS_MIN = 6;

/** In place of a text that reveals a value. */
export const WITHHELD = "(not shown, because it repeats a secret value)";

/** The text without the lines that reveal a value. */
export const withoutSecrets = (text: string, values: ReadonlyArray<string>): string => {
  const found = findings(text, values, "all");
  if (found === undefined) return WITHHELD;
  if (!hasAny(found)) return text;
  const lines = text.split("\n");
  const shown = lines.map((line, index) => holds(line, found, endsOf(text, index, lines.length)) ? WITHHELD : line);
  // A value of several lines, each of which is too short on its own.
  return shown.includes(WITHHELD) ? shown.join("\n") : WITHHELD;
};

/** The class of the Python exception that ended a server; undefined where the text names none. */
export const exceptionClass = (text: string): string | undefined => {
  const found = text.split("\n").findLast((line) => EXCEPTION.test(line));
  return found === undefined ? undefined : EXCEPTION.exec(found)?.[1]?.slice(0, EXCEPTION_CHARACTERS_MAX);
};

const EXCEPTION = /^([A-Za-z_][A-Za-z0-9_.]*(?:Error|Exception))\b/;

/** Eight letters are enough in either case; a final sigma in Greek has its own letter. */
const folded = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** The pieces of values that occur in a text. */
interface Findings {
  /** Pieces of eight characters, folded. */
  readonly pieces: Set<string>;
  /** Whole values that are shorter. */
  readonly short: Set<string>;
  /** Beginnings of values before a cut, and ends of values behind one. */
  readonly cut: Set<string>;
}

const hasAny = ({ pieces, short, cut }: Findings): boolean => pieces.size + short.size + cut.size > 0;

/** Undefined: looking for so much would take too long, and nothing is to be shown. */
const findings = (text: string, values: ReadonlyArray<string>, wanted: "first" | "all"): Findings | undefined => {
  const found: Findings = { pieces: new Set(), short: new Set(), cut: new Set() };
  if (text.length < SHORT_CHARACTERS_MIN) return found;
  const characters = values.reduce((sum, { length }) => sum + length, 0);
  if (
    values.length > REDACTED_VALUES_MAX || characters > REDACTED_CHARACTERS_MAX ||
    text.length > REDACTED_TEXT_CHARACTERS_MAX
  ) return undefined;
  const texts = decodings(text);
  const index = pieceIndex(texts.map(folded));
  if (index === undefined) return undefined;
  const cuts = cutsIn(texts, endsOf(text, 0, 1));
  for (const value of values) {
    for (const part of secretParts(value)) {
      for (const form of formsOf(part)) {
        seek(form, texts, index, cuts, found);
        if (wanted === "first" && hasAny(found)) return found;
      }
    }
  }
  return found;
};

const seek = (
  form: string,
  texts: ReadonlyArray<string>,
  index: PieceIndex,
  cuts: Cuts,
  { pieces, short, cut }: Findings,
): void => {
  if (form.length < SHORT_CHARACTERS_MIN) return;
  if (form.length < PIECE) {
    if (texts.some((text) => text.includes(form))) short.add(form);
    return;
  }
  index.shared(folded(form), (piece) => {
    if (!GENERIC.some((known) => known.includes(piece))) pieces.add(piece);
  });
  for (let length = SHORT_CHARACTERS_MIN; length < PIECE; length++) {
    const [begin, end] = [form.slice(0, length), form.slice(-length)];
    if (cuts.before.has(begin)) cut.add(begin);
    if (cuts.behind.has(end)) cut.add(end);
  }
};

/** Whether one of these findings is in the line. */
const holds = (line: string, { pieces, short, cut }: Findings, ends: Ends): boolean => {
  const texts = decodings(line);
  for (const text of texts) {
    const letters = pieces.size > 0 ? folded(text) : "";
    for (let from = 0; from + PIECE <= letters.length; from++) {
      if (pieces.has(letters.slice(from, from + PIECE))) return true;
    }
    for (const value of short) if (text.includes(value)) return true;
  }
  if (cut.size === 0) return false;
  const { before, behind } = cutsIn(texts, ends);
  for (const piece of cut) if (before.has(piece) || behind.has(piece)) return true;
  return false;
};

/** Occur in many values and reveal nothing about them. */
const GENERIC = [
  "https://www.",
  "http://localhost",
  "-----BEGIN CERTIFICATE-----",
  "-----END CERTIFICATE-----",
  "-----BEGIN PRIVATE KEY-----",
  "-----END PRIVATE KEY-----",
  // A key of connection Secrets; the word alone reveals nothing.
  "PGPASSWORD",
].map(folded);

/** The text next to the places where it was cut: four to seven characters. */
interface Cuts {
  readonly before: ReadonlySet<string>;
  readonly behind: ReadonlySet<string>;
}

/** Whether a text may have lost what was before it, and what was behind it. */
interface Ends {
  readonly begin: boolean;
  readonly end: boolean;
}

/** How programs show that they left something out. */
const CUT = /\.{2,}|…|\*{3,}|<?\btruncated\b>?/g;

/** Shorter texts are whole ones, in characters: the kubelet cuts logs at 2,048 bytes and messages at 4,096. */
const CUT_TEXT_CHARACTERS_MIN = 1000;

const endsOf = (text: string, line: number, lines: number): Ends => {
  const isLong = text.length >= CUT_TEXT_CHARACTERS_MIN;
  return { begin: isLong && line === 0, end: isLong && line === lines - 1 };
};

const cutsIn = (texts: ReadonlyArray<string>, { begin, end }: Ends): Cuts => {
  const [before, behind] = [new Set<string>(), new Set<string>()];
  const cutAt = (text: string, from: number, to: number): void => {
    for (let length = SHORT_CHARACTERS_MIN; length < PIECE; length++) {
      if (from >= length) before.add(text.slice(from - length, from));
      if (to + length <= text.length) behind.add(text.slice(to, to + length));
    }
  };
  for (const text of texts) {
    for (const { 0: { length }, index } of text.matchAll(CUT)) cutAt(text, index, index + length);
    if (begin) cutAt(text, 0, 0);
    if (end) cutAt(text, text.length, text.length);
  }
  return { before, behind };
};

/** The value as programs write it where decoding the text does not give it back. */
function* formsOf(value: string): Generator<string, void, void> {
  const text = value.trim();
  yield text;
  yield* base64Forms(text);
  if (text.length > REDACTED_ENCODED_CHARACTERS_MAX) return;
  if (text.includes("%")) yield unpercented(text);
  if (text.includes("\\")) yield unescaped(text);
  if (/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(text)) {
    try {
      yield atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    } catch {
      // Not base64.
    }
  }
  const code = hex(text);
  yield code;
  yield code.toUpperCase();
}

/** Within a longer text a value begins at any of three places of the code: without what depends on its neighbours. */
function* base64Forms(text: string): Generator<string, void, void> {
  const bytes = new TextEncoder().encode(text);
  for (const before of [0, 1, 2]) {
    const shifted = new Uint8Array(bytes.length + before);
    shifted.set(bytes, before);
    const code = shifted.toBase64();
    const whole = code.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, "");
    yield whole;
    if (/[+/]/.test(whole)) yield whole.replaceAll("+", "-").replaceAll("/", "_");
  }
}

const hex = (text: string): string => new TextEncoder().encode(text).toHex();
