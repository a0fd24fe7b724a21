/** Signatures and provenance, by cosign with a key. They are kept next to the images, and next to the checksums. */
import { join } from "node:path";
import { installControlPlane } from "../install/control_plane.ts";
import { must } from "../install/run_program.ts";
import { CHECKSUMS } from "./archives.ts";

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

export const signRelease = async (
  folder: string,
  images: ReadonlyArray<string>,
  operatorImage: string,
  { key, isRehearsal }: Signing,
): Promise<void> => {
  const { cosign } = await installControlPlane(["cosign"]);
  const log = isRehearsal ? ["--tlog-upload=false"] : [];
  const registry = isRehearsal ? ["--allow-insecure-registry", "--allow-http-registry"] : [];
  const run = (...words: ReadonlyArray<string>) => must(cosign, words);
  // The images of each architecture too: a node pulls one of those.
  for (const image of images) await run("sign", "--yes", "--recursive", ...log, ...registry, "--key", key, image);
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
        operatorImage,
      ],
    );
  }
  const checksums = join(folder, CHECKSUMS);
  await run("sign-blob", "--yes", ...log, "--key", key, "--output-signature", `${checksums}.sig`, checksums);
};

/** For those who verify. */
export const writePublicKey = async (folder: string, key: string): Promise<void> => {
  const { cosign } = await installControlPlane(["cosign"]);
  await must(cosign, ["public-key", "--key", key, "--outfile", join(folder, PUBLIC_KEY)]);
};

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
