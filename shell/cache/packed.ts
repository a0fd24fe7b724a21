/**
 * Cached objects: as text, longer ones compressed, sooner or later (shell/cache/packed_later.ts). A parsed Deployment
 * takes about five times the memory of its text, and most objects are read once in hours.
 *
 * Objects of one kind are similar, so each is compressed with a previous one as its history. zlib's preset dictionary
 * has this purpose, but Deno 2.9.6 ignores it. Therefore history and text are compressed together, with the fixed code,
 * in which equal text begins with equal bytes; the common part of the streams is cut off and stored once, in the
 * history. A ConfigMap of 12 KB needs 0.9 instead of 4.4, in about the same time.
 */
import { Buffer } from "node:buffer";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import type { JsonObject } from "../../core/data/json.ts";
import { HISTORIES_PER_KIND, HISTORY_BYTES_MAX, HISTORY_KEPT_PACKS } from "../limits.ts";

/** Changes once, from text to compressed bytes; it represents the same object before and after. */
export interface Packed {
  /** None: the rest is JSON. */
  history: History | undefined;
  /** Bytes of the history's stream that come before the rest. */
  shared: number;
  /**
   * A letter for each byte. Not a buffer: they fragment the heap; strings are moved together.
   */
  rest: string;
}

interface History {
  readonly text: Buffer;
  readonly stream: Buffer;
}

/** As text: costs nothing but the memory. */
export const plain = (text: string): Packed => ({ history: undefined, shared: 0, rest: text });

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
export const isLong = ({ history, rest }: Packed): boolean => history === undefined && rest.length >= DEFLATED_FROM;

/**
 * Compresses the text of an object, and remembers for each kind the histories for the next ones; bounded by
 * shell/limits.ts.
 */
export const packer = (): (kind: string, json: string) => Packed => {
  const kinds = new Map<string, Candidates>();
  return (kind, json) => {
    const text = Buffer.from(json);
    // The content of a Secret is dropped together with it.
    if (kind === "Secret" || text.length > HISTORY_BYTES_MAX) return behind(NONE, text);
    const candidates = kinds.get(kind) ?? { packs: 0, lastFirst: [] };
    kinds.set(kind, candidates);
    return behindOneOf(candidates, text);
  };
};

export const unpacked = ({ history, shared, rest }: Packed): JsonObject => {
  if (history === undefined) return JSON.parse(rest) as JsonObject;
  const stream = Buffer.concat([history.stream.subarray(0, shared), Buffer.from(rest, "latin1")]);
  return JSON.parse(inflateRawSync(stream).toString("utf8", history.text.length)) as JsonObject;
};

/** Characters. */
const DEFLATED_FROM = 2048;

/** A history fits where no more than this part of the text is left. */
const FITS = 1 / 4;

interface Candidates {
  /** Objects of the kind so far. */
  packs: number;
  /** The history that matched last comes first, with the number of that compression. */
  readonly lastFirst: Array<{ readonly history: History; usedAt: number }>;
}

const behindOneOf = (candidates: Candidates, text: Buffer): Packed => {
  const { lastFirst } = candidates;
  const now = ++candidates.packs;
  for (const [index, one] of lastFirst.entries()) {
    const packed = behind(one.history, text);
    if (packed.rest.length > text.length * FITS) continue;
    one.usedAt = now;
    lastFirst.splice(index, 1);
    lastFirst.unshift(one);
    return packed;
  }
  if (lastFirst.length >= HISTORIES_PER_KIND) {
    const oldest = lastFirst.at(-1);
    if (oldest !== undefined && now - oldest.usedAt <= HISTORY_KEPT_PACKS) return behind(NONE, text);
    lastFirst.pop();
  }
  const history = { text, stream: deflated(text, constants.Z_FIXED) };
  lastFirst.unshift({ history, usedAt: now });
  return behind(history, text);
};

const NONE: History = { text: Buffer.alloc(0), stream: Buffer.alloc(0) };

const behind = (history: History, text: Buffer): Packed => {
  const stream = history === NONE
    ? deflated(text, constants.Z_DEFAULT_STRATEGY)
    : deflated(Buffer.concat([history.text, text]), constants.Z_FIXED);
  let shared = 0;
  while (shared < history.stream.length && stream[shared] === history.stream[shared]) shared++;
  return { history, shared, rest: stream.toString("latin1", shared) };
};

const deflated = (bytes: Buffer, strategy: number): Buffer => deflateRawSync(bytes, { level: 1, strategy });
