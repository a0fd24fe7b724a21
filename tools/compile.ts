/**
 * Compiles the program for an architecture (`amd64`, `arm64`) into one file: the minified bundle, with the permissions and
 * memory settings that every other way of starting it has. The runtime for the target is downloaded by Deno.
 *
 * `deno run --allow-all tools/compile.ts amd64 FILE`
 */
import { bundleOperator } from "./bundle_operator.ts";
import { compileCommand, TARGETS } from "./program_flags.ts";

if (import.meta.main) {
  const [architecture = "", output] = Deno.args;
  if (!Object.hasOwn(TARGETS, architecture) || output === undefined) {
    console.error(`usage: compile.ts ${Object.keys(TARGETS).join("|")} FILE; "${architecture}" is no architecture`);
    Deno.exit(2);
  }
  const folder = await Deno.makeTempDir();
  const bundle = await bundleOperator(folder);
  const { code } = await new Deno.Command(Deno.execPath(), { args: compileCommand(architecture, bundle, output) })
    .spawn().status;
  await Deno.remove(folder, { recursive: true });
  Deno.exit(code);
}
