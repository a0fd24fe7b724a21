/**
 * Stand-ins for the two bases of the Dockerfile, for tests: what those of a release are made of, as far as the Dockerfile
 * uses it, from Debian and npm. The one that builds also has everything that the build would download (docs/releases.md).
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { runtimeOfTests } from "./deno_runtime.ts";
import { must, sha256Of } from "./run_program.ts";
import { ARCHITECTURE, archiveOf, type Image, installBase, installDebian, layerIn, layerOf } from "./server_images.ts";

const ROOT = new URL("../../", import.meta.url);

interface Bases<A> {
  readonly deno: A;
  readonly runtime: A;
}

/** Paths of two archives in the folder, as `docker save` writes them: values of the arguments DENO and RUNTIME. */
export const archiveBases = async (folder: string): Promise<Bases<string>> => {
  const { deno, runtime } = await installBases();
  return { deno: await archive(folder, deno), runtime: await archive(folder, runtime) };
};

export const installBases = async (): Promise<Bases<Image>> => {
  const denort = await runtimeOfTests();
  const env = [
    "DENO_DIR=/deno-dir",
    "DENO_NO_UPDATE_CHECK=1",
    ...(denort === undefined ? [] : [`DENORT_BIN=${DENORT}`]),
  ];
  const debian = await installDebian("build", ["ca-certificates", "binutils", "libjemalloc2"]);
  return {
    deno: {
      name: "localhost/deno:stand-in",
      config: { Env: [PATH, ...env] },
      layers: [debian, await layerIn(await installDeno(denort))],
    },
    runtime: { name: "localhost/runtime:stand-in", config: { Env: [PATH] }, layers: [await installBase()] },
  };
};

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const DENORT = "/deno-dir/denort";

/** Deno as it is here, and its cache with the packages and programs that compiling needs. */
const installDeno = async (denort: string | undefined): Promise<string> => {
  const packages = (await sha256Of(fileURLToPath(new URL("deno.lock", ROOT)))).slice(0, 8);
  return await once(
    cacheDir("images", `deno-${Deno.version.deno}-${denort === undefined ? "" : "denort-"}${packages}`),
    "Deno and what it downloads, as a layer of images (first time, about 30 s)",
    async (into) => {
      const root = join(into, "root");
      const cache = join(root, "deno-dir");
      await Deno.mkdir(join(root, "usr/bin"), { recursive: true });
      await Deno.mkdir(cache);
      await Deno.copyFile(Deno.execPath(), join(root, "usr/bin/deno"));
      if (denort !== undefined) await Deno.copyFile(denort, join(root, DENORT));
      const tried = join(into, "llama-stack-operator");
      await must(Deno.execPath(), ["run", "--allow-all", "tools/compile.ts", ARCHITECTURE, tried], {
        cwd: fileURLToPath(ROOT),
        env: { ...Deno.env.toObject(), DENO_DIR: cache, ...(denort === undefined ? {} : { DENORT_BIN: denort }) },
      });
      await Deno.remove(tried);
      await layerOf(root, into);
      await Deno.remove(root, { recursive: true });
    },
  );
};

const archive = async (folder: string, image: Image): Promise<string> => {
  const unpacked = await archiveOf([image]);
  try {
    const file = join(folder, `${image.name.replace(/^.*\/(.*):.*$/, "$1")}.tar`);
    await must("tar", ["--create", "--dereference", "--file", file, "--directory", unpacked, "."]);
    return file;
  } finally {
    await Deno.remove(unpacked, { recursive: true });
  }
};
