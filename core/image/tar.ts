/** Finds one file in an archive of tar that comes in pieces, as layers of images are. */
import * as Data from "effect/Data";
import * as Result from "effect/Result";

/** The archive is damaged, or the file in it longer than allowed. */
export class TarUnusable extends Data.TaggedError("TarUnusable")<{ readonly detail: string }> {
  override get message(): string {
    return `the layer of the image cannot be used: ${this.detail}`;
  }
}

const BLOCK = 512;
/** Longest name that an extended header can give a file, in bytes. */
const NAME_BYTES_MAX = 8192;

export interface TarSearch {
  /** The file once it is complete. */
  readonly push: (bytes: Uint8Array) => Result.Result<Uint8Array | undefined, TarUnusable>;
}

/** `path`: without a leading slash. Links are not followed. */
export const searchTar = (path: string, bytesMax: number): TarSearch => {
  let held = new Uint8Array();
  /** Bytes that are passed over, or that the part after the header has. */
  let skipped = 0;
  let wanted: { readonly purpose: "file" | "name" | "attributes"; readonly size: number } | undefined;
  let longName: string | undefined;
  let isOver = false;

  const take = (count: number): Uint8Array | undefined => {
    if (held.length < count) return undefined;
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };

  const header = (block: Uint8Array): TarUnusable | undefined => {
    if (block.every((byte) => byte === 0)) {
      isOver = true;
      return undefined;
    }
    const size = sizeIn(block);
    if (size === undefined || !isHeader(block)) return new TarUnusable({ detail: "it is not an archive of tar" });
    const type = String.fromCharCode(block[156] ?? 0);
    if (type === "L" || type === "x") {
      if (size > NAME_BYTES_MAX) skipped = padded(size);
      else wanted = { purpose: type === "L" ? "name" : "attributes", size };
      return undefined;
    }
    const name = longName ?? nameIn(block);
    longName = undefined;
    if (normal(name) !== normal(path) || !["0", "\0", "7"].includes(type)) {
      skipped = padded(size);
      return undefined;
    }
    if (size > bytesMax) {
      return new TarUnusable({ detail: `${path} has ${size} bytes; at most ${bytesMax} are read` });
    }
    wanted = { purpose: "file", size };
    return undefined;
  };

  return {
    push: (bytes) => {
      let rest = bytes;
      if (skipped >= rest.length) {
        skipped -= rest.length;
        return MORE;
      }
      rest = rest.subarray(skipped);
      skipped = 0;
      held = held.length === 0 ? rest.slice() : concat(held, rest);
      while (!isOver) {
        if (skipped > 0) {
          const passed = Math.min(skipped, held.length);
          held = held.subarray(passed);
          skipped -= passed;
          if (skipped > 0) return MORE;
        }
        if (wanted === undefined) {
          const block = take(BLOCK);
          if (block === undefined) return MORE;
          const failure = header(block);
          if (failure !== undefined) return Result.fail(failure);
          continue;
        }
        const part = take(padded(wanted.size));
        if (part === undefined) return MORE;
        const content = part.slice(0, wanted.size);
        if (wanted.purpose === "file") return Result.succeed(content);
        longName = wanted.purpose === "name" ? textIn(content) : pathIn(textIn(content)) ?? longName;
        wanted = undefined;
      }
      held = new Uint8Array();
      return MORE;
    },
  };
};

const MORE = Result.succeed(undefined);

const padded = (size: number): number => Math.ceil(size / BLOCK) * BLOCK;

const concat = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
};

const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0[\s\S]*$/, "");

const fieldIn = (block: Uint8Array, from: number, length: number): string =>
  textIn(block.subarray(from, from + length));

/** Octal, or binary with the highest bit set for files of 8 GiB and more. */
const sizeIn = (block: Uint8Array): number | undefined => {
  if (((block[124] ?? 0) & 0x80) !== 0) {
    const size = [...block.subarray(125, 136)].reduce((sum, byte) => sum * 256 + byte, 0);
    return Number.isSafeInteger(size) ? size : undefined;
  }
  const text = fieldIn(block, 124, 12).trim();
  return text === "" ? 0 : /^[0-7]+$/.test(text) ? parseInt(text, 8) : undefined;
};

/** The checksum counts its own field as spaces. */
const isHeader = (block: Uint8Array): boolean => {
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return parseInt(fieldIn(block, 148, 8).trim(), 8) === sum;
};

const nameIn = (block: Uint8Array): string => {
  const prefix = fieldIn(block, 257, 5) === "ustar" ? fieldIn(block, 345, 155) : "";
  return prefix === "" ? fieldIn(block, 0, 100) : `${prefix}/${fieldIn(block, 0, 100)}`;
};

/** `12 path=a/b\n` among the records of an extended header. */
const pathIn = (text: string): string | undefined => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];

const normal = (name: string): string => name.replace(/^(?:\.?\/)+/, "");
