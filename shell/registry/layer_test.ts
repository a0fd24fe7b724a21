import { match, rejects, strictEqual } from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { inFolder } from "../../tests/folder.ts";
import { hugeArchive, layerWith } from "../../tests/cluster/protected_registry.ts";
import { fileInLayer } from "./layer.ts";
import { LAYER_UNPACKED_BYTES_MAX } from "./limits.ts";

Deno.test("fileInLayer() finds a file in a layer of any compression", () =>
  inFolder(async (folder) => {
    for (const compression of ["gzip", "zstd", "none"] as const) {
      const layer = await layerWith(folder, "a/b/config.yaml", "version: 2\n", compression);
      const found = await fileInLayer(layer, "a/b/config.yaml", 1000);
      strictEqual(new TextDecoder().decode(found), "version: 2\n");
      strictEqual(await fileInLayer(layer, "config.yaml", 1000), undefined);
      await rejects(fileInLayer(layer, "a/b/config.yaml", 5), /at most 5 are read/);
    }
  }));

Deno.test("fileInLayer() stops unpacking a layer that becomes too large", async () => {
  const bomb = hugeArchive(LAYER_UNPACKED_BYTES_MAX + 1024 * 1024);
  for (const layer of [gzipSync(bomb), zstdCompressSync(bomb)]) {
    await rejects(fileInLayer(layer, "config.yaml", 1000), /unpacks to more than 67108864 bytes/);
  }
});

Deno.test("fileInLayer() reports what is damaged", async () => {
  const damaged = new Uint8Array(gzipSync(new Uint8Array(5000)));
  damaged.fill(255, 12);
  const failure = await fileInLayer(damaged, "a", 10).catch((cause) => cause);
  match(failure.message, /cannot be unpacked|not an archive of tar/);
});
