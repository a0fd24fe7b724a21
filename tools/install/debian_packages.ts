/** Programs that come as packages of Debian or Ubuntu. */
import { join } from "node:path";
import { alone, cacheDir } from "./cache.ts";
import { must } from "./run_program.ts";

/** Installs packages where that is possible; else fails with `missing` and what to do about it. */
export const installPackages = async (packages: readonly string[], missing: string): Promise<void> => {
  const names = packages.join(" ");
  if (Deno.uid() !== 0 || !await isFile(APT_GET)) {
    throw new Error(`${missing} Install the package, for example with "apt-get install ${names}" on Debian.`);
  }
  // Of two apt-get at a time one fails at once: it does not wait for the lock of the lists.
  await alone(cacheDir("apt-get"), `Debian packages, for ${names}`, async () => {
    console.error(`installing the Debian package ${names} (about 20 s) …`);
    const startedMs = performance.now();
    await aptGet("update");
    await aptGet("-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--no-install-recommends", ...packages);
    console.error(`installed ${names} in ${Math.round((performance.now() - startedMs) / 1000)} s`);
  });
};

/** The path of a system program, after its packages were installed if need be. */
export const installProgram = async (program: string, packages: readonly string[]): Promise<string> => {
  const found = await programPath(program);
  if (found !== undefined) return found;
  await installPackages(packages, `${program} is not on PATH.`);
  const path = await programPath(program);
  if (path === undefined) throw new Error(`${packages.join(" ")} does not contain ${program}`);
  return path;
};

/** Undefined if it is not installed. */
export const programPath = async (program: string): Promise<string | undefined> => {
  for (const folder of programFolders()) {
    const path = join(folder, program);
    if (await isFile(path)) return path;
  }
  return undefined;
};

/** The folders of PATH, and those of system programs, which PATH may lack. */
const programFolders = (): readonly string[] => [
  ...new Set(`${Deno.env.get("PATH") ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`.split(":").filter((text) => text !== "")),
];

export const isFile = async (path: string): Promise<boolean> => {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (NO_FILE.some((kind) => error instanceof kind)) return false;
    throw error;
  }
};

/** The last one: a folder of PATH that this user may not read. */
const NO_FILE = [Deno.errors.NotFound, Deno.errors.NotADirectory, Deno.errors.PermissionDenied];

const APT_GET = "/usr/bin/apt-get";

const aptGet = (...args: string[]): Promise<string> =>
  must(APT_GET, ["--quiet", ...args], { env: { ...Deno.env.toObject(), DEBIAN_FRONTEND: "noninteractive" } });
