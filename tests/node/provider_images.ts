/** Images of external providers on the node. */
import { join } from "node:path";
import { importImages } from "../../tools/cluster/real_node/prepared_images.ts";
import { archiveOf, type Image, installBase, layerOf } from "../../tools/install/server_images.ts";

export interface ProviderImage {
  readonly name: string;
  /** The text of lls-provider-spec.yaml; undefined: the image has none. */
  readonly description: string | undefined;
  /** Paths of wheels. */
  readonly wheels: ReadonlyArray<string>;
  /** Whether there is a shell. */
  readonly hasShell?: boolean;
}

/** Puts them onto the node, all at once: they share a base. */
export const importProviderImages = async (images: ReadonlyArray<ProviderImage>): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    const base = await installBase();
    const made: Image[] = [];
    for (const [index, { name, description, wheels, hasShell = true }] of images.entries()) {
      const root = join(folder, String(index), "root");
      const packages = join(root, "lls-provider", "packages");
      await Deno.mkdir(packages, { recursive: true });
      if (description !== undefined) {
        await Deno.writeTextFile(join(root, "lls-provider", "lls-provider-spec.yaml"), description);
      }
      for (const wheel of wheels) await Deno.copyFile(wheel, join(packages, wheel.slice(wheel.lastIndexOf("/") + 1)));
      const layer = await layerOf(root, join(folder, String(index)));
      made.push({ name, config: { Env: [PATH] }, layers: hasShell ? [base, layer] : [layer] });
    }
    const archive = await archiveOf(made);
    try {
      await importImages(archive);
    } finally {
      await Deno.remove(archive, { recursive: true });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
