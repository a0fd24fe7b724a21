import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";

const API = "github.com/operator-framework/api";

/** The folder of the module that builds OLM: its go.mod names the version of the API that this OLM serves. */
const MODULE = join(import.meta.dirname ?? ".", "control_plane", "olm");

/** The CustomResourceDefinitions of OLM, one YAML text each, from the Go module in which they are published. */
export const olmDefinitions = async (): Promise<readonly string[]> => {
  const goMod = await Deno.readTextFile(join(MODULE, "go.mod"));
  const version = goMod.split("\n").map((line) => line.trim().split(" ")).find(([name]) => name === API)?.[1];
  if (version === undefined) throw new Error(`no ${API} in go.mod of olm`);
  const folder = await once(
    cacheDir("control_plane", `olm-definitions-${version}`),
    "OLM's definitions",
    async (into) => {
      const told = await must("go", ["mod", "download", "-json", API], { cwd: MODULE });
      await must("cp", ["--recursive", "--no-preserve=mode", join(JSON.parse(told).Dir, "crds"), into]);
    },
  );
  const crds = join(folder, "crds");
  const names = Array.from(Deno.readDirSync(crds), ({ name }) => name).filter((name) => name.endsWith(".yaml")).sort();
  return await Promise.all(names.map((name) => Deno.readTextFile(join(crds, name))));
};
