/** The files of a published Python package without its dependencies: a wheel, unpacked into the cache. */
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { findPython } from "./python_server.ts";
import { must } from "./run_program.ts";
import { PIP } from "./tiktoken_data.ts";

/** Folder of the unpacked wheel of e.g. `ogx`, `1.4.1`. */
export const unpackedPackage = (name: string, version: string): Promise<string> =>
  once(
    cacheDir("packages", `${name}-${version}`),
    `files of ${name} ${version} (first time, about 5 s)`,
    async (into) => {
      const { path } = await findPython();
      const downloads = join(into, "downloads");
      const wheel = ["--no-deps", "--only-binary", ":all:", "-d", downloads, `${name}==${version}`];
      await must(path, [...PIP, "download", ...wheel]);
      await must(path, ["-c", UNPACK, downloads, into]);
      await Deno.remove(downloads, { recursive: true });
    },
  );

const UNPACK = `
import pathlib, sys, zipfile
[wheel] = pathlib.Path(sys.argv[1]).glob("*.whl")
zipfile.ZipFile(wheel).extractall(sys.argv[2])
`;
