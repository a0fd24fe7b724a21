/**
 * Objects as they are kept between looks: text, the longer ones deflated. A parsed Deployment takes about five times the
 * memory of its text, and most objects are looked at once in hours.
 */
import { Buffer } from "node:buffer";
import { deflateSync, inflateSync } from "node:zlib";
import type { JsonObject } from "../core/json.ts";

/**
 * JSON, or deflated JSON with a letter for each byte. Not as a buffer: those lie for long between others that come and go, and
 * what is free around them cannot be given back; strings are moved together.
 */
export type Packed = string;

/** Characters from which deflating pays; below, the header and the call cost more than they save. */
const DEFLATED_FROM = 2048;

export const packed = (object: JsonObject): Packed => {
  const text = JSON.stringify(object);
  return text.length < DEFLATED_FROM ? text : deflateSync(Buffer.from(text), { level: 1 }).toString("latin1");
};

/** What is deflated begins with the `x` of zlib's header. */
export const unpacked = (one: Packed): JsonObject =>
  JSON.parse(one.startsWith("{") ? one : inflateSync(Buffer.from(one, "latin1")).toString("utf8")) as JsonObject;
