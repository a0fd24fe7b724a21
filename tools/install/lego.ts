import { join } from "node:path";
import { must } from "./run_program.ts";

const LEGO = "github.com/go-acme/lego/v5";

/**
 * Puts lego, through which Traefik obtains certificates, into the folder of Traefik's module, without its providers of
 * DNS: they would download and compile the clients of more than a hundred clouds.
 */
export const addLego = async (folder: string): Promise<void> => {
  const goMod = await Deno.readTextFile(join(folder, "go.mod"));
  const version = goMod.split("\n").map((line) => line.trim().split(" ")).find(([name]) => name === LEGO)?.[1];
  if (version === undefined) throw new Error(`no ${LEGO} in go.mod of traefik`);
  // Outside of the module, whose go.mod replaces it.
  const told = await must("go", ["mod", "download", "-json", `${LEGO}@${version}`], { cwd: join(folder, "no_dns") });
  const lego = join(folder, "lego");
  await must("cp", ["--recursive", "--no-preserve=mode", JSON.parse(told).Dir, lego]);
  await Deno.remove(join(lego, "providers", "dns"), { recursive: true });
  await Deno.rename(join(folder, "no_dns"), join(lego, "providers", "dns"));
};
