/**
 * Reviews cut into their parts without parsing them: the API server sends a whole list in one, whose objects would take ten times
 * the memory of their text, and a tenant decides how many values an object has.
 */
import { CONVERSION_OBJECTS_MAX } from "../data/limits.ts";
import {
  BRACE,
  BRACE_END,
  BRACKET,
  BRACKET_END,
  COLON,
  COMMA,
  endOfString,
  type JsonBounds,
  QUOTE,
} from "../data/json_text.ts";

/** One value, with its size as `jsonSize` counts it. */
export interface Slice extends JsonBounds {
  /** Bytes from `start` up to but not including `end`. */
  readonly start: number;
  readonly end: number;
}

export interface Sliced {
  /** The review with an empty list of objects. */
  readonly rest: string;
  readonly objects: ReadonlyArray<Slice>;
}

/**
 * `request.objects` of the JSON text; undefined if there is no such list, the text ends within it, or it has more objects than any
 * real one.
 */
export const slicedReview = (bytes: Uint8Array): Sliced | undefined => {
  let list: { readonly start: number; readonly end: number; readonly objects: ReadonlyArray<Slice> } | undefined;
  eachMember(bytes, notBlank(bytes, 0), (name, at) => {
    if (name !== "request" || bytes[at] !== BRACE) return valueAt(bytes, at).end;
    return eachMember(bytes, at, (inner, place) => {
      if (inner !== "objects" || bytes[place] !== BRACKET) return valueAt(bytes, place).end;
      list = itemsFrom(bytes, place + 1);
      return list === undefined ? bytes.length : list.end + 1;
    });
  });
  if (list === undefined) return undefined;
  const decoder = new TextDecoder();
  return {
    rest: decoder.decode(bytes.subarray(0, list.start)) + decoder.decode(bytes.subarray(list.end)),
    objects: list.objects,
  };
};

/** The values of an object at these paths of up to two names, as `metadata.name`; those of the others are not looked into. */
export const membersAt = (
  bytes: Uint8Array,
  paths: ReadonlyArray<string>,
  start = 0,
): ReadonlyMap<string, Slice> => {
  const found = new Map<string, Slice>();
  const parents = new Set(paths.map((path) => path.split(".")[0]));
  eachMember(bytes, notBlank(bytes, start), (name, at) => {
    const value = valueAt(bytes, at);
    if (paths.includes(name)) found.set(name, value);
    if (!parents.has(name)) return value.end;
    eachMember(bytes, at, (inner, place) => {
      const within = valueAt(bytes, place);
      if (paths.includes(`${name}.${inner}`)) found.set(`${name}.${inner}`, within);
      return within.end;
    });
    return value.end;
  });
  return found;
};

const isBlank = (code: number | undefined): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const notBlank = (bytes: Uint8Array, from: number): number => {
  let index = from;
  while (isBlank(bytes[index])) index++;
  return index;
};

/** Longer names are none that anybody looks for, in bytes. */
const NAME_BYTES_MAX = 24;

/** `visit` gets the name of a member and the place of its value, and says where that ends. Returns the end of the object. */
const eachMember = (bytes: Uint8Array, start: number, visit: (name: string, at: number) => number): number => {
  if (bytes[start] !== BRACE) return valueAt(bytes, start).end;
  const decoder = new TextDecoder();
  let index = start + 1;
  while (index < bytes.length) {
    const code = bytes[index];
    if (code === BRACE_END) return index + 1;
    if (code !== QUOTE) {
      index++;
      continue;
    }
    const end = endOfString(bytes, index);
    const name = end - index <= NAME_BYTES_MAX ? decoder.decode(bytes.subarray(index + 1, end)) : "";
    const colon = notBlank(bytes, end + 1);
    index = bytes[colon] === COLON ? visit(name, notBlank(bytes, colon + 1)) : end + 1;
  }
  return index;
};

/**
 * The value that begins at `start`; it ends with the text if that ends within it. It counts as `jsonSize` does, in the same pass:
 * two passes would take twice the time for a list of many megabytes.
 */
const valueAt = (bytes: Uint8Array, start: number): Slice => {
  let [level, depth, values] = [0, 0, 1];
  for (let index = start; index < bytes.length; index++) {
    const code = bytes[index];
    if (level === 0 && (code === COMMA || code === BRACE_END || code === BRACKET_END || isBlank(code))) {
      return { start, end: index, depth, values };
    }
    if (code === QUOTE) index = endOfString(bytes, index);
    else if (code === COMMA) values++;
    else if (code === BRACE || code === BRACKET) {
      values++;
      depth = Math.max(depth, ++level);
    } else if (code === BRACE_END || code === BRACKET_END) level--;
    if (level === 0) {
      const isWhole = code === QUOTE || code === BRACE_END || code === BRACKET_END;
      if (isWhole) return { start, end: index + 1, depth, values };
    }
  }
  return { start, end: bytes.length, depth, values };
};

const itemsFrom = (bytes: Uint8Array, start: number) => {
  const objects: Array<Slice> = [];
  let index = start;
  while (index < bytes.length && objects.length <= CONVERSION_OBJECTS_MAX) {
    const code = bytes[index];
    if (code === BRACKET_END) return { start, end: index, objects };
    if (code === COMMA || isBlank(code)) {
      index++;
      continue;
    }
    const value = valueAt(bytes, index);
    if (value.end === index) return undefined;
    objects.push(value);
    index = value.end;
  }
  return undefined;
};
