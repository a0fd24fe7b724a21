/** jemalloc, the allocator that the program is installed with (`allocatorEnv` in tools/program_flags.ts). */
import { installPackages, isFile } from "./debian_packages.ts";

/** Path of the library; undefined if it is missing and cannot be installed, which is reported on stderr. */
export const installAllocator = async (): Promise<string | undefined> => {
  const found = await libraryPath();
  if (found !== undefined) return found;
  try {
    await installPackages(["libjemalloc2"], `${LIBRARY} is missing.`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`${why} Until then the operator runs with the allocator of the system, and needs more memory.`);
    return undefined;
  }
  const installed = await libraryPath();
  if (installed === undefined) throw new Error(`package libjemalloc2 does not contain ${LIBRARY}`);
  return installed;
};

const LIBRARY = "libjemalloc.so.2";

/** Where Debian, Ubuntu and Fedora put libraries. */
const FOLDERS = [`/usr/lib/${Deno.build.arch}-linux-gnu`, "/usr/lib64", "/usr/lib"];

const libraryPath = async (): Promise<string | undefined> => {
  if (Deno.build.os !== "linux") return undefined;
  for (const folder of FOLDERS) {
    const path = `${folder}/${LIBRARY}`;
    if (await isFile(path)) return path;
  }
  return undefined;
};
