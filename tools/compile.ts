/**
 * `deno task compile [amd64|arm64] [FILE]`: compiles the program into one file, for Linux of that architecture, or for the
 * machine that compiles. The runtime is the file named by DENORT_BIN, or is downloaded by Deno; a release uses the latter.
 */
import { fileURLToPath } from "node:url";
import { dirname, resolve } from "node:path";
import { bundleOperator } from "./bundle_operator.ts";
import { compileProgram } from "./compile_program.ts";
import { TARGETS } from "./program_flags.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

if (import.meta.main) {
  const words = [...Deno.args];
  const target = Object.hasOwn(TARGETS, words[0] ?? "") ? TARGETS[words.shift() ?? ""] : Deno.build.target;
  const [file = `${ROOT}dist/llama-stack-operator`, ...others] = words;
  if (target === undefined || others.length > 0 || file.startsWith("-")) {
    console.error(`usage: deno task compile [${Object.keys(TARGETS).join("|")}] [FILE]`);
    Deno.exit(2);
  }
  // A task starts in the folder of the project.
  const output = resolve(Deno.env.get("INIT_CWD") ?? Deno.cwd(), file);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(dirname(output), { recursive: true });
    await compileProgram({ target, source: await bundleOperator(folder), output });
    console.error(`${output}: ${(await Deno.stat(output)).size} bytes, for ${target}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
