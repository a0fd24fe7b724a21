import { deepStrictEqual, rejects } from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { join } from "node:path";
import { readWheelParts } from "./wheel_file.ts";

/** A zip archive; the reader looks at no checksum. */
const zipOf = (files: Readonly<Record<string, string>>, comment = ""): Uint8Array<ArrayBuffer> => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(encode(text));
    const header = (bytes: number, signature: number, at: number) => {
      const view = new DataView(new ArrayBuffer(bytes));
      view.setUint32(0, signature, true);
      view.setUint16(at + 2, 8, true);
      view.setUint32(at + 12, packed.length, true);
      view.setUint32(at + 16, encode(text).length, true);
      view.setUint16(at + 20, encode(name).length, true);
      return view;
    };
    const entry = header(46, 0x02014b50, 8);
    entry.setUint32(42, offset, true);
    directory.push(new Uint8Array(entry.buffer), encode(name));
    const local = [new Uint8Array(header(30, 0x04034b50, 6).buffer), encode(name), packed];
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(10, Object.keys(files).length, true);
  end.setUint32(12, directory.reduce((sum, { length }) => sum + length, 0), true);
  end.setUint32(16, offset, true);
  end.setUint16(20, comment.length, true);
  const all = [...parts, ...directory, new Uint8Array(end.buffer), encode(comment)];
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  all.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
};

const FILES = {
  "own/provider.py": "x = 1\n".repeat(1000),
  "own-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: own\n",
};

Deno.test("readWheelParts() lists the files of a wheel and reads its metadata, with a comment behind it too", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const comment of ["", "a comment"]) {
      const path = join(folder, "own-1.0-py3-none-any.whl");
      await Deno.writeFile(path, zipOf(FILES, comment));
      deepStrictEqual(await readWheelParts(path), {
        file: "own-1.0-py3-none-any.whl",
        files: Object.keys(FILES),
        metadata: new Map([["own-1.0.dist-info/METADATA", FILES["own-1.0.dist-info/METADATA"]]]),
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (
  const [name, content, why] of [
    ["an empty file", new Uint8Array(), /not a zip archive/],
    ["a text", new TextEncoder().encode("not a zip archive at all, but long enough"), /not a zip archive/],
    ["an archive without its beginning", zipOf(FILES).slice(40), /not a zip archive|damaged|too early/],
    ["too much metadata", zipOf({ "a.dist-info/METADATA": "a".repeat(5 * 1024 * 1024) }), /METADATA is too large/],
  ] as const
) {
  Deno.test(`readWheelParts() rejects ${name}`, async () => {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeFile(path, content);
      await rejects(readWheelParts(path), why);
    } finally {
      await Deno.remove(path);
    }
  });
}
