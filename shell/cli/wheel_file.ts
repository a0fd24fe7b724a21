/** Reads the list of files and the metadata of a wheel, which is a zip archive; its other content stays on the disk. */
import { inflateRawSync } from "node:zlib";
import { METADATA_FILE, type WheelParts } from "../../core/image/wheel.ts";
import { WHEEL_FILES_MAX, WHEEL_METADATA_BYTES_MAX } from "../limits.ts";

/** Source: APPNOTE.TXT of PKWARE, 4.3. Sizes of 4 GiB and more (zip64) are not supported. */
const END = { signature: 0x06054b50, bytes: 22, commentMax: 65_535 };
const ENTRY = { signature: 0x02014b50, bytes: 46 };
const LOCAL = { bytes: 30 };
const STORED = 0;
const DEFLATED = 8;

/** Throws an Error with a sentence if it is no such archive. */
export const readWheelParts = async (path: string): Promise<WheelParts> => {
  using file = await Deno.open(path, { read: true });
  const { size, isFile } = await file.stat();
  if (!isFile) throw new Error("it is not a file");
  const read = async (offset: number, bytes: number): Promise<DataView> => {
    if (offset < 0 || bytes < 0 || offset + bytes > size) throw new Error("it is not a zip archive");
    await file.seek(offset, Deno.SeekMode.Start);
    const buffer = new Uint8Array(bytes);
    for (let filled = 0; filled < bytes;) {
      const count = await file.read(buffer.subarray(filled));
      if (count === null) throw new Error("it ends too early");
      filled += count;
    }
    return new DataView(buffer.buffer);
  };
  const tailBytes = Math.min(size, END.bytes + END.commentMax);
  const end = endIn(await read(size - tailBytes, tailBytes));
  if (end.count > WHEEL_FILES_MAX) throw new Error(`it has more than ${WHEEL_FILES_MAX} files`);
  const entries = entriesIn(await read(end.offset, end.bytes), end.count);
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw new Error("it is encrypted");
  if (entries.some(({ method }) => method !== STORED && method !== DEFLATED)) {
    throw new Error("it is compressed in an unknown way");
  }
  const metadata = new Map<string, string>();
  let left = WHEEL_METADATA_BYTES_MAX;
  for (const entry of entries.filter(({ name }) => METADATA_FILE.test(name))) {
    left -= Math.max(entry.packed, entry.size);
    if (left < 0) {
      throw new Error("its METADATA is too large");
    }
    const local = await read(entry.offset, LOCAL.bytes);
    const start = entry.offset + LOCAL.bytes + local.getUint16(26, true) + local.getUint16(28, true);
    const content = new Uint8Array((await read(start, entry.packed)).buffer);
    const plain = entry.method === STORED
      ? content
      : inflateRawSync(content, { maxOutputLength: Math.max(1, entry.size) });
    metadata.set(entry.name, new TextDecoder().decode(plain));
  }
  return { file: path.slice(path.lastIndexOf("/") + 1), files: entries.map(({ name }) => name), metadata };
};

const endIn = (tail: DataView): { readonly count: number; readonly bytes: number; readonly offset: number } => {
  for (let at = tail.byteLength - END.bytes; at >= 0; at--) {
    if (tail.getUint32(at, true) === END.signature) {
      return {
        count: tail.getUint16(at + 10, true),
        bytes: tail.getUint32(at + 12, true),
        offset: tail.getUint32(at + 16, true),
      };
    }
  }
  throw new Error("it is not a zip archive");
};

interface Entry {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const entriesIn = (directory: DataView, count: number): ReadonlyArray<Entry> => {
  const found: Entry[] = [];
  for (let at = 0, index = 0; index < count; index++) {
    if (at + ENTRY.bytes > directory.byteLength || directory.getUint32(at, true) !== ENTRY.signature) {
      throw new Error("its list of files is damaged");
    }
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.getUint16(at + field, true)) as [
      number,
      number,
      number,
    ];
    if (at + ENTRY.bytes + name > directory.byteLength) throw new Error("its list of files is damaged");
    found.push({
      name: new TextDecoder().decode(new Uint8Array(directory.buffer, at + ENTRY.bytes, name)),
      isEncrypted: (directory.getUint16(at + 8, true) & 1) === 1,
      method: directory.getUint16(at + 10, true),
      packed: directory.getUint32(at + 20, true),
      size: directory.getUint32(at + 24, true),
      offset: directory.getUint32(at + 42, true),
    });
    at += ENTRY.bytes + name + extra + comment;
  }
  return found;
};
