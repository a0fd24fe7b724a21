/** `deno task release`: its options. */
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { PUBLISHER } from "../package/publisher.ts";
import { TARGETS } from "../program_flags.ts";
import { taskOptions } from "../task_options.ts";
import { removeStorage } from "./containers.ts";
import { rehearse } from "./rehearsal.ts";
import { release } from "./release.ts";
import { signRelease } from "./signing.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const USAGE = `Usage: deno task release [--catalog FILE] [--out FOLDER] [--images REPOSITORY] [--arch LIST]
       deno task release --sign FOLDER --key KEY
       deno task release --dry-run [--out FOLDER]

Publishes the version of core/operator/version.ts: the images of the operator, of the OLM bundles and of the catalog,
with install.yaml, Helm chart, programs, krew manifest and bill of materials in a folder. The second form signs the images
and the checksums of the files, and can run on another machine: what builds needs no key.

  --sign FOLDER        Folder that the first form has filled
  --key KEY            Private key of cosign, or the URL of one in a key management service
  --catalog FILE       catalog.json of the release before; without it, the catalog begins with this release
  --out FOLDER         Folder to fill (default: dist/VERSION)
  --images REPOSITORY  Registry and organization of the images (default: ${PUBLISHER.images})
  --arch LIST          Architectures of the images and programs (default: amd64,arm64)
  --dry-run            Publish nothing: make this version and the next one against a registry on this machine, check
                       them, and upgrade a cluster on this machine from one to the other (Linux, root)`;

const options = taskOptions(Deno.args, {
  key: { type: "string" },
  sign: { type: "string" },
  catalog: { type: "string" },
  out: { type: "string" },
  images: { type: "string", default: PUBLISHER.images },
  arch: { type: "string", default: "amd64,arm64" },
  "dry-run": { type: "boolean", default: false },
  // Of rehearsal.ts, for each of its two versions.
  rehearsal: { type: "boolean", default: false },
}, USAGE);

const from = Deno.env.get("INIT_CWD") ?? Deno.cwd();
const isDryRun = options["dry-run"];
const folder = options.out === undefined
  ? join(ROOT, "dist", isDryRun ? "rehearsal" : OPERATOR_VERSION)
  : resolve(from, options.out);

// A terminal sends Ctrl-C to every program that runs: the one that works here fails, and what it left is removed.
Deno.addSignalListener("SIGINT", () => console.error("stopping …"));

try {
  const unknown = options.arch.split(",").filter((name) => !Object.hasOwn(TARGETS, name));
  if (unknown.length > 0) {
    throw new Error(`--arch ${options.arch}: ${unknown.join()} is none of ${Object.keys(TARGETS).join(", ")}`);
  }
  if (isDryRun) {
    // The one of the last rehearsal; a folder that is named must be empty.
    if (options.out === undefined) await removeStorage(folder);
    await rehearse(folder);
  } else if ((options.key === undefined) !== (options.sign === undefined)) {
    throw new Error(`--sign and --key belong together\n\n${USAGE}`);
  } else if (options.key !== undefined && options.sign !== undefined) {
    await signRelease(resolve(from, options.sign), { key: options.key, isRehearsal: options.rehearsal });
  } else {
    await release({
      root: ROOT,
      folder,
      images: options.images,
      architectures: options.arch.split(","),
      catalog: options.catalog === undefined ? undefined : resolve(from, options.catalog),
      isRehearsal: options.rehearsal,
      denort: Deno.env.get("DENORT_BIN"),
    });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exitCode = 1;
}
