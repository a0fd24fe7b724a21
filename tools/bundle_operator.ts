/** The program as one minified file. */
import { join } from "node:path";

const ROOT = new URL("../", import.meta.url);

/** Path of the bundle in the folder. */
export const bundleOperator = async (folder: string): Promise<string> => {
  const bundle = join(folder, "operator.js");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--output", bundle, "mod.ts"],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return bundle;
};
