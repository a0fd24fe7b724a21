/** The program, minified: the entry point, and a file for each part that only some commands load. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const ENTRY = "mod.js";

/**
 * Path of the entry point, in a folder of its own within the given one. Same sources, same bytes, wherever they are.
 *
 * @param root The folder of the sources.
 */
export const bundleOperator = async (folder: string, root = ROOT): Promise<string> => {
  const bundle = join(folder, "bundle");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", bundle, "mod.ts"],
    cwd: root,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  await renameInOrder(bundle);
  // The times are part of the compiled file.
  for (const file of bundledFiles(bundle)) await Deno.utime(file, 0, 0);
  return join(bundle, ENTRY);
};

/** Paths of the files in the folder of a bundle, in a fixed order. */
export const bundledFiles = (bundle: string): ReadonlyArray<string> =>
  [...Deno.readDirSync(bundle)].map(({ name }) => join(bundle, name)).sort();

/**
 * Replaces the hash in the name of each file by the position at which it is first imported. The hash depends on the path from
 * the sources to the packages of npm, which is another one in the image than in a checkout.
 */
const renameInOrder = async (bundle: string): Promise<void> => {
  const texts = new Map<string, string>();
  const waiting = [ENTRY];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (texts.has(name)) continue;
    const text = await Deno.readTextFile(join(bundle, name));
    texts.set(name, text);
    for (const [imported] of text.matchAll(HASHED_NAME)) waiting.push(imported);
  }
  const renamed = new Map(
    [...texts.keys()].map((name, index) => [name, name.replace(HASH, `-${index}.js`)]),
  );
  for (const file of bundledFiles(bundle)) await Deno.remove(file);
  for (const [name, text] of texts) {
    await Deno.writeTextFile(
      join(bundle, renamed.get(name) ?? name),
      text.replaceAll(HASHED_NAME, (imported) => renamed.get(imported) ?? imported),
    );
  }
};

/** As Deno 2.9.6 names all files but the entry point. */
const HASH = /-[0-9A-Z]{8}\.js$/;
const HASHED_NAME = /(?<="\.\/)[\w.]+-[0-9A-Z]{8}\.js(?=")/g;
