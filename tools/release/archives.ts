/** Compiled programs as archives to download, and the checksums of everything that a release publishes. */
import { join } from "node:path";
import { PLUGIN_FILE } from "../../shell/cli/invocation.ts";
import { bundleOperator } from "../bundle_operator.ts";
import { compileProgram } from "../compile_program.ts";
import { must, sha256Of } from "../install/run_program.ts";
import { TARGETS } from "../program_flags.ts";
import type { PluginArchive } from "./krew.ts";

/**
 * Two archives for each architecture, in `folder`: the program under its own name, and as a plugin of kubectl. Returns
 * the plugins. `url` is the folder from which they will be downloaded.
 */
export const writeArchives = async (
  { root, folder, version, architectures, url, denort }: {
    readonly root: string;
    readonly folder: string;
    readonly version: string;
    readonly architectures: ReadonlyArray<string>;
    readonly url: string;
    /** A file with the runtime; undefined: Deno downloads it. */
    readonly denort: string | undefined;
  },
): Promise<ReadonlyArray<PluginArchive>> => {
  const work = await Deno.makeTempDir();
  try {
    const source = await bundleOperator(work);
    await Deno.copyFile(join(root, "LICENSE"), join(work, "LICENSE"));
    const plugins: PluginArchive[] = [];
    for (const architecture of architectures) {
      const program = join(work, PROGRAM);
      await compileProgram({ target: TARGETS[architecture] ?? architecture, source, output: program }, denort);
      const name = `${PROGRAM}-${version}-linux-${architecture}.tar.gz`;
      await archive(join(folder, name), work, [PROGRAM, "LICENSE"]);
      await Deno.rename(program, join(work, PLUGIN_FILE));
      const plugin = `${PLUGIN_FILE}-${version}-linux-${architecture}.tar.gz`;
      await archive(join(folder, plugin), work, [PLUGIN_FILE, "LICENSE"]);
      const sha256 = await sha256Of(join(folder, plugin));
      plugins.push({ os: "linux", architecture, url: `${url}/${plugin}`, sha256 });
    }
    return plugins;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
};

const PROGRAM = "llama-stack-operator";

/** The same bytes for the same files: no times, no names of users, a fixed order. */
export const archive = async (file: string, folder: string, names: ReadonlyArray<string>): Promise<void> => {
  await must("tar", [
    ...["--create", "--file", file, "--use-compress-program=gzip -n -9", "--directory", folder],
    ...["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", ...names],
  ]);
};

export const CHECKSUMS = "SHA256SUMS";

/** As `sha256sum --check` reads it: every file of the folder. */
export const writeChecksums = async (folder: string): Promise<void> => {
  const names = Array.from(Deno.readDirSync(folder)).filter(({ isFile, name }) => isFile && !name.startsWith(CHECKSUMS))
    .map(({ name }) => name).toSorted();
  const lines = await Promise.all(names.map(async (name) => `${await sha256Of(join(folder, name))}  ${name}\n`));
  await Deno.writeTextFile(join(folder, CHECKSUMS), lines.join(""));
};
