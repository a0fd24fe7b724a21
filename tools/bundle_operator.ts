/** The program, minified: the entry point, and a file for each part that only some commands load. */
import { join } from "node:path";

const ROOT = new URL("../", import.meta.url);

/** Path of the entry point, in a folder of its own within the given one. */
export const bundleOperator = async (folder: string): Promise<string> => {
  const bundle = join(folder, "bundle");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", bundle, "mod.ts"],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  // The times are part of the compiled file.
  for (const file of bundledFiles(bundle)) await Deno.utime(file, 0, 0);
  return join(bundle, "mod.js");
};

/** Paths of the files in the folder of a bundle, in a fixed order. */
export const bundledFiles = (bundle: string): ReadonlyArray<string> =>
  [...Deno.readDirSync(bundle)].map(({ name }) => join(bundle, name)).sort();
