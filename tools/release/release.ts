/**
 * START HERE: `deno task release`, everything that is published for a version, in the order in which it depends on each
 * other. `--dry-run` rehearses it without publishing anything; see rehearsal.ts.
 *
 * 1. refuse to start with placeholders, without a changelog section, with uncommitted changes, without the digest of an image or the
 *    checksum of a runtime in tools/pins.json, or if the version is published
 * 2. the image of the operator as one index, on base images by these digests
 * 3. install.yaml, kustomize overlays, chart, OLM bundles and catalog, in which every image has a digest
 * 4. programs, krew manifest, bill of materials, provenance, notes, names of the images
 *
 * Signatures are a step of their own (signing.ts): what builds has no key.
 */
import { join } from "node:path";
import * as Result from "effect/Result";
import { isObject, type JsonObject } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { catalogText, readCatalog, withBundle } from "../package/catalog.ts";
import { type Choices, DEFAULT, imageOf } from "../package/choices.ts";
import { chartFiles } from "../package/helm/chart.ts";
import { installation } from "../package/installation.ts";
import { kustomizeFiles, oneFile } from "../package/kustomize.ts";
import { bundleFiles, BUNDLES, OPERAND_IMAGES, pinnedImages } from "../package/olm.ts";
import { samplesIn } from "../package/samples.ts";
import { PUBLISHER, publisherProblems } from "../package/publisher.ts";
import { must } from "../install/run_program.ts";
import { missingPins, PINS } from "../pins.ts";
import { TARGETS } from "../program_flags.ts";
import { archive, writeArchives } from "./archives.ts";
import { baseImages } from "./base_images.ts";
import { sectionOf } from "./changelog.ts";
import { type Containers, containers, removeStorage } from "./containers.ts";
import { krewManifest } from "./krew.ts";
import { packagesOf, sbomText } from "./sbom.ts";
import { SBOM, writeImages, writeProvenance } from "./signing.ts";

export interface ReleaseOptions {
  /** The project; a rehearsal of the next version has a copy of it. */
  readonly root: string;
  readonly folder: string;
  /** Registry and organization. */
  readonly images: string;
  readonly architectures: ReadonlyArray<string>;
  /** The catalog of the releases before; undefined for the first one. */
  readonly catalog: string | undefined;
  /** Problems are reported and do not stop it. */
  readonly isRehearsal: boolean;
  /** A file with Deno's runtime; undefined: Deno downloads it. */
  readonly denort: string | undefined;
}

export const release = async (options: ReleaseOptions): Promise<void> => {
  const { root, folder, images, isRehearsal } = options;
  const version = OPERATOR_VERSION;
  const changelog = sectionOf(await Deno.readTextFile(join(root, "CHANGELOG.md")), version);
  const problems = await problemsOf(options, version, changelog);
  if (problems.length > 0 && !isRehearsal) throw new Error(`${version} cannot be released:\n${bullets(problems)}`);
  if (problems.length > 0) console.log(`a release would stop here:\n${bullets(problems)}`);
  await emptyFolder(folder);

  const storage = await Deno.makeTempDir();
  try {
    const registry = await containers(storage, isRehearsal);
    await refusePublished(registry, images, version);
    const published = await publishOperator(registry, options, version);
    const nameOf = await digestNames(digestsOf(registry, isRehearsal), published.image, version);
    await writeInstallation(
      folder,
      { ...DEFAULT, image: published.image, relatedImages: pinnedImages(nameOf) },
      version,
    );
    const bundleImages = await publishBundles(registry, options, nameOf, version);
    const url = `${PUBLISHER.repository}/releases/download/v${version}`;
    const plugins = await writeArchives({ ...options, version, url });
    await Deno.writeTextFile(
      join(folder, "llama-stack.krew.yaml"),
      krewManifest(version, PUBLISHER.homepage, plugins),
    );
    const contents = {
      version,
      createdAt: PUBLISHER.createdAt,
      packages: await packagesOf(root),
      images: published.bases,
    };
    await Deno.writeTextFile(join(folder, SBOM), sbomText(contents));
    await Deno.writeTextFile(join(folder, "NOTES.md"), changelog ?? "");
    await writeProvenance(folder, {
      repository: PUBLISHER.repository,
      commit: await commitOf(options),
      bases: published.bases,
      builder: `${PUBLISHER.repository}/actions`,
    });
    await writeImages(folder, { operator: published.image, others: bundleImages });
  } finally {
    await removeStorage(storage);
  }
  console.log(`${version}: ${folder}, images in ${images}`);
};

/** Checksums and signatures are about everything in it. */
export const emptyFolder = async (folder: string): Promise<void> => {
  await Deno.mkdir(folder, { recursive: true });
  if ([...Deno.readDirSync(folder)].length > 0) throw new Error(`${folder} is not empty; name another folder by --out`);
};

const bullets = (all: ReadonlyArray<string>): string => all.map((text) => `  - ${text}`).join("\n");

const problemsOf = async (
  { root, architectures, denort }: ReleaseOptions,
  version: string,
  changelog: string | undefined,
): Promise<ReadonlyArray<string>> => {
  const changed = await must("git", ["status", "--porcelain"], { cwd: root })
    .then((text) => text === "" ? undefined : "there are changes that are not committed")
    .catch((cause: Error) => `git cannot say whether everything is committed: ${cause.message}`);
  return [
    ...publisherProblems().map((problem) => `tools/package/publisher.ts: ${problem}`),
    ...(changelog === undefined ? [`CHANGELOG.md has no section "## ${version}"`] : []),
    ...(changed === undefined ? [] : [changed]),
    ...missingPins(
      [...baseImages(await Deno.readTextFile(join(root, "Dockerfile"))).values(), ...OPERAND_IMAGES],
      denort === undefined ? architectures.map((architecture) => TARGETS[architecture] ?? architecture) : [],
    ),
  ];
};

/** The copy of a rehearsal need not be in a repository. */
const commitOf = async ({ root, isRehearsal }: ReleaseOptions): Promise<string> => {
  const commit = must("git", ["rev-parse", "HEAD"], { cwd: root });
  return (await (isRehearsal ? commit.catch(() => "0".repeat(40)) : commit)).trim();
};

const repositoriesOf = (images: string) => ({
  operator: `${images}/llama-stack-operator`,
  catalog: `${images}/llama-stack-operator-catalog`,
  bundleOf: (name: string) => `${images}/${name}-bundle`,
});

/** Whoever installed a version has the digests of its images: a tag must not be given to others. */
const refusePublished = async (registry: Containers, images: string, version: string): Promise<void> => {
  const { operator, catalog, bundleOf } = repositoriesOf(images);
  const tags = [operator, ...BUNDLES.map(({ name }) => bundleOf(name))].map((name) => `${name}:${version}`);
  for (const image of [...tags, `${catalog}:v${version}`]) {
    if (await registry.isPublished(image)) {
      throw new Error(
        `${image} is already published; release another version, or delete the tag if that release was not completed`,
      );
    }
  }
};

const publishOperator = async (
  registry: Containers,
  options: ReleaseOptions,
  version: string,
): Promise<{ readonly image: string; readonly bases: ReadonlyArray<string> }> => {
  const { root, images, architectures, isRehearsal } = options;
  const digestOf = digestsOf(registry, isRehearsal);
  const dockerfile = join(root, "Dockerfile");
  const bases: Record<string, string> = {};
  for (const [name, image] of baseImages(await Deno.readTextFile(dockerfile))) {
    bases[name] = withDigest(image, await digestOf(image));
  }
  const repository = repositoriesOf(images).operator;
  const digest = await registry.publish({
    image: `${repository}:${version}`,
    context: root,
    dockerfile,
    architectures,
    arguments: bases,
    labels: {
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.source": PUBLISHER.repository,
      "org.opencontainers.image.url": PUBLISHER.homepage,
      "org.opencontainers.image.revision": await commitOf(options),
      "org.opencontainers.image.created": PUBLISHER.createdAt,
    },
  });
  return { image: `${repository}@${digest}`, bases: Object.values(bases) };
};

/** The pinned ones, which `problemsOf` has found; the stand-ins of a rehearsal have others. */
const digestsOf = (registry: Containers, isRehearsal: boolean): Containers["digestOf"] =>
  isRehearsal ? registry.digestOf : (image) => Promise.resolve(PINS.images[image] ?? "");

/** Names of the operator's image and of the images of servers by digest. */
const digestNames = async (
  digestOf: Containers["digestOf"],
  operator: string,
  version: string,
): Promise<(image: string) => string> => {
  const names = new Map([[imageOf(version), operator]]);
  for (const image of OPERAND_IMAGES) names.set(image, withDigest(image, await digestOf(image)));
  return (image) => {
    const name = names.get(image);
    if (name === undefined) throw new Error(`the digest of ${image} is unknown`);
    return name;
  };
};

const withDigest = (image: string, digest: string): string => `${image.replace(/:[^/:]*$/, "")}@${digest}`;

const writeInstallation = async (folder: string, choices: Choices, version: string): Promise<void> => {
  await Deno.writeTextFile(join(folder, "install.yaml"), oneFile("", installation(choices)));
  const chart = "llama-stack-operator";
  const work = await Deno.makeTempDir();
  try {
    await writeFiles(join(work, chart), chartFiles(choices, version));
    await archive(join(folder, `${chart}-${version}.tgz`), work, [chart]);
    await writeFiles(join(work, "kustomize"), kustomizeFiles("", choices));
    await archive(join(folder, `kustomize-${version}.tar.gz`), work, ["kustomize"]);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
};

/** Builds and pushes each bundle, and a catalog that has them in addition to those before. */
const publishBundles = async (
  registry: Containers,
  { root, folder, images, catalog }: ReleaseOptions,
  nameOf: (image: string) => string,
  version: string,
): Promise<ReadonlyArray<string>> => {
  const work = await Deno.makeTempDir();
  const bundles: string[] = [];
  let blobs: ReadonlyArray<JsonObject> = catalog === undefined ? [] : readCatalog(await Deno.readTextFile(catalog));
  try {
    const files = bundleFiles("", samplesIn(root), version, nameOf);
    await writeFiles(work, files);
    for (const { folder: below, name } of BUNDLES) {
      const repository = repositoriesOf(images).bundleOf(name);
      const context = join(work, below);
      const digest = await registry.publish({
        image: `${repository}:${version}`,
        context,
        dockerfile: join(context, "bundle.Dockerfile"),
        architectures: ["amd64"],
        arguments: {},
        labels: {},
      });
      const image = `${repository}@${digest}`;
      bundles.push(image);
      const manifests = Object.entries(files).filter(([path]) => path.startsWith(`${below}/manifests/`))
        .flatMap(([, text]) => Result.getOrThrow(readManifests(text))).filter(isObject);
      blobs = withBundle(blobs, { image, manifests });
    }
    const text = catalogText(blobs);
    await Deno.writeTextFile(join(folder, "catalog.json"), text);
    const context = join(work, "catalog");
    await writeFiles(context, {
      "configs/catalog.json": text,
      Dockerfile:
        'FROM scratch\nCOPY configs /configs\nLABEL operators.operatorframework.io.index.configs.v1="/configs"\n',
    });
    const repository = repositoriesOf(images).catalog;
    const digest = await registry.publish({
      image: `${repository}:v${version}`,
      context,
      dockerfile: join(context, "Dockerfile"),
      architectures: ["amd64"],
      arguments: {},
      labels: {},
    });
    return [...bundles, `${repository}@${digest}`];
  } finally {
    await Deno.remove(work, { recursive: true });
  }
};

const writeFiles = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await Deno.mkdir(join(file, ".."), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
};
