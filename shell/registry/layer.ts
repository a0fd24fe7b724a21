/** One file of a layer, whichever way it is compressed. */
import * as Result from "effect/Result";
import { searchTar, TarUnusable } from "../../core/image/tar.ts";
import { LAYER_UNPACKED_BYTES_MAX } from "./limits.ts";

/** Undefined: there is no such file. Throws TarUnusable. */
export const fileInLayer = async (
  layer: Uint8Array,
  path: string,
  bytesMax: number,
): Promise<Uint8Array | undefined> => {
  const search = searchTar(path, bytesMax);
  const [zlib, { Readable }] = await Promise.all([import("node:zlib"), import("node:stream")]);
  const isGzip = layer[0] === 0x1f && layer[1] === 0x8b;
  const isZstd = layer[0] === 0x28 && layer[1] === 0xb5 && layer[2] === 0x2f && layer[3] === 0xfd;
  if (!isGzip && !isZstd) return Result.getOrThrow(search.push(layer));
  const unpacking = isGzip ? zlib.createGunzip() : zlib.createZstdDecompress();
  const source = Readable.from([layer]);
  source.pipe(unpacking);
  let count = 0;
  try {
    for await (const chunk of unpacking as AsyncIterable<Uint8Array>) {
      count += chunk.length;
      if (count > LAYER_UNPACKED_BYTES_MAX) {
        throw new TarUnusable({ detail: `it unpacks to more than ${LAYER_UNPACKED_BYTES_MAX} bytes` });
      }
      const found = Result.getOrThrow(search.push(chunk));
      if (found !== undefined) return found;
    }
    return undefined;
  } catch (cause) {
    throw cause instanceof TarUnusable ? cause : new TarUnusable({ detail: "it cannot be unpacked" });
  } finally {
    source.destroy();
    unpacking.destroy();
  }
};
