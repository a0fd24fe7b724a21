/**
 * Images of a release: built from the Dockerfile of the project for each architecture, and pushed as one index. Requires
 * buildah and skopeo. Mirrors and registries without TLS are those of containers-registries.conf(5); a rehearsal names its
 * own file by CONTAINERS_REGISTRIES_CONF.
 */
import { join } from "node:path";
import { installProgram } from "../install/debian_packages.ts";
import { ended, must } from "../install/run_program.ts";

export interface Containers {
  /** The digest that a tag has now: of its index, if it has one. */
  readonly digestOf: (image: string) => Promise<string>;
  /** Whether a registry has the tag; a registry that cannot be asked is an error. */
  readonly isPublished: (image: string) => Promise<boolean>;
  /** Builds an image for each architecture, pushes all of them as one index, and returns its digest. */
  readonly publish: (build: Build) => Promise<string>;
}

export interface Build {
  /** With the tag to push. */
  readonly image: string;
  readonly context: string;
  readonly dockerfile: string;
  readonly architectures: ReadonlyArray<string>;
  readonly arguments: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** `storage` is a folder of its own, which the caller removes. */
export const containers = async (storage: string, isolated: boolean): Promise<Containers> => {
  const [buildah, skopeo] = [
    await installProgram("buildah", ["buildah"]),
    await installProgram("skopeo", ["skopeo"]),
  ];
  const configuration = Deno.env.get("CONTAINERS_REGISTRIES_CONF");
  // Only newer versions read the variable.
  const registries = configuration === undefined ? [] : ["--registries-conf", configuration];
  const root = [
    ...registries,
    "--root",
    join(storage, "root"),
    "--runroot",
    join(storage, "run"),
    "--storage-driver",
    "overlay",
  ];
  return {
    digestOf: async (image) => {
      const digest =
        (await must(skopeo, [...registries, "inspect", "--no-tags", "--format", "{{.Digest}}", `docker://${image}`]))
          .trim();
      if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${image}: "${digest}" is not a digest`);
      return digest;
    },
    isPublished: async (image) => {
      const { code, stderr } = await ended(skopeo, [...registries, "inspect", "--raw", `docker://${image}`]);
      if (code === 0) return true;
      if (NO_TAG.test(stderr)) return false;
      throw new Error(`${image}: ${stderr.trim()}`);
    },
    publish: async (build) => {
      const list = `list-${crypto.randomUUID()}`;
      for (const architecture of build.architectures) {
        const own = [
          ...["--manifest", list, "--platform", `linux/${architecture}`, "--file", build.dockerfile],
          ...["--isolation", isolated ? "chroot" : "oci"],
          ...Object.entries(build.arguments).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
          // Docker sets them by itself; buildah 1.28 does not.
          ...["--build-arg", `BUILDPLATFORM=linux/${HOST}`, "--build-arg", `TARGETARCH=${architecture}`],
          ...Object.entries(build.labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
        ];
        await must(buildah, [...root, "build", ...own, build.context]);
      }
      const digestFile = join(storage, `${list}.digest`);
      await must(buildah, [
        ...[...root, "manifest", "push", "--all", "--format", "oci", "--digestfile", digestFile],
        ...[list, `docker://${build.image}`],
      ]);
      return (await Deno.readTextFile(digestFile)).trim();
    },
  };
};

/** As registries answer for a tag or a repository that is not there. Source: error codes of the distribution specification. */
const NO_TAG = /manifest unknown|name unknown|MANIFEST_UNKNOWN|NAME_UNKNOWN|repository name not known|status code 404/;

/** Also what an interrupted build left there: a mounted layer, and without root files of the users of its namespace. */
export const removeStorage = async (folder: string): Promise<void> => {
  const mounts = (await Deno.readTextFile("/proc/self/mounts")).split("\n")
    .flatMap((line) => line.split(" ")[1] ?? []).filter((path) => path.startsWith(`${folder}/`));
  for (const mount of mounts.toReversed()) await must("umount", ["--lazy", mount]).catch(() => undefined);
  await must("rm", ["--recursive", "--force", folder])
    .catch(() => must("buildah", ["unshare", "rm", "--recursive", "--force", folder]))
    // The error that ended the release is the one to report.
    .catch((cause: Error) => console.error(`${folder} could not be removed: ${cause.message}`));
};

const HOST = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
