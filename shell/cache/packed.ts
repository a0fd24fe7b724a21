/**
 * Cached objects: as text, longer ones compressed, sooner or later (shell/cache/packed_later.ts). A parsed Deployment
 * takes about five times the memory of its text, and most objects are read once in hours.
 */
import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { JsonObject } from "../../core/data/json.ts";

/** Changes once, from text to compressed bytes; it represents the same object before and after. */
export interface Packed {
  isDeflated: boolean;
  /**
   * JSON, or a letter for each byte. Not a buffer: they fragment the heap; strings are moved together.
   */
  rest: string;
}

/** As text: costs nothing but the memory. */
export const plain = (text: string): Packed => ({ isDeflated: false, rest: text });

/** Undefined where the object is nested so deeply that it cannot be written: the writer of the runtime recurses. */
export const textOf = (object: JsonObject): string | undefined => {
  try {
    return JSON.stringify(object);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
};

/** Whether deflating pays; below, the call costs more than it saves. */
export const isLong = ({ isDeflated, rest }: Packed): boolean => !isDeflated && rest.length >= DEFLATED_FROM;

/** Characters. */
const DEFLATED_FROM = 2048;

export const deflated = (text: string): Packed => ({
  isDeflated: true,
  rest: deflateRawSync(Buffer.from(text)).toString("latin1"),
});

export const unpacked = ({ isDeflated, rest }: Packed): JsonObject =>
  JSON.parse(isDeflated ? inflateRawSync(Buffer.from(rest, "latin1")).toString() : rest) as JsonObject;
