/** Signatures and provenance, by cosign with a key. They are kept next to the images, and next to the checksums. */
import { join } from "node:path";
import { installControlPlane } from "../install/control_plane.ts";
import { must } from "../install/run_program.ts";
import { CHECKSUMS, writeChecksums } from "./archives.ts";

export interface Signing {
  /** Path of the private key, or a URL of a key management service that cosign knows. */
  readonly key: string;
  /** A rehearsal writes nothing to the public transparency log, and its registry has no TLS. */
  readonly isRehearsal: boolean;
}

/** How the images were made, as SLSA describes it. */
export interface Provenance {
  readonly repository: string;
  readonly commit: string;
  /** Base images by digest. */
  readonly bases: ReadonlyArray<string>;
  /** Who or what built the release, as a URL. */
  readonly builder: string;
}

/** Images of a release by digest, as a file of it. */
interface Images {
  readonly operator: string;
  readonly others: ReadonlyArray<string>;
}

const IMAGES = "images.json";

export const writeImages = (folder: string, images: Images): Promise<void> =>
  Deno.writeTextFile(join(folder, IMAGES), `${JSON.stringify(images, null, 2)}\n`);

/**
 * The last step of a release, and the only one that has the key: signs its images, attests how that of the operator was made, and
 * signs the checksums of all files.
 */
export const signRelease = async (folder: string, { key, isRehearsal }: Signing): Promise<void> => {
  const { operator, others } = JSON.parse(await Deno.readTextFile(join(folder, IMAGES))) as Images;
  const { cosign } = await installControlPlane(["cosign"]);
  await must(cosign, ["public-key", "--key", key, "--outfile", join(folder, PUBLIC_KEY)]);
  await writeChecksums(folder);
  const log = isRehearsal ? ["--tlog-upload=false"] : [];
  const registry = isRehearsal ? ["--allow-insecure-registry", "--allow-http-registry"] : [];
  const run = (...words: ReadonlyArray<string>) => must(cosign, words);
  // The images of each architecture too: a node pulls one of those.
  for (const image of [operator, ...others]) {
    await run("sign", "--yes", "--recursive", ...log, ...registry, "--key", key, image);
  }
  for (const [type, file] of [["slsaprovenance1", PROVENANCE], ["cyclonedx", SBOM]] as const) {
    await run(
      ...[
        "attest",
        "--yes",
        ...log,
        ...registry,
        "--key",
        key,
        "--type",
        type,
        "--predicate",
        join(folder, file),
        operator,
      ],
    );
  }
  const checksums = join(folder, CHECKSUMS);
  await run("sign-blob", "--yes", ...log, "--key", key, "--output-signature", `${checksums}.sig`, checksums);
};

/** For those who verify. */
export const PUBLIC_KEY = "cosign.pub";

export const SBOM = "llama-stack-operator.cdx.json";

const PROVENANCE = "provenance.json";

export const writeProvenance = (folder: string, provenance: Provenance): Promise<void> =>
  Deno.writeTextFile(join(folder, PROVENANCE), `${JSON.stringify(predicateOf(provenance), null, 2)}\n`);

/** Source: https://slsa.dev/spec/v1.0/provenance */
const predicateOf = ({ repository, commit, bases, builder }: Provenance) => ({
  buildDefinition: {
    buildType: `${repository}/blob/main/tools/release/release.ts`,
    externalParameters: { repository, commit },
    resolvedDependencies: [
      { uri: `git+${repository}`, digest: { gitCommit: commit } },
      ...bases.map((base) => {
        const [name = "", digest = ""] = base.split("@sha256:");
        return { uri: `oci://${name}`, digest: { sha256: digest } };
      }),
    ],
  },
  runDetails: { builder: { id: builder } },
});
