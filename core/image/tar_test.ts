import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { searchTar } from "./tar.ts";

/** An archive with these entries: name, content, type. */
const archive = (...entries: ReadonlyArray<readonly [string, string, string?]>): Uint8Array => {
  const blocks = entries.flatMap(([name, content, type = "0"]) => {
    const header = new Uint8Array(512);
    const body = new TextEncoder().encode(content);
    const put = (text: string, at: number) => header.set(new TextEncoder().encode(text), at);
    put(name, 0);
    put(body.length.toString(8).padStart(11, "0"), 124);
    put("        ", 148);
    put(type, 156);
    put("ustar", 257);
    put(header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0") + "\0 ", 148);
    const padded = new Uint8Array(Math.ceil(body.length / 512) * 512);
    padded.set(body);
    return [header, padded];
  });
  const all = [...blocks, new Uint8Array(1024)];
  const bytes = new Uint8Array(all.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of all) {
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
};

/** What is found if the archive comes in pieces of this size; undefined: nothing. */
const found = (bytes: Uint8Array, path: string, piece: number, bytesMax = 10_000): string | undefined => {
  const search = searchTar(path, bytesMax);
  for (let from = 0; from < bytes.length; from += piece) {
    const result = search.push(bytes.subarray(from, from + piece));
    if (Result.isFailure(result)) return result.failure.message;
    if (result.success !== undefined) return new TextDecoder().decode(result.success);
  }
  return undefined;
};

Deno.test("searchTar() finds a file in pieces of any size, and not those of similar names", () => {
  const bytes = archive(["a/", "", "5"], ["a/config.yaml.bak", "x".repeat(2000)], ["./a/config.yaml", "version: 2\n"]);
  for (const piece of [1, 7, 511, 512, 513, 4096, bytes.length]) {
    strictEqual(found(bytes, "a/config.yaml", piece), "version: 2\n");
    strictEqual(found(bytes, "config.yaml", piece), undefined);
  }
});

Deno.test("searchTar() reads long names in both formats", () => {
  const name = `${"folder/".repeat(30)}config.yaml`;
  strictEqual(found(archive(["././@LongLink", `${name}\0`, "L"], ["short", "one"]), name, 512), "one");
  strictEqual(found(archive(["pax", `230 path=${name}\n`, "x"], ["short", "two"]), name, 512), "two");
  strictEqual(found(archive(["././@LongLink", "y".repeat(9000), "L"], ["short", "three"]), "short", 512), "three");
});

Deno.test("searchTar() follows no link, and bounds the file", () => {
  strictEqual(found(archive(["config.yaml", "", "2"]), "config.yaml", 512), undefined);
  match(found(archive(["config.yaml", "x".repeat(11_000)]), "config.yaml", 512) ?? "", /at most 10000 are read/);
});

Deno.test("searchTar() reports what is no archive, and ends at the end of one", () => {
  match(found(new Uint8Array(1024).fill(65), "a", 512) ?? "", /is not an archive of tar/);
  deepStrictEqual(found(new Uint8Array([...archive(["b", "1"]), ...archive(["a", "2"])]), "a", 512), undefined);
});
