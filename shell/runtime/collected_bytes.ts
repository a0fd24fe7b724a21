/**
 * The bytes of a body as they come. Who sends it chooses how many parts it has, and each part of one byte that was kept would take a
 * hundred: short ones are copied together.
 */
import { BODY_BLOCK_BYTES, BODY_PART_BYTES_MIN, BODY_PARTS_FREE } from "../limits.ts";

export interface CollectedBytes {
  readonly add: (part: Uint8Array) => void;
  readonly length: () => number;
  /** Whether they come in so many parts that receiving them would keep the thread from everything else. */
  readonly isScattered: () => boolean;
  /** All of them; nothing is kept. */
  readonly take: () => Uint8Array<ArrayBuffer>;
}

export const collectedBytes = (): CollectedBytes => {
  let parts: Array<Uint8Array> = [];
  let [length, count] = [0, 0];
  /** The last of the parts, while it is being filled. */
  let block: Uint8Array | undefined;
  let filled = 0;
  const finish = () => {
    if (block !== undefined) parts.push(block.subarray(0, filled));
    block = undefined;
    filled = 0;
  };
  return {
    add: (part) => {
      length += part.length;
      count++;
      if (block !== undefined && filled + part.length > block.length) finish();
      if (part.length >= BODY_BLOCK_BYTES / 4) {
        finish();
        parts.push(part);
        return;
      }
      block ??= new Uint8Array(BODY_BLOCK_BYTES);
      block.set(part, filled);
      filled += part.length;
    },
    length: () => length,
    isScattered: () => count > BODY_PARTS_FREE + length / BODY_PART_BYTES_MIN,
    take: () => {
      finish();
      const all = new Uint8Array(length);
      let offset = 0;
      for (const part of parts) {
        all.set(part, offset);
        offset += part.length;
      }
      parts = [];
      [length, count] = [0, 0];
      return all;
    },
  };
};
