/**
 * Objects as they are kept between looks: text, the longer ones deflated. A parsed Deployment takes about five times the
 * memory of its text, and most objects are looked at once in hours.
 */
import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { JsonObject } from "../core/json.ts";

export type Packed = string | Uint8Array;

/** Characters from which deflating pays; below, the header and the call cost more than they save. */
const DEFLATED_FROM = 2048;

export const packed = (object: JsonObject): Packed => {
  const text = JSON.stringify(object);
  // A copy of its own length: the pieces that the library hands out lie in larger buffers.
  return text.length < DEFLATED_FROM ? text : new Uint8Array(deflateRawSync(Buffer.from(text), { level: 1 }));
};

export const unpacked = (one: Packed): JsonObject =>
  JSON.parse(typeof one === "string" ? one : inflateRawSync(one).toString("utf8")) as JsonObject;
