/** Container images of the servers, made without Docker: a layer of Debian, and on it one layer per server. Needs root. */
import { dirname, join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { installProgram } from "./debian_packages.ts";
import { findPython, type ServerVersion } from "./python_server.ts";
import { must, sha256Of } from "./run_program.ts";
import { fetchTiktokenData, TIKTOKEN_SHA256 } from "./tiktoken_data.ts";
import { installUv } from "./uv.ts";

/** Images by their full names: a server's, or Debian alone, which sleeps. */
export type WantedImages = Readonly<Record<string, ServerVersion | "debian">>;

/**
 * A directory in the format of `docker save`, not packed yet: containerd imports its `tar --dereference`. The caller
 * removes it.
 */
export const imageArchive = async (wanted: WantedImages): Promise<string> =>
  await archiveOf(
    await Promise.all(
      Object.entries(wanted).map(async ([name, content]) => ({
        name,
        config: settingsOf(content),
        layers: [await installBase(), ...(content === "debian" ? [] : [await installServerLayer(content)])],
      })),
    ),
  );

export interface Image {
  readonly name: string;
  /** `config` of the image: Env, Entrypoint, User and the like. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The lowest first. */
  readonly layers: readonly Layer[];
}

/** The folder, for layers that lie somewhere already. */
export const archiveOf = async (images: readonly Image[]): Promise<string> => {
  const archive = await Deno.makeTempDir({ prefix: "llama-stack-operator-images-" });
  const manifest: unknown[] = [];
  for (const { name, config: settings, layers } of images) {
    const config = `${name.replaceAll(/[^a-z0-9.]/g, "-")}.json`;
    const rootfs = { type: "layers", diff_ids: layers.map(({ sha256 }) => `sha256:${sha256}`) };
    const content = { os: "linux", architecture: ARCHITECTURE, config: settings, rootfs };
    await Deno.writeTextFile(join(archive, config), JSON.stringify(content));
    for (const layer of layers) await linked(join(layer.folder, LAYER), join(archive, `${layer.sha256}.tar.gz`));
    manifest.push({ Config: config, RepoTags: [name], Layers: layers.map(({ sha256 }) => `${sha256}.tar.gz`) });
  }
  await Deno.writeTextFile(join(archive, "manifest.json"), JSON.stringify(manifest));
  return archive;
};

/** A directory with a compressed layer and its uncompressed digest. */
export interface Layer {
  readonly folder: string;
  readonly sha256: string;
}

const HERE = import.meta.dirname ?? ".";

/** The first Debian whose Python (3.13) is new enough for the servers. */
const SUITE = "trixie";
const LAYER = "layer.tar.gz";
const SHA256 = "layer.sha256";
const ROOT = "root";

/** The packages of the lock files and their tiktoken data are here, inside the image. */
const OPT = "/opt/server";
const PYTHON = `${OPT}/bin/python3`;
const TIKTOKEN = "/opt/tiktoken";
const STAND_INS = "/opt/stand_ins";

const settingsOf = (server: ServerVersion | "debian"): Image["config"] => ({
  Env: server === "debian" ? [PATH] : [
    PATH.replace("=", `=${dirname(PYTHON)}:`),
    `TIKTOKEN_CACHE_DIR=${TIKTOKEN}`,
    `PYTHONPATH=${STAND_INS}`,
  ],
  Cmd: ["sleep", "infinity"],
});

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** As images and Debian name it. */
export const ARCHITECTURE = Deno.build.arch === "aarch64" ? "arm64" : "amd64";

/** Debian, smaller than it comes. */
export const installBase = (): Promise<Layer> =>
  installDebian("debian", ["python3", "python3-venv", "ca-certificates"], async (root) => {
    for (const left of ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man"]) {
      await emptyFolder(join(root, left));
    }
  });

/** Debian with packages, as a layer; `tidy` gets its root folder. */
export const installDebian = async (
  name: string,
  packages: readonly string[],
  tidy: (root: string) => Promise<void> = () => Promise.resolve(),
): Promise<Layer> => {
  const folder = await once(
    cacheDir("images", `${name}-${SUITE}-${ARCHITECTURE}`),
    `Debian ${SUITE} as a layer of images: ${name} (first time, about 60 s)`,
    async (into) => {
      const debootstrap = await installProgram("debootstrap", ["debootstrap", "debian-archive-keyring"]);
      const root = join(into, ROOT);
      await must("unshare", [
        ...["--mount", "--pid", "--fork", "--mount-proc", debootstrap, "--variant=minbase"],
        ...[`--include=${packages.join()}`, SUITE, root],
      ]);
      await tidy(root);
      await pack(root, ".", into);
    },
  );
  return layerIn(folder);
};

const installServerLayer = async (server: ServerVersion): Promise<Layer> => {
  const name = server.replace(" ", "-");
  const requirements = join(HERE, "requirements", `${name}.txt`);
  const standIn = join(HERE, "stand_ins", "torch.py");
  const digest = `${await sha256Of(requirements)}${await sha256Of(standIn)}${TIKTOKEN_SHA256}`;
  const version = (await must("sh", ["-c", 'printf %s "$1" | sha256sum', "sh", digest])).slice(0, 8);
  const base = await installBase();
  const folder = await once(
    cacheDir("images", `${name}-${SUITE}-${ARCHITECTURE}-${version}`),
    `${server} as a layer of images (first time, about 110 s)`,
    async (into) => {
      const opt = join(into, "opt");
      for (const path of [OPT, TIKTOKEN, STAND_INS]) await Deno.mkdir(join(into, path), { recursive: true });
      await Deno.copyFile(standIn, join(into, STAND_INS, "torch.py"));
      const inside = async (...command: string[]) =>
        await must("unshare", ["--mount", "sh", "-euc", IN_ROOT, "sh", join(base.folder, ROOT), opt, ...command]);
      await inside("python3", "-m", "venv", "--without-pip", OPT);
      const { path } = await findPython();
      const uv = await installUv(path);
      const python = (await inside(PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")).trim();
      const packages = join(into, OPT, "lib", `python${python}`, "site-packages");
      // By the machine's own uv, for the Python of the image.
      const target = [
        "--python-version",
        python,
        "--python-platform",
        `${Deno.build.arch}-manylinux_2_40`,
        "--target",
        packages,
      ];
      await uv(["--quiet", "pip", "install", ...target, "--no-deps", "-r", requirements]);
      await fetchTiktokenData(async (args) => void await must(path, args), join(into, TIKTOKEN));
      // The server cannot write next to its packages: without byte code each start would compile them again. All of it
      // would double the size of the image, so only the modules that servers load are compiled, by loading them.
      await inside(PYTHON, "-c", LOAD_SERVER, packageOf(server));
      await pack(into, "opt", into);
      await Deno.remove(opt, { recursive: true });
    },
  );
  return layerIn(folder);
};

/** The package of a server, as Python names it. */
const packageOf = (server: ServerVersion): string => server.startsWith("ogx") ? "ogx" : "llama_stack";

const LOAD_SERVER = `
import importlib, os, pkgutil, sys
sys.path.append("${STAND_INS}")
package = sys.argv[1]
importlib.import_module(package + ".core.server.server")
for folder in ("inline", "remote", "utils"):
    providers = importlib.import_module(f"{package}.providers.{folder}")
    for module in pkgutil.walk_packages(providers.__path__, providers.__name__ + ".", onerror=lambda name: None):
        try:
            importlib.import_module(module.name)
        except BaseException:
            pass  # It wants a package that no test needs.
# Not by the usual end: threads of the providers would be waited for.
os._exit(0)
`;

/**
 * Runs a command in a root folder, with another folder as its /opt and the machine's own names, certificates and settings
 * of pip. The mounts are gone with the process.
 */
const IN_ROOT = `
root=$1 opt=$2; shift 2
mount --bind "$opt" "$root/opt"
mount -t proc proc "$root/proc"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /etc/pip.conf; do
  [ -e "$file" ] || continue
  [ -e "$root$file" ] || { rm -f "$root$file"; : > "$root$file"; }
  mount --bind "$(readlink -f "$file")" "$root$file"
done
exec chroot "$root" env -u PYTHONPATH -u PYTHONHOME -u VIRTUAL_ENV HOME=/root "$@"
`;

/** Packs `paths` of `folder` into the layer file of `into`; what an image names is the digest before compression. */
const pack = async (folder: string, path: string, into: string): Promise<void> => {
  await must("sh", ["-euc", PACK, "sh", folder, path, LAYER, SHA256], { cwd: into });
};

/** What a folder holds, as a layer in another one. */
export const layerOf = async (folder: string, into: string): Promise<Layer> => {
  await pack(folder, ".", into);
  return layerIn(into);
};

const PACK = `
mkfifo whole
sha256sum <whole | cut -c-64 | tr -d '\\n' >"$4" &
tar --create --numeric-owner --directory "$1" "$2" | tee whole | gzip -1 >"$3"
wait
rm whole
`;

/** A layer that `layerOf` made in the folder. */
export const layerIn = async (folder: string): Promise<Layer> => ({
  folder,
  sha256: await Deno.readTextFile(join(folder, SHA256)),
});

const emptyFolder = async (path: string): Promise<void> => {
  await Deno.remove(path, { recursive: true });
  await Deno.mkdir(path);
};

const linked = async (to: string, from: string): Promise<void> => {
  // Two images share the layer of Debian.
  await Deno.symlink(to, from).catch((error) => {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  });
};
