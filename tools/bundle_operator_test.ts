import { fileURLToPath } from "node:url";
import { deepStrictEqual } from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { inFolder } from "../tests/folder.ts";
import { bundledFiles, bundleOperator } from "./bundle_operator.ts";
import { must } from "./install/run_program.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SOURCES = ["core", "shell", "configs", "mod.ts", "deno.json", "deno.lock"];

Deno.test("the bundle of a copy of the sources in another place has the same files", () =>
  inFolder(async (folder) => {
    // As far from the packages of npm as no checkout is.
    const copy = join(folder, "one/more/folder/of/folders");
    await Deno.mkdir(copy, { recursive: true });
    await must("cp", ["--recursive", ...SOURCES.map((name) => join(ROOT, name)), copy]);
    const filesOf = async (into: string, root: string) => {
      const bundle = dirname(await bundleOperator(join(folder, into), root));
      return await Promise.all(
        bundledFiles(bundle).map(async (file) => [basename(file), await Deno.readTextFile(file)] as const),
      );
    };
    const files = await filesOf("here", ROOT);
    const others = await filesOf("there", copy);
    deepStrictEqual(others.map(([name]) => name), files.map(([name]) => name));
    // Texts of hundreds of kilobytes are no help in a message.
    const differing = files.filter(([, text], index) => others[index]?.[1] !== text);
    deepStrictEqual(differing.map(([name]) => name), []);
  }));
