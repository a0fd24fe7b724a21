/**
 * JSON text from outside, read within bounds. One pass over its bytes counts what it would become, before anything is parsed: a few
 * MiB of `{},{},…` become a hundred times that in objects.
 */
import * as Data from "effect/Data";
import * as Result from "effect/Result";
import { sha256Hex } from "./digest.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";
import { JSON_DEPTH_MAX, JSON_VALUES_MAX, OBJECT_VALUES_MAX } from "./limits.ts";

/** Of one text. */
export interface JsonBounds {
  /** Levels of maps and lists; a scalar has none. */
  readonly depth: number;
  /** Maps, lists and scalars together. */
  readonly values: number;
}

/** For what registries, servers and files say. */
export const ANSWER_BOUNDS: JsonBounds = { depth: JSON_DEPTH_MAX, values: JSON_VALUES_MAX };

/** For one object of the API server. */
export const OBJECT_BOUNDS: JsonBounds = { depth: JSON_DEPTH_MAX, values: OBJECT_VALUES_MAX };

/** The detail says what is wrong with the text, and quotes nothing of it. */
export class JsonUnreadable extends Data.TaggedError("JsonUnreadable")<{
  readonly detail: string;
  /** Undefined: it is not JSON. */
  readonly exceeds: keyof JsonBounds | undefined;
}> {
  override get message(): string {
    return this.detail;
  }
}

export const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
export const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
const [MINUS, PLUS, DOT, ZERO, NINE] = [0x2d, 0x2b, 0x2e, 0x30, 0x39] as const;

/** Index of the quote that ends the string begun at `from`, or of the end of the text. */
export const endOfString = (bytes: Uint8Array, from: number): number => {
  for (let index = from + 1; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index;
  }
  return bytes.length;
};

interface JsonSize extends JsonBounds {
  /** Start and end of each integer that has as many digits as one that JavaScript would round. */
  readonly integers: ReadonlyArray<number>;
}

/**
 * What a text would become, without parsing it; `values` is an upper bound: each value but the first follows a comma, or a bracket
 * that opens. Stops soon after a bound.
 */
export const jsonSize = (bytes: Uint8Array, bounds: JsonBounds, wantsIntegers: boolean): JsonSize => {
  const integers: Array<number> = [];
  let [level, depth, values] = [0, 0, 1];
  for (let index = 0; index < bytes.length && values <= bounds.values && depth <= bounds.depth; index++) {
    const code = bytes[index] ?? 0;
    if (code === QUOTE) index = endOfString(bytes, index);
    else if (code === COMMA) values++;
    else if (code === BRACE || code === BRACKET) {
      values++;
      depth = Math.max(depth, ++level);
    } else if (code === BRACE_END || code === BRACKET_END) level--;
    else if (wantsIntegers && (code === MINUS || code >= ZERO && code <= NINE)) {
      const end = endOfNumber(bytes, index);
      if (isLongInteger(bytes, index, end)) integers.push(index, end);
      index = end - 1;
    }
  }
  return { depth, values, integers };
};

const endOfNumber = (bytes: Uint8Array, from: number): number => {
  let index = from + 1;
  for (; index < bytes.length; index++) {
    const code = bytes[index] ?? 0;
    const isPart = code >= ZERO && code <= NINE || code === DOT || code === MINUS || code === PLUS ||
      (code | 0x20) === 0x65;
    if (!isPart) break;
  }
  return index;
};

/** 16 to 19 digits, and nothing else: no longer one fits into 64 bits. */
const isLongInteger = (bytes: Uint8Array, from: number, end: number): boolean => {
  const start = bytes[from] === MINUS ? from + 1 : from;
  if (end - start < 16 || end - start > 19 || bytes[start] === ZERO) return false;
  for (let index = start; index < end; index++) {
    const code = bytes[index] ?? 0;
    if (code < ZERO || code > NINE) return false;
  }
  return true;
};

/** The value of a text, as JavaScript reads it. */
export const readJson = (text: Uint8Array | string, bounds: JsonBounds): Result.Result<Json, JsonUnreadable> => {
  const bytes = bytesOf(text);
  return excess(jsonSize(bytes, bounds, false), bounds) ?? parsed(typeof text === "string" ? text : textOf(bytes));
};

/**
 * The same with the integers of 64 bits that Kubernetes has and a number of JavaScript has not: they are of the type bigint, which
 * `Json` does not name. For values that are only moved, and written by `writeExactJson`.
 */
export const readExactJson = (text: Uint8Array | string, bounds: JsonBounds): Result.Result<Json, JsonUnreadable> => {
  const bytes = bytesOf(text);
  const found = jsonSize(bytes, bounds, true);
  const tooLarge = excess(found, bounds);
  if (tooLarge !== undefined) return tooLarge;
  const plain = typeof text === "string" ? text : textOf(bytes);
  if (found.integers.length === 0) return parsed(plain);
  // Between the parser and the next step alone, they are strings that begin with this. No text can contain its own digest.
  const mark = `${sha256Hex(plain)}:`;
  return Result.flatMap(parsed(textOf(withMarks(bytes, found.integers, mark))), (value) => {
    const restored = unmarked(value, mark);
    return restored === undefined ? notJson() : Result.succeed(restored);
  });
};

/** The object that a text contains; undefined if it is no text, or contains anything else. */
export const objectIn = (text: Json | undefined, read: typeof readJson = readJson): JsonObject | undefined => {
  const value = typeof text === "string" ? Result.getOrUndefined(read(text, OBJECT_BOUNDS)) : undefined;
  return isObject(value) ? value : undefined;
};

/** JSON text of a value that may have integers of the type bigint. */
export const writeExactJson = (value: Json): string => {
  try {
    return JSON.stringify(value);
  } catch {
    // It refuses bigint, and a replacer takes its time for every value.
    return JSON.stringify(value, (_key, inner) => typeof inner === "bigint" ? rawJSON(String(inner)) : inner);
  }
};

/** Of ECMAScript 2026; TypeScript 6.0 does not declare it. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

const excess = (
  { depth, values }: JsonBounds,
  bounds: JsonBounds,
): Result.Result<never, JsonUnreadable> | undefined => {
  if (depth > bounds.depth) {
    return Result.fail(
      new JsonUnreadable({ detail: `more than ${bounds.depth} levels of maps and lists`, exceeds: "depth" }),
    );
  }
  return values > bounds.values
    ? Result.fail(new JsonUnreadable({ detail: `more than ${bounds.values} values`, exceeds: "values" }))
    : undefined;
};

const bytesOf = (text: Uint8Array | string): Uint8Array =>
  typeof text === "string" ? new TextEncoder().encode(text) : text;
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const notJson = () => Result.fail(new JsonUnreadable({ detail: "it is not JSON", exceeds: undefined }));

const parsed = (text: string): Result.Result<Json, JsonUnreadable> =>
  Result.try({
    try: () => JSON.parse(text) as Json,
    catch: () => new JsonUnreadable({ detail: "it is not JSON", exceeds: undefined }),
  });

/** Each integer becomes a string: its digits after the mark. */
const withMarks = (bytes: Uint8Array, integers: ReadonlyArray<number>, mark: string): Uint8Array => {
  const [before, after] = [new TextEncoder().encode(`"${mark}`), QUOTE];
  const made = new Uint8Array(bytes.length + integers.length / 2 * (before.length + 1));
  let [read, written] = [0, 0];
  const copy = (part: Uint8Array) => {
    made.set(part, written);
    written += part.length;
  };
  for (let place = 0; place < integers.length; place += 2) {
    const [start = 0, end = 0] = [integers[place], integers[place + 1]];
    copy(bytes.subarray(read, start));
    copy(before);
    copy(bytes.subarray(start, end));
    made[written++] = after;
    read = end;
  }
  copy(bytes.subarray(read));
  return made;
};

/** Undefined: a number stood where only a name may, and the text was no JSON. Changes the tree, which nobody else has seen yet. */
const unmarked = (value: Json, mark: string): Json | undefined => {
  if (typeof value === "string") return value.startsWith(mark) ? integerOf(value.slice(mark.length)) : value;
  if (isList(value)) {
    const list = value as Array<Json>;
    for (let index = 0; index < list.length; index++) {
      const inner = unmarked(list[index] ?? null, mark);
      if (inner === undefined) return undefined;
      list[index] = inner;
    }
  } else if (isObject(value)) {
    for (const [key, before] of Object.entries(value)) {
      const inner = key.startsWith(mark) ? undefined : unmarked(before, mark);
      if (inner === undefined) return undefined;
      // An own property, so that `__proto__` stays data.
      if (inner !== before) Object.defineProperty(value, key, { value: inner });
    }
  }
  return value;
};

const integerOf = (digits: string): Json => {
  const rounded = Number(digits);
  const exact = BigInt(digits);
  // What JavaScript writes with the same digits stays a number, and what has more than 64 bits is none of Kubernetes' integers.
  return String(rounded) === digits || BigInt.asIntN(64, exact) !== exact ? rounded : exact as unknown as Json;
};
