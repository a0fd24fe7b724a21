/** Finds which pieces of eight characters occur in some texts, in time linear in texts and values together. */

import { REDACTED_CHAIN_MAX } from "../data/limits.ts";

/** Characters of a value that may not be seen together. */
export const PIECE = 8;

export interface PieceIndex {
  /** Visits the pieces that the value has in common with the texts. */
  readonly shared: (value: string, visit: (piece: string) => void) => void;
}

/** Undefined where the texts are made to take long. */
export const pieceIndex = (texts: ReadonlyArray<string>): PieceIndex | undefined => {
  // No value has this character, so that no piece of two texts is one of a value.
  const all = texts.join(SEPARATOR);
  const bits = Math.max(10, Math.ceil(Math.log2(all.length + 1)) + 1);
  /** Slot → where in `all` the first piece of it begins, and from there to the next one; 1 higher, 0: none. */
  const [first, next] = [new Int32Array(1 << bits), new Int32Array(all.length)];
  let isFair = true;
  eachPiece(all, bits, (slot, begin) => {
    let count = 0;
    for (let at = first[slot] ?? 0; at > 0; at = next[at - 1] ?? 0) {
      if (isSame(all, at - 1, all, begin)) return;
      if (++count > REDACTED_CHAIN_MAX) return void (isFair = false);
    }
    next[begin] = first[slot] ?? 0;
    first[slot] = begin + 1;
  });
  return !isFair ? undefined : {
    shared: (value, visit) =>
      eachPiece(value, bits, (slot, begin) => {
        for (let at = first[slot] ?? 0; at > 0; at = next[at - 1] ?? 0) {
          if (isSame(all, at - 1, value, begin)) return visit(value.slice(begin, begin + PIECE));
        }
      }),
  };
};

const SEPARATOR = "\uffff";

const FACTOR = 0x01000193;
/** FACTOR to the power of PIECE, as 32 bits: what the character that leaves has become. */
const LEAVING = Array.from({ length: PIECE }).reduce<number>((power) => Math.imul(power, FACTOR), 1);
const MIX = 0x85ebca6b;

/** The slot of each piece, from one piece to the next in constant time. */
const eachPiece = (text: string, bits: number, visit: (slot: number, begin: number) => void): void => {
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash, FACTOR) + text.charCodeAt(index) | 0;
    if (index >= PIECE) hash = hash - Math.imul(text.charCodeAt(index - PIECE), LEAVING) | 0;
    if (index >= PIECE - 1) visit(Math.imul(hash ^ hash >>> 15, MIX) >>> 32 - bits, index - PIECE + 1);
  }
};

const isSame = (text: string, from: number, other: string, begin: number): boolean => {
  for (let index = 0; index < PIECE; index++) {
    if (text.charCodeAt(from + index) !== other.charCodeAt(begin + index)) return false;
  }
  return true;
};
