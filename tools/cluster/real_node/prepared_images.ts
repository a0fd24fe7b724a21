/** The images of the servers as containerd keeps them, unpacked once; that takes longer than all the rest of a start. */
import { join } from "node:path";
import { cacheDir, once } from "../../install/cache.ts";
import { installProgram } from "../../install/debian_packages.ts";
import { must, sha256Of } from "../../install/run_program.ts";
import { imageArchive } from "../../install/server_images.ts";
import { configText, RUNTIME_SOCKET } from "./containerd_config.ts";
import { IMAGES, NODE_SERVERS, type NodeServer } from "./images.ts";

/** The folder of a containerd that has the images of these servers and has ended. */
export const installPreparedImages = async (servers: ReadonlyArray<NodeServer>): Promise<string> => {
  const archive = await imageArchive({
    [IMAGES.pause]: "debian",
    ...Object.fromEntries(servers.map((name) => [IMAGES[name], NODE_SERVERS[name]])),
  });
  try {
    // The layers are named by their content in there.
    const digest = (await sha256Of(join(archive, "manifest.json"))).slice(0, 8);
    return await once(
      cacheDir("images", `containerd-${digest}`),
      "images of the servers in containerd (first time, about 70 s)",
      (into) => unpack(archive, into),
    );
  } finally {
    await Deno.remove(archive, { recursive: true });
  }
};

const unpack = async (archive: string, into: string): Promise<void> => {
  const config = join(into, "containerd.toml");
  await Deno.writeTextFile(config, configText({ root: into, networks: into, plugins: into }));
  const programs = [await installProgram("containerd", ["containerd"]), await installProgram("ctr", ["containerd"])];
  const inside = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
  await must("unshare", [...inside, "sh", "-euc", IMPORT, "sh", ...programs, config, archive, RUNTIME_SOCKET]);
};

/** The archive goes through a pipe: packed into one file the images would be on the disk twice. */
const IMPORT = `
containerd=$1 config=$3 archive=$4
import="$2 --address $5 --namespace k8s.io"
mount -t tmpfs tmpfs /run
"$containerd" --config "$config" >/run/containerd.log 2>&1 &
for look in $(seq 100); do $import version >/dev/null 2>&1 && break; sleep 0.2; done
tar --create --dereference --directory "$archive" . | $import images import - || { tail -20 /run/containerd.log; exit 1; }
kill $!
wait $! || true
`;

/** Adds images to a containerd that runs. */
export const importImages = async (archive: string): Promise<void> => {
  const ctr = await installProgram("ctr", ["containerd"]);
  await must("sh", ["-euc", ADD, "sh", ctr, RUNTIME_SOCKET, archive]);
};

const ADD =
  `tar --create --dereference --directory "$3" . | "$1" --address "$2" --namespace k8s.io images import - >/dev/null`;

/** A containerd's folder of its own on top of the prepared one: what is big there is mounted, and cannot be written. */
export const useImages = async (prepared: string, folder: string): Promise<void> => {
  // Linked and not mounted, so that another image can be added.
  for (const path of CONTENT) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await must("cp", ["--recursive", "--symbolic-link", join(prepared, path), join(folder, path)]);
  }
  for (const { database, big } of PARTS) {
    for (const path of big) {
      for (const name of await namesIn(join(prepared, path))) {
        const [from, to] = [join(prepared, path, name), join(folder, path, name)];
        await Deno.mkdir(to, { recursive: true });
        await must("mount", ["--bind", "--options", "ro", from, to]);
      }
    }
    if (database !== undefined) {
      await Deno.mkdir(join(folder, database, ".."), { recursive: true });
      await Deno.copyFile(join(prepared, database), join(folder, database));
    }
  }
};

/** Compressed layers, by their digests. */
const CONTENT = ["io.containerd.content.v1.content"];

/** Of containerd's folder: the databases change with each container, the content of images never. */
const PARTS = [
  { database: "io.containerd.metadata.v1.bolt/meta.db", big: [] },
  {
    database: "io.containerd.snapshotter.v1.overlayfs/metadata.db",
    big: ["io.containerd.snapshotter.v1.overlayfs/snapshots"],
  },
];

const namesIn = async (folder: string): Promise<readonly string[]> =>
  await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
