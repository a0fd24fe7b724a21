/**
 * A ConversionReview cut into its objects without parsing it as a whole: the API server sends a list in one, and all of its
 * objects at once would take ten times the memory of their text.
 */
import { REVIEW_KEY_BYTES_MAX } from "../data/limits.ts";

export interface Slice {
  /** Bytes from `start` up to but not including `end`. */
  readonly start: number;
  readonly end: number;
  /** Deepest nesting of maps and lists. */
  readonly depth: number;
}

export interface Sliced {
  /** The review with an empty list of objects. */
  readonly rest: string;
  readonly objects: ReadonlyArray<Slice>;
}

/** `request.objects` of the JSON text; undefined if there is no such list, or the text ends within it. */
export const slicedReview = (bytes: Uint8Array): Sliced | undefined => {
  const list = listOfObjects(bytes);
  if (list === undefined) return undefined;
  const decoder = new TextDecoder();
  return {
    rest: decoder.decode(bytes.subarray(0, list.start)) + decoder.decode(bytes.subarray(list.end)),
    objects: list.objects,
  };
};

/** Nesting of maps and lists in a JSON text, in levels. */
export const depthOf = (bytes: Uint8Array): number => {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (code === QUOTE) index = endOfString(bytes, index);
    else if (code === BRACE || code === BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
  return deepest;
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

const isBlank = (code: number | undefined): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Index of the quote that ends the string begun at `from`, or of the end of the text. */
const endOfString = (bytes: Uint8Array, from: number): number => {
  for (let index = from + 1; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index;
  }
  return bytes.length;
};

/** The position of the text between the brackets of `request.objects`, and its items. */
const listOfObjects = (bytes: Uint8Array) => {
  const decoder = new TextDecoder();
  // Last keys of the first two levels.
  const keys = ["", ""];
  let depth = 0;
  let last = "";
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (code === QUOTE) {
      const end = endOfString(bytes, index);
      last = depth <= 2 && end - index <= REVIEW_KEY_BYTES_MAX ? decoder.decode(bytes.subarray(index + 1, end)) : "";
      index = end;
    } else if (code === COLON && (depth === 1 || depth === 2)) keys[depth - 1] = last;
    else if (code === BRACKET && depth === 2 && keys[0] === "request" && keys[1] === "objects") {
      return itemsFrom(bytes, index + 1);
    } else if (code === BRACE || code === BRACKET) depth++;
    else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
  return undefined;
};

const itemsFrom = (bytes: Uint8Array, start: number) => {
  const objects: Array<Slice> = [];
  let [begun, end, depth, deepest] = [-1, start, 0, 0];
  const finished = () => {
    if (begun >= 0) objects.push({ start: begun, end, depth: deepest });
    [begun, deepest] = [-1, 0];
  };
  for (let index = start; index < bytes.length; index++) {
    const code = bytes[index];
    if (isBlank(code)) continue;
    if (depth === 0 && (code === COMMA || code === BRACKET_END)) {
      finished();
      if (code === BRACKET_END) return { start, end: index, objects };
      continue;
    }
    if (begun < 0) begun = index;
    if (code === QUOTE) index = endOfString(bytes, index);
    else if (code === BRACE || code === BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === BRACE_END || code === BRACKET_END) depth--;
    end = index + 1;
  }
  return undefined;
};

/**
 * The JSON text of an object with another value of its top-level `apiVersion`, and everything else byte for byte. For objects
 * that are nested too deeply to be parsed and written again.
 */
export const withApiVersion = (bytes: Uint8Array, apiVersion: string): Uint8Array => {
  const decoder = new TextDecoder();
  let [depth, last] = [0, ""];
  for (let index = 0; index < bytes.length; index++) {
    const code = bytes[index];
    if (code === QUOTE) {
      const end = endOfString(bytes, index);
      if (depth === 1 && last === "apiVersion:") {
        return joined([bytes.subarray(0, index), encoded(JSON.stringify(apiVersion)), bytes.subarray(end + 1)]);
      }
      last = depth === 1 && end - index <= REVIEW_KEY_BYTES_MAX ? decoder.decode(bytes.subarray(index + 1, end)) : "";
      index = end;
    } else if (code === COLON) last = `${last}:`;
    else if (code === BRACE || code === BRACKET) depth++;
    else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
  return bytes;
};

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
};
