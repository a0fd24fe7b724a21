/**
 * The operator as a container image: the Dockerfile itself, built without Docker and without a network, on stand-ins for
 * its bases. Requires root, and buildah.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { installProgram } from "./debian_packages.ts";
import { archiveBases } from "./image_bases.ts";
import { must } from "./run_program.ts";
import { ARCHITECTURE } from "./server_images.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export const installImageBuilder = (): Promise<string> => installProgram("buildah", ["buildah"]);

/** A folder in `folder`, as `imageArchive` makes it; the caller removes `folder`. */
export const operatorArchive = async (name: string, folder: string): Promise<string> => {
  const buildah = await installImageBuilder();
  const { deno, runtime } = await archiveBases(folder);
  const platform = `linux/${ARCHITECTURE}`;
  // The storage of containerd's snapshots as well, and a third faster than copies.
  const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--storage-driver", "overlay"];
  const builds = [
    ...["--isolation", "chroot", "--tag", name],
    ...["--build-arg", `DENO=docker-archive:${deno}`, "--build-arg", `RUNTIME=docker-archive:${runtime}`],
    // Docker sets them by itself; buildah 1.28 does not.
    ...["--build-arg", `BUILDPLATFORM=${platform}`, "--build-arg", `TARGETARCH=${ARCHITECTURE}`],
  ];
  await must("unshare", ["--net", buildah, ...storage, "build", ...builds, ROOT]);
  const packed = join(folder, "image.tar");
  await must(buildah, [...storage, "push", "--quiet", name, `docker-archive:${packed}:${name}`]);
  const archive = join(folder, "image");
  await Deno.mkdir(archive);
  // Not the folders for old versions of Docker: their links would become those of the layers when it is packed again.
  await must("tar", ["--extract", "--file", packed, "--directory", archive, "--exclude=*/*"]);
  await Deno.remove(packed);
  return archive;
};
