/**
 * `deno run --allow-all tools/release/pin.ts`: writes the digests that the images of a release have now, and the checksums of the
 * runtimes, into tools/pins.json. Review the difference, and commit it: a release takes nothing else. Requires skopeo and a network.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { OPERAND_IMAGES } from "../package/olm.ts";
import { runtimeName, runtimeUrl } from "../pins.ts";
import { TARGETS } from "../program_flags.ts";
import { baseImages } from "./base_images.ts";
import { containers, removeStorage } from "./containers.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const checksumOf = async (target: string): Promise<string> => {
  const response = await fetch(runtimeUrl(target));
  if (!response.ok) throw new Error(`${runtimeUrl(target)}: status ${response.status}`);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer())).toHex();
};

if (import.meta.main) {
  const storage = await Deno.makeTempDir();
  try {
    const registry = await containers(storage, false);
    const bases = baseImages(await Deno.readTextFile(join(ROOT, "Dockerfile"))).values();
    const images: Record<string, string> = {};
    for (const image of [...bases, ...OPERAND_IMAGES]) images[image] = await registry.digestOf(image);
    const runtimes: Record<string, string> = {};
    for (const target of Object.values(TARGETS)) runtimes[runtimeName(target)] = await checksumOf(target);
    await Deno.writeTextFile(join(ROOT, "tools/pins.json"), `${JSON.stringify({ images, runtimes }, null, 2)}\n`);
  } finally {
    await removeStorage(storage);
  }
}
