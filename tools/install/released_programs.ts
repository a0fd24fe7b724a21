/**
 * Downloads the programs of a control plane where their projects publish them, each with a checksum: much faster than
 * building them. Where that place cannot be reached, or for a system that has no release, nothing is downloaded.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";

/** Where releases are and where they are kept; tests use a server and a folder of their own. */
export interface Places {
  /** Programs of Kubernetes: one file each, and beside it its SHA-256. */
  readonly kubernetes: string;
  /** Archives of etcd, and beside them one file with the SHA-256 of each. */
  readonly etcd: string;
  readonly cache: string;
}

const usualPlaces = (): Places => ({
  kubernetes: "https://dl.k8s.io/release",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
  cache: cacheDir("control_plane"),
});

const OF_KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];

/** A place that does not answer in this time counts as unreachable. */
const ANSWERS_WITHIN_MS = 5_000;

/** The path of the program in the cache; undefined if it was not downloaded before. */
export const releasedPath = (name: string, version: string, places = usualPlaces()): string | undefined => {
  const path = join(folderOf(name, version, places), name);
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch {
    return undefined;
  }
};

const folderOf = (name: string, version: string, { cache }: Places): string =>
  join(cache, `${name}-${version}-released`);

/**
 * Paths of those programs that could be downloaded. Fails if a download has another checksum than the published one,
 * because then something is wrong with the network or the release; every other trouble means that the program is to
 * be built.
 */
export const downloadReleases = async <Name extends string>(
  names: ReadonlyArray<Name>,
  versionOf: (name: Name) => string,
  signal: AbortSignal | undefined,
  places = usualPlaces(),
): Promise<ReadonlyMap<Name, string>> => {
  const found = await Promise.all(names.map(async (name) => {
    const path = await downloaded(name, versionOf(name), signal, places);
    return path === undefined ? [] : [[name, path] as const];
  }));
  return new Map(found.flat());
};

const downloaded = async (
  name: string,
  version: string,
  signal: AbortSignal | undefined,
  places: Places,
): Promise<string | undefined> => {
  const release = releaseOf(name, version, places);
  if (release === undefined) return undefined;
  const checksum = await checksumOf(release, signal);
  if (checksum === undefined) return undefined;
  const folder = folderOf(name, version, places);
  try {
    await once(folder, `${name} ${version} (download)`, async (into) => {
      const file = join(into, release.archive === undefined ? name : "archive.tar.gz");
      await fetchInto(file, release.url, checksum, signal);
      if (release.archive !== undefined) {
        await must("tar", ["-xzf", file, "-C", into, "--strip-components=1", `${release.archive}/${name}`]);
        await Deno.remove(file);
      }
      await Deno.chmod(join(into, name), 0o755);
    });
  } catch (cause) {
    if (cause instanceof WrongChecksum || signal?.aborted === true) throw cause;
    console.error(`${name} cannot be downloaded: ${cause instanceof Error ? cause.message : cause}`);
    return undefined;
  }
  return join(folder, name);
};

interface Release {
  readonly url: string;
  readonly checksumUrl: string;
  /** The folder inside the archive; undefined: the file is the program. */
  readonly archive?: string;
}

/** Undefined: there is none of this program for this system. */
const releaseOf = (name: string, version: string, places: Places): Release | undefined => {
  const arch = ({ x86_64: "amd64", aarch64: "arm64" } as const)[Deno.build.arch];
  if (Deno.build.os !== "linux" || arch === undefined) return undefined;
  if (OF_KUBERNETES.includes(name)) {
    const url = `${places.kubernetes}/v${version}/bin/linux/${arch}/${name}`;
    return { url, checksumUrl: `${url}.sha256` };
  }
  if (name !== "etcd") return undefined;
  const archive = `etcd-v${version}-linux-${arch}`;
  const folder = `${places.etcd}/v${version}`;
  return { url: `${folder}/${archive}.tar.gz`, checksumUrl: `${folder}/SHA256SUMS`, archive };
};

/** Undefined if the place cannot be reached or does not have it. */
const checksumOf = async (
  { url, checksumUrl }: Release,
  signal: AbortSignal | undefined,
): Promise<string | undefined> => {
  const within = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  try {
    const response = await fetch(checksumUrl, {
      signal: signal === undefined ? within : AbortSignal.any([signal, within]),
    });
    const text = await response.text();
    if (!response.ok) return undefined;
    // One hash alone, or lines of `HASH  FILE`.
    const line = text.split("\n").map((words) => words.trim().split(/\s+/))
      .find(([, file]) => file === undefined || url.endsWith(`/${file}`));
    return /^[0-9a-f]{64}$/.test(line?.[0] ?? "") ? line?.[0] : undefined;
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    return undefined;
  }
};

class WrongChecksum extends Error {
  override readonly name = "WrongChecksum";
}

const fetchInto = async (
  path: string,
  url: string,
  checksum: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  const hash = createHash("sha256");
  const hashing = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      hash.update(chunk);
      controller.enqueue(chunk);
    },
  });
  const file = await Deno.open(path, { write: true, createNew: true });
  await response.body.pipeThrough(hashing).pipeTo(file.writable);
  const seen = hash.digest("hex");
  if (seen !== checksum) {
    throw new WrongChecksum(
      `${url} has the SHA-256 ${seen}, but the published one is ${checksum}. Try again; if it ` +
        "stays so, set KUBEBUILDER_ASSETS to a folder with programs that you trust.",
    );
  }
};
