/**
 * The operator as a container image, built without Docker: as the Dockerfile does, except for the program itself, which
 * is the bundle with Deno instead of one compiled file. Requires the Debian layer, and root.
 */
import { dirname, join } from "node:path";
import { bundleOperator } from "../bundle_operator.ts";
import { ALLOCATOR_IN_IMAGE, allocatorEnv, PERMISSIONS, RUNTIME_ENV, UNSTABLE, V8_FLAGS } from "../program_flags.ts";
import { installAllocator } from "./allocator.ts";
import { archiveOf, installBase, layerOf } from "./server_images.ts";

/** A folder as `imageArchive` makes it; the caller removes it, and `folder` when the archive has been read. */
export const operatorArchive = async (name: string, folder: string): Promise<string> => {
  const [root, layer] = [join(folder, "root"), join(folder, "layer")];
  const place = join(root, PLACE);
  await Deno.mkdir(place, { recursive: true });
  await Deno.mkdir(layer);
  await Deno.rename(await bundleOperator(folder), join(place, "operator.js"));
  await Deno.copyFile(Deno.execPath(), join(place, "deno"));
  const allocator = await installAllocator();
  if (allocator === undefined) throw new Error("an image of the operator needs libjemalloc.so.2");
  await Deno.mkdir(join(root, dirname(ALLOCATOR_IN_IMAGE)), { recursive: true });
  await Deno.copyFile(allocator, join(root, ALLOCATOR_IN_IMAGE));
  await Deno.writeTextFile(join(root, PROGRAM), START, { mode: 0o755 });
  return await archiveOf([{
    name,
    config: {
      Entrypoint: [PROGRAM],
      Cmd: ["run"],
      // Any other works as well; OpenShift chooses one.
      User: "65532:65532",
      Env: [
        ...Object.entries({ ...allocatorEnv(ALLOCATOR_IN_IMAGE), ...RUNTIME_ENV })
          .map(([key, value]) => `${key}=${value}`),
        "DENO_DIR=/tmp/deno",
        "HOME=/tmp",
      ],
    },
    layers: [await installBase(), await layerOf(root, layer)],
  }]);
};

const PROGRAM = "/llama-stack-operator";
const PLACE = "/lib/llama-stack-operator";

const START = `#!/bin/sh
exec ${PLACE}/deno run --quiet --no-prompt --no-config ${[...PERMISSIONS, ...UNSTABLE].join(" ")} \\
  --v8-flags=${V8_FLAGS} ${PLACE}/operator.js "$@"
`;
